"""A child process that reads files: `python -m kb.app.reader_child`, spoken to in frames on stdin and stdout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
from kb.adapters.workers.child import serve
from kb.app.readers import format_parsers
from kb.ingest.reading_ports import FormatParser


def parsers(model_places: Sequence[Path]) -> list[FormatParser]:
    """Return the parsers of a child."""
    return format_parsers(CharsetNormalizerDecoder(), model_places)


if __name__ == "__main__":
    serve(parsers)
