"""Documents: one parsed version of an item, its blocks, and what is known about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from kb.domain.blocks import BlockKind, Payload
from kb.domain.coverage import CoverageUnit
from kb.domain.ids import Json
from kb.domain.masking import MaskedSecret
from kb.domain.metadata import Metadata, ProvenanceEvent, ProvenanceKind
from kb.domain.pages import PageText
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import AssetId, BlockId, DocumentId
from kb.domain.spans import Segment, SourceSpan
from kb.domain.transcripts import Transcript


@dataclass(frozen=True, slots=True)
class ParsedBlock:
    """What a parser found: no identity yet; `text` is plain, `segments` map it to places."""

    kind: BlockKind
    text: str
    span: SourceSpan
    heading_path: tuple[str, ...]
    payload: Payload
    segments: Sequence[Segment]


@dataclass(frozen=True, slots=True)
class ParseWarning:
    """Something a parser had to bend.

    `kind` is malformed_frontmatter, malformed_table, encoding_fallback or extract_failed.
    """

    kind: str
    note: str


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside a file: an attachment, or a member of an archive; it becomes an item of its own.

    Attributes:
        name: as the container calls it, `/` between folders; cleaned of everything that climbs.
        modified_ns: nanoseconds since 1970, None when the container does not say.
    """

    name: str
    data: bytes = field(repr=False)
    modified_ns: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """All a parser gives: blocks in order, the raw front matter, warnings, extent.

    Attributes:
        blocks: in reading order.
        front_matter: the mapping at the top of the file, as written; empty when there is none.
        warnings: what was bent.
        line_count: lines of the whole file, 0 for media without lines.
        encoding: of the text, as read.
        coverage: every page, second or part and what became of it, in order, each once; empty for media of lines,
            whose coverage follows from the blocks.
        pages: the words of pages and pictures with their boxes.
        transcript: what was said in a recording.
        members: files inside this one.
        waits_for: what is missing to read more of it, such as `ocr_model`; empty when nothing is.
        steps: what was done beside parsing (ocr_applied, transcribed, caption_applied), each with its engine.
    """

    blocks: tuple[ParsedBlock, ...]
    front_matter: Mapping[str, Json] = field(default_factory=dict)
    warnings: tuple[ParseWarning, ...] = ()
    line_count: int = 0
    encoding: str = "utf-8"
    coverage: tuple[CoverageUnit, ...] = ()
    pages: tuple[PageText, ...] = ()
    transcript: Transcript | None = None
    members: tuple[Member, ...] = ()
    waits_for: str = ""
    steps: tuple[tuple[ProvenanceKind, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A parsed block with its identity and its ordinal (from 0) in the document."""

    block_id: BlockId
    ordinal: int
    parsed: ParsedBlock


@dataclass(frozen=True, slots=True)
class CanonicalDocument:
    """One parsed version of an item, as stored."""

    doc_id: DocumentId
    asset_id: AssetId
    workspace_path: WorkspacePath
    title: str
    lang: str
    blocks: tuple[Block, ...]
    metadata: Metadata
    provenance: tuple[ProvenanceEvent, ...]
    parser_version: str
    warnings: tuple[ParseWarning, ...] = ()
    line_count: int = 0
    coverage: tuple[CoverageUnit, ...] = ()
    masked: tuple[MaskedSecret, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """One row of `kb list docs`; `searchable` are the chunks that people did not take out, None when not counted."""

    doc_id: DocumentId
    item_id: str
    workspace_path: WorkspacePath
    title: str
    lang: str
    tags: tuple[str, ...]
    source_type: str
    trust_level: str
    byte_len: int
    chunk_count: int
    vector_count: int
    created_at: datetime
    updated_at: datetime
    parser_version: str
    chunker_version: str
    version: int
    searchable: int | None = None
