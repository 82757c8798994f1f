"""What a parser found becomes a document: ids, metadata, language, provenance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kb.domain.blocks import BlockKind
from kb.domain.documents import Block, CanonicalDocument, ParsedBlock, ParsedDocument
from kb.domain.ids import Json
from kb.domain.metadata import ProvenanceEvent, ProvenanceKind
from kb.domain.paths import WorkspacePath
from kb.domain.placed import span_to_json
from kb.domain.recipes import AssetId, DocumentId, block_id, document_id
from kb.domain.spans import LineSpan
from kb.ingest.metadata import describe
from kb.ingest.ports import LanguageDetector

NORMALISER_VERSION = "normalise-v1"
_SAMPLE = 2000

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What is known of a file beside its content.

    Attributes:
        modified_at: of the file, with a time zone; stands in for dates nobody wrote.
        discovered_at: when the scan met it.
    """

    path: WorkspacePath
    asset_id: AssetId
    parser_version: str
    modified_at: datetime
    discovered_at: datetime


def normalise(
    parsed: ParsedDocument, facts: SourceFacts, detector: LanguageDetector, clock: Clock
) -> CanonicalDocument:
    """Return the document: the same parse of the same bytes at the same path has the same ids.

    `clock` is asked once for the time of parsing and once for that of this step.
    """
    parsed_at = clock()
    doc_id = document_id(facts.path, facts.asset_id, facts.parser_version)
    described = describe(parsed.front_matter, parsed.blocks, facts.path, facts.modified_at)
    lang = described.lang or detector.detect(_sample(parsed.blocks) or described.title)
    parser = facts.parser_version
    events = [
        ProvenanceEvent(facts.discovered_at, "scan", ProvenanceKind.DISCOVERED),
        ProvenanceEvent(parsed_at, parser, ProvenanceKind.PARSED, _extent(parsed)),
        *(ProvenanceEvent(parsed_at, agent, kind) for kind, agent in parsed.steps),
        *(
            ProvenanceEvent(parsed_at, parser, ProvenanceKind.WARNING, f"{warning.kind}: {warning.note}")
            for warning in parsed.warnings
        ),
        ProvenanceEvent(clock(), NORMALISER_VERSION, ProvenanceKind.NORMALIZED),
    ]
    return CanonicalDocument(
        doc_id=doc_id,
        asset_id=facts.asset_id,
        workspace_path=facts.path,
        title=described.title,
        lang=lang,
        blocks=tuple(_blocks(doc_id, parsed.blocks)),
        metadata=described.metadata,
        provenance=tuple(events),
        parser_version=parser,
        warnings=parsed.warnings,
        line_count=parsed.line_count,
        coverage=parsed.coverage,
    )


def with_step(document: CanonicalDocument, kind: ProvenanceKind, agent: str, at: datetime) -> CanonicalDocument:
    """Return the document with one more step in its provenance, such as CHUNKED."""
    return replace(document, provenance=(*document.provenance, ProvenanceEvent(at, agent, kind)))


def _extent(parsed: ParsedDocument) -> str:
    if not parsed.coverage:
        return f"{parsed.encoding}, {parsed.line_count} lines"
    sizes = Counter[str]()
    for unit in parsed.coverage:
        sizes[unit.kind] += unit.end - unit.start + 1
    return ", ".join(f"{size} {kind}{'s' if size > 1 else ''}" for kind, size in sizes.items())


def _blocks(doc_id: DocumentId, blocks: Sequence[ParsedBlock]) -> list[Block]:
    return [
        Block(
            block_id(
                doc_id,
                block_kind=block.kind.value,
                heading_path=block.heading_path,
                ordinal=ordinal,
                source_span=_span_json(block),
            ),
            ordinal,
            block,
        )
        for ordinal, block in enumerate(blocks)
    ]


def _span_json(block: ParsedBlock) -> dict[str, Json]:
    span = block.span
    if isinstance(span, LineSpan):  # nearly all spans: `asdict` would be most of this step
        return {"kind": "line", "start": span.start, "end": span.end}
    return span_to_json(span)


def _sample(blocks: Sequence[ParsedBlock]) -> str:
    """Return the first prose of a document; code speaks English whatever its author does."""
    parts: list[str] = []
    size = 0
    for block in blocks:
        if block.kind is not BlockKind.CODE and block.text:
            parts.append(block.text[:_SAMPLE])
            size += len(block.text)
            if size >= _SAMPLE:
                break
    return "\n".join(parts)
