"""Small believable values for tests: say only what the test is about."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from kb.domain.blocks import BlockKind, Heading, Prose
from kb.domain.chunks import Chunk, ChunkRole
from kb.domain.documents import Block, CanonicalDocument, ParsedBlock
from kb.domain.embeddings import EmbeddingModel, Vector
from kb.domain.files import FileIdentity
from kb.domain.ids import content_hash
from kb.domain.items import Item, ItemState, MediaType, RawAsset
from kb.domain.metadata import Metadata, ProvenanceEvent, ProvenanceKind, SourceType, TrustLevel
from kb.domain.paths import WorkspacePath, workspace_path
from kb.domain.placed import span_to_json
from kb.domain.recipes import DocumentId, ItemId, asset_id, block_id, chunk_id, document_id
from kb.domain.spans import LineSpan, Segment

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MODEL = EmbeddingModel("e5", "1", "test", 4, "mean", "query: ", "passage: ", 500)
OTHER_MODEL = replace(MODEL, id="bge")


@dataclass(frozen=True)
class Staged:
    """What DocumentWriter.stage takes, less the model."""

    item: Item
    asset: RawAsset
    document: CanonicalDocument
    chunks: tuple[Chunk, ...]


def an_item(path: str, item_id: str | None = None, *, content: bytes = b"", state: ItemState = ItemState.NEW) -> Item:
    """An item whose id is its path unless told."""
    return Item(
        item_id=ItemId(item_id or f"item-{path}"),
        path=workspace_path(path),
        disk_name=path,
        identity=FileIdentity(len(content), 1_000, "1:1"),
        state=state,
        asset_id=asset_id(content_hash(content)),
        checksum=content_hash(content),
        fingerprint="parser+chunker",
    )


def an_asset(content: bytes, media_type: MediaType = MediaType.MARKDOWN) -> RawAsset:
    """A copied asset."""
    checksum = content_hash(content)
    asset = asset_id(checksum)
    return RawAsset(asset, checksum, len(content), media_type, "copied", f"assets/{asset[:2]}/{asset}", NOON)


def staged(
    path: str,
    *paragraphs: str,
    item_id: str | None = None,
    title: str = "Notes",
    lang: str = "en",
    tags: Sequence[str] = (),
    source_type: SourceType = SourceType.NOTE,
    trust_level: TrustLevel = TrustLevel.PRIMARY,
    media_type: MediaType = MediaType.MARKDOWN,
    policy: str = "policy-1",
    parents: bool = False,
    state: ItemState = ItemState.NEW,
) -> Staged:
    """A document with a heading on line 1 and each paragraph on a line of its own, a blank line between.

    Each paragraph is one chunk; with `parents` a parent chunk of the whole text comes first.
    """
    content = "\n\n".join((f"# {title}", *paragraphs)).encode()
    asset = an_asset(content, media_type)
    where = workspace_path(path)
    doc_id = document_id(where, asset.asset_id, "md-1")
    blocks = _blocks(doc_id, title, paragraphs)
    document = CanonicalDocument(
        doc_id=doc_id,
        asset_id=asset.asset_id,
        workspace_path=where,
        title=title,
        lang=lang,
        blocks=blocks,
        metadata=Metadata((), tuple(tags), NOON, NOON, source_type, trust_level, user={"mood": "calm"}),
        provenance=(ProvenanceEvent(NOON, "markdown", ProvenanceKind.PARSED),),
        parser_version="md-1",
        line_count=2 * len(paragraphs) + 1,
    )
    chunks = [_chunk(document, (block,), ordinal, policy) for ordinal, block in enumerate(blocks[1:])]
    if parents:
        whole = replace(_chunk(document, blocks[1:], 0, f"{policy}-parents"), role=ChunkRole.PARENT, policy_hash=policy)
        children = [
            replace(c, ordinal=c.ordinal + 1, role=ChunkRole.CHILD, parent_chunk_id=whole.chunk_id) for c in chunks
        ]
        chunks = [whole, *children]
    item = an_item(path, item_id, content=content, state=state)
    return Staged(item, asset, document, tuple(chunks))


def _blocks(doc_id: DocumentId, title: str, paragraphs: Sequence[str]) -> tuple[Block, ...]:
    parsed = [ParsedBlock(BlockKind.HEADING, title, LineSpan(1, 1), (), Heading(1), ())]
    for number, text in enumerate(paragraphs, 1):
        span = LineSpan(2 * number + 1, 2 * number + 1)
        segments = (Segment(0, len(text), span),)
        parsed.append(ParsedBlock(BlockKind.PARAGRAPH, text, span, (title,), Prose(), segments))
    return tuple(
        Block(
            block_id(
                doc_id,
                block_kind=p.kind.value,
                heading_path=p.heading_path,
                ordinal=ordinal,
                source_span=span_to_json(p.span),
            ),
            ordinal,
            p,
        )
        for ordinal, p in enumerate(parsed)
    )


def _chunk(document: CanonicalDocument, blocks: Sequence[Block], ordinal: int, policy: str) -> Chunk:
    text = ""
    segments: list[Segment] = []
    for block in blocks:
        text += "\n" if text else ""
        segments.append(Segment(len(text), len(text) + len(block.parsed.text), block.parsed.span))
        text += block.parsed.text
    ids = tuple(block.block_id for block in blocks)
    return Chunk(
        chunk_id=chunk_id(document.doc_id, chunker_version="c1", block_ids=ids, policy_hash=policy),
        doc_id=document.doc_id,
        ordinal=ordinal,
        text=text,
        heading_path=(document.title,),
        block_ids=ids,
        segments=tuple(segments),
        token_estimate=max(1, len(text) // 4),
        chunker_version="c1",
        policy_hash=policy,
        lang=document.lang,
    )


def a_vector(*numbers: float) -> Vector:
    """A vector whose numbers float16 holds exactly, such as halves and quarters."""
    return Vector(struct.pack(f"<{len(numbers)}f", *numbers))


def vector_of(text: str) -> Vector:
    """A vector of four numbers that depends on the text alone."""
    return a_vector(*(byte / 256 for byte in content_hash(text.encode()).encode()[:4]))


def path_of(text: str) -> WorkspacePath:
    """A workspace path."""
    return workspace_path(text)
