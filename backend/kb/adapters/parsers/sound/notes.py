"""Finished pieces of a long recording, kept in the scratch folder so that a later run goes on from there.

What is kept here has not been masked yet: files are for their owner only, and ingest removes the folder once the
document is stored.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from kb.ingest.reading_ports import SpokenSegment, SpokenWord


class PieceNotes:
    """Reads and writes one JSON file a piece. What cannot be written or read is as if it were not there.

    Args:
        folder: None to keep nothing.
        key: names content and versions; notes with another key are ignored.
    """

    def __init__(self, folder: Path | None, key: str) -> None:
        self._folder = folder
        self._key = key

    def kept(self, start: float, end: float) -> list[SpokenSegment] | None:
        """Return what was heard between two seconds, None when that is not known."""
        if self._folder is None:
            return None
        try:
            note = json.loads(self._file(start).read_text(encoding="utf-8"))
            if note["key"] != self._key or note["start"] != start or note["end"] != end:
                return None
            return [_segment(entry) for entry in note["segments"]]
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def keep(self, start: float, end: float, segments: Sequence[SpokenSegment]) -> None:
        """Write what was heard, whole or not at all."""
        if self._folder is None:
            return
        told = [
            [s.confidence, s.language, [[w.text, w.start, w.end, w.probability] for w in s.words]] for s in segments
        ]
        note = {"key": self._key, "start": start, "end": end, "segments": told}
        # Without a note the piece is heard again: a full disk costs time, not the recording.
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # mkstemp makes files for their owner only.
            handle, name = tempfile.mkstemp(dir=self._folder, prefix=".piece-")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(note, file, ensure_ascii=False)
                    file.flush()
                    os.fsync(file.fileno())
                Path(name).replace(self._file(start))
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise

    def _file(self, start: float) -> Path:
        return (self._folder or Path()) / f"piece-{round(start * 1000):010}.json"


def _segment(entry: list[object]) -> SpokenSegment:
    confidence, language, words = entry
    if not isinstance(confidence, float | int) or not isinstance(language, str) or not isinstance(words, list):
        raise TypeError("not a segment")
    return SpokenSegment(tuple(_word(*word) for word in words), float(confidence), language)


def _word(text: object, start: object, end: object, probability: object) -> SpokenWord:
    if not isinstance(text, str):
        raise TypeError("not a word")
    numbers = [float(value) for value in (start, end, probability) if isinstance(value, float | int)]
    first, last, chance = numbers
    return SpokenWord(text, first, last, chance)
