"""The same files give the same blocks and chunks, until a version says that they may not.

After a change on purpose: raise the version of the parser or chunker that changed, then run this
file with KEBAB_WRITE_GOLDEN=1 and look at the difference.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kb.adapters.parsers.markdown.parser import MarkdownItParser
from kb.adapters.parsers.text.code import SourceCodeParser
from kb.adapters.parsers.text.plain import PlainTextParser
from kb.domain.chunks import ChunkPolicy
from kb.domain.paths import WorkspacePath
from kb.domain.placed import span_to_json
from kb.domain.spans import Segment
from kb.ingest.chunking import CHUNKER_VERSION, chunk_document
from kb.ingest.normalise import NORMALISER_VERSION, normalise
from kb.ingest.ports import Parser
from tests.fakes.parsing import NOON, FixedDetector, PieceTokenizer, Utf8Decoder, facts

FIXTURES = Path(__file__).parents[2] / "fixtures" / "parsing"
PARSERS: dict[str, Parser] = {
    "handbook.md": MarkdownItParser(Utf8Decoder()),
    "korean.md": MarkdownItParser(Utf8Decoder()),
    "log.txt": PlainTextParser(Utf8Decoder()),
    "shelf.js": SourceCodeParser(Utf8Decoder()),
}
WHOLE = ChunkPolicy()
CUT = ChunkPolicy(target_characters=400, overlap_characters=80, max_tokens=40)


def placed(segments: Sequence[Segment]) -> list[str]:
    return [f"{s.start}-{s.end} {json.dumps(span_to_json(s.span))}" for s in segments]


def made_of(name: str) -> dict[str, Any]:
    """Everything that is fixed about a document, as JSON."""
    parser = PARSERS[name]
    parsed = parser.parse((FIXTURES / name).read_bytes(), WorkspacePath(f"notes/{name}"))
    known = facts(f"notes/{name}", parser.version)
    document = normalise(parsed, known, FixedDetector(), lambda: NOON)
    chunks = [c for policy in (WHOLE, CUT) for c in chunk_document(document, policy, PieceTokenizer())]
    metadata = document.metadata
    return {
        "versions": [parser.version, NORMALISER_VERSION, CHUNKER_VERSION],
        "doc_id": document.doc_id,
        "title": document.title,
        "tags": list(metadata.tags),
        "aliases": list(metadata.aliases),
        "created_at": metadata.created_at.isoformat(),
        "user": dict(metadata.user),
        "lines": document.line_count,
        "warnings": [f"{warning.kind}: {warning.note}" for warning in document.warnings],
        "blocks": [
            {
                "id": block.block_id,
                "kind": block.parsed.kind.value,
                "path": list(block.parsed.heading_path),
                "span": span_to_json(block.parsed.span),
                "text": block.parsed.text,
                "places": placed(block.parsed.segments),
                "payload": repr(block.parsed.payload),
            }
            for block in document.blocks
        ],
        "chunks": [
            {
                "id": chunk.chunk_id,
                "path": list(chunk.heading_path),
                "text": chunk.text,
                "places": placed(chunk.segments),
                "tokens": chunk.token_estimate,
            }
            for chunk in chunks
        ],
    }


@pytest.mark.parametrize("name", PARSERS)
def test_fixed_files_give_what_they_gave_under_the_same_versions(name: str) -> None:
    golden = FIXTURES / f"{name}.golden.json"
    made = made_of(name)
    if os.environ.get("KEBAB_WRITE_GOLDEN"):
        golden.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    kept = json.loads(golden.read_text(encoding="utf-8"))
    if made["versions"] == kept["versions"]:
        assert made == kept, "the output changed: raise the version of what changed, see the top of this file"
    stale = "a version was raised: write the golden files anew, see the top of this file"
    assert made["versions"] == kept["versions"], stale
