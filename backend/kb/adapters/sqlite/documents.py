"""Documents: written whole and hidden, shown by one switch, purged when nothing needs them."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.gate import SERVING
from kb.adapters.sqlite.items import put_item
from kb.adapters.sqlite.json_text import compact, now_text
from kb.adapters.sqlite.layering import carry
from kb.adapters.sqlite.ledger import coverage_json, masked_json, unread_units
from kb.adapters.sqlite.payloads import metadata_json, payload_json, provenance_json, warnings_json
from kb.adapters.sqlite.purge import SqlitePurge
from kb.adapters.sqlite.segments import ids_json, segments_json, span_json, spans_json, strings_json
from kb.adapters.sqlite.withdrawal import indexed, log_text, model_key, withdraw
from kb.domain.chunks import Chunk, ChunkRole
from kb.domain.documents import Block, CanonicalDocument
from kb.domain.embeddings import EmbeddingModel
from kb.domain.failures import StorageFailed
from kb.domain.ids import content_hash
from kb.domain.items import Item, RawAsset
from kb.domain.recipes import DocumentId
from kb.domain.spans import LineSpan

_SCHEMA_VERSION = 1
_ASSET = "INSERT OR IGNORE INTO assets VALUES (?,?,?,?,?,?,?)"
_DOCUMENT = """
INSERT INTO documents (doc_id, asset_id, workspace_path, title, lang, source_type, trust_level, trust_rank, media_type,
  parser_version, schema_version, line_count, block_count, text_lines_json, warnings_json, metadata_json,
  provenance_json, coverage_json, masked_json, unread_units, created_at, updated_at)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
ON CONFLICT (doc_id) DO UPDATE SET
  title = excluded.title, lang = excluded.lang, source_type = excluded.source_type,
  trust_level = excluded.trust_level, trust_rank = excluded.trust_rank, warnings_json = excluded.warnings_json,
  metadata_json = excluded.metadata_json, provenance_json = excluded.provenance_json,
  coverage_json = excluded.coverage_json, masked_json = excluded.masked_json, unread_units = excluded.unread_units,
  created_at = excluded.created_at, updated_at = excluded.updated_at
"""
_BLOCK = "INSERT INTO blocks VALUES (?,?,?,?,?,?,?)"
_CHUNK = """
INSERT OR IGNORE INTO chunks (chunk_id, doc_id, ordinal, role, chunking_key, parent_chunk_id, lang,
  token_estimate, char_count, text_hash, section_label, heading_path_json, block_ids_json, source_spans_json,
  segments_json, text, created_at)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
"""
_RECORDS = """
INSERT OR IGNORE INTO embedding_records (model_key, chunk_key, state, char_count, text_hash)
SELECT ?, chunk_key, 'pending', char_count, text_hash FROM chunks
WHERE doc_id = ? AND chunking_key = ? AND role <> 'parent'
"""
_NEWEST_VERSION = """
SELECT doc_id, chunking_key, state FROM document_versions WHERE item_id = ? ORDER BY number DESC LIMIT 1
"""
_VERSION = f"""
INSERT INTO document_versions (item_id, number, doc_id, state, chunking_key, chunk_count, created_at, generation_id)
SELECT ?, coalesce(max(number), 0) + 1, ?, 'indexing', ?, ?, ?, {SERVING} FROM document_versions WHERE item_id = ?
"""
_SHOWN_ITEM = """
UPDATE items SET active_doc_id = ?, reason = CASE state WHEN 'empty' THEN reason END,
  state = CASE state WHEN 'empty' THEN 'empty' ELSE 'ready' END, updated_at = ? WHERE item_id = ?
"""


class SqliteDocumentWriter:
    """Wraps the library file: documents, versions, blocks, chunks and their index work."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def stage(
        self,
        item: Item,
        asset: RawAsset,
        document: CanonicalDocument,
        chunks: Sequence[Chunk],
        model: EmbeddingModel | None,
    ) -> None:
        """Write item, asset, document, blocks, chunks, pending embedding records, index log.

        The new version is `indexing`: nothing shows it yet. Staging the same document twice is
        staging it once. A document that is already active gets its metadata renewed.

        Raises:
            StorageFailed: two chunks have the same id, or SQLite refused; nothing is written.
        """
        now = now_text()
        with self._library.transaction() as connection:
            before = indexed(connection, document.doc_id)
            connection.execute(_ASSET, _asset_row(asset))
            put_item(connection, item, asset.media_type.value)
            known = put_document(connection, asset, document)
            chunking = chunking_key(connection, chunks)
            state = _state_if_newest(connection, item, document, chunking)
            if state is None:
                count = sum(chunk.role is not ChunkRole.PARENT for chunk in chunks)
                values = (item.item_id, document.doc_id, chunking, count, now, item.item_id)
                connection.execute(_VERSION, values)
            written = put_chunks(connection, chunks, chunking)
            if not known and written != len(chunks):
                raise StorageFailed(
                    f"{len(chunks)} chunks of a document share {max(written, 0)} ids",
                    hint="this is a fault of Kebab: report it with the kind of file",
                )
            # Before the records: they are of what the passages say with what people changed in them.
            carry(connection, item.item_id, document.doc_id, chunking, logs=known)
            if model is not None:
                connection.execute(_RECORDS, (model_key(connection, model), document.doc_id, chunking))
            if known:
                _enrol_again(connection, document.doc_id)
            # Entries that are replaced by the same would go on counting in every score.
            if state != "indexing" and (not before or before != indexed(connection, document.doc_id)):
                log_text(connection, "remove" if known else "add", (document.doc_id,))
                log_text(connection, "add", (document.doc_id,) if known else ())

    def activate(self, doc_ids: Sequence[DocumentId]) -> None:
        """Make staged versions the active ones; earlier ones become superseded and unindexed."""
        with self._library.transaction() as connection:
            superseded: list[str] = []
            for doc_id in doc_ids:
                superseded += _activate(connection, doc_id)
            withdraw(connection, superseded)

    def staged(self) -> Sequence[DocumentId]:
        """Return versions that are still `indexing`, such as a crash leaves behind."""
        rows = self._library.rows(
            "SELECT DISTINCT doc_id FROM document_versions WHERE state = 'indexing' ORDER BY doc_id"
        )
        return [DocumentId(doc_id) for (doc_id,) in rows]

    def unread(self) -> frozenset[DocumentId]:
        """Return documents of which pages or other parts failed or wait for something."""
        rows = self._library.rows("SELECT doc_id FROM documents WHERE unread_units > 0")
        return frozenset(DocumentId(doc_id) for (doc_id,) in rows)

    def purge(self, keep_versions: int, keep_deleted_days: int = 0) -> Sequence[str]:
        """Remove superseded versions that are not recent and that no kept answer or generation needs.

        Returns the storage paths of asset copies nothing refers to any more; they stand in the outbox, too.
        """
        return SqlitePurge(self._library).purge(keep_versions, keep_deleted_days).copies


def put_document(connection: sqlite3.Connection, asset: RawAsset, document: CanonicalDocument) -> bool:
    """Write document, tags and blocks; return whether the library knew it already."""
    doc_id = document.doc_id
    known = connection.execute("SELECT 1 FROM documents WHERE doc_id = ?", (doc_id,)).fetchone() is not None
    connection.execute(_DOCUMENT, _document_row(asset, document))
    if known:
        connection.execute("DELETE FROM document_tags WHERE doc_id = ?", (doc_id,))
    else:
        connection.executemany(_BLOCK, _block_rows(doc_id, document.blocks))
    tags = dict.fromkeys(document.metadata.tags)
    connection.executemany("INSERT INTO document_tags VALUES (?,?)", ((doc_id, tag) for tag in tags))
    return known


def _state_if_newest(
    connection: sqlite3.Connection, item: Item, document: CanonicalDocument, chunking: int
) -> str | None:
    """Return `indexing` or `ready` when this is the item's newest version already.

    Only the newest counts: a text that comes back while another is staged is a version of its own.
    """
    newest = connection.execute(_NEWEST_VERSION, (item.item_id,)).fetchone()
    if newest is None or newest[:2] != (document.doc_id, chunking) or newest[2] not in {"indexing", "ready"}:
        return None
    if newest[2] == "ready":
        # There will be nothing to activate, so what activation says of the item is said here.
        connection.execute(_SHOWN_ITEM, (document.doc_id, now_text(), item.item_id))
    return str(newest[2])


def chunking_key(connection: sqlite3.Connection, chunks: Sequence[Chunk]) -> int:
    """Return the row of how these chunks were made; all of one document are made alike."""
    made = (chunks[0].chunker_version, chunks[0].policy_hash) if chunks else ("", "")
    sql = "SELECT chunking_key FROM chunkings WHERE chunker_version = ? AND policy_hash = ?"
    row = connection.execute(sql, made).fetchone()
    if row is None:
        insert = "INSERT INTO chunkings (chunker_version, policy_hash) VALUES (?,?) RETURNING chunking_key"
        row = connection.execute(insert, made).fetchone()
    return int(row[0])


def put_chunks(connection: sqlite3.Connection, chunks: Iterable[Chunk], chunking: int) -> int:
    """Write chunks that are not there yet; return how many were."""
    return connection.executemany(_CHUNK, _chunk_rows(chunks, chunking, now_text())).rowcount


def _enrol_again(connection: sqlite3.Connection, doc_id: DocumentId) -> None:
    """Let every model look again at chunks that are back: their records went when they were superseded."""
    connection.execute(
        "UPDATE embedding_models SET enrolled_through ="
        " min(enrolled_through, (SELECT coalesce(min(chunk_key), 1) - 1 FROM chunks WHERE doc_id = ?))",
        (doc_id,),
    )


def _activate(connection: sqlite3.Connection, doc_id: DocumentId) -> list[str]:
    """Make the staged versions of a document the active ones; return the documents superseded."""
    versions = connection.execute(
        "SELECT item_id, max(number) FROM document_versions WHERE doc_id = ? AND state = 'indexing' GROUP BY item_id",
        (doc_id,),
    ).fetchall()
    superseded: list[str] = []
    now = now_text()
    for item_id, number in versions:
        earlier = connection.execute(
            "UPDATE document_versions SET state = 'superseded', superseded_at = ?"
            " WHERE item_id = ? AND number < ? AND state IN ('indexing','ready') RETURNING doc_id",
            (now, item_id, number),
        ).fetchall()
        superseded += [earlier_id for (earlier_id,) in earlier]
        connection.execute(
            "UPDATE document_versions SET state = 'ready', activated_at = ? WHERE item_id = ? AND number = ?",
            (now, item_id, number),
        )
        connection.execute(_SHOWN_ITEM, (doc_id, now, item_id))
    return superseded


def _asset_row(asset: RawAsset) -> tuple[Any, ...]:
    return (
        asset.asset_id,
        asset.media_type.value,
        asset.byte_len,
        asset.checksum,
        asset.storage_kind,
        asset.storage_path,
        asset.discovered_at.isoformat(),
    )


def _document_row(asset: RawAsset, document: CanonicalDocument) -> tuple[Any, ...]:
    metadata = document.metadata
    return (
        document.doc_id,
        document.asset_id,
        document.workspace_path,
        document.title,
        document.lang,
        metadata.source_type.value,
        metadata.trust_level.value,
        metadata.trust_level.rank,
        asset.media_type.value,
        document.parser_version,
        _SCHEMA_VERSION,
        document.line_count,
        len(document.blocks),
        compact(_text_lines(document.blocks)),
        warnings_json(document),
        metadata_json(metadata),
        provenance_json(document),
        coverage_json(document.coverage),
        masked_json(document.masked),
        unread_units(document.coverage),
        metadata.created_at.isoformat(),
        metadata.updated_at.isoformat(),
    )


def _block_rows(doc_id: DocumentId, blocks: Iterable[Block]) -> Iterator[tuple[Any, ...]]:
    for block in blocks:
        parsed = block.parsed
        yield (
            doc_id,
            block.ordinal,
            block.block_id,
            parsed.kind.value,
            strings_json(parsed.heading_path),
            span_json(parsed.span),
            payload_json(parsed.payload),
        )


def _chunk_rows(chunks: Iterable[Chunk], chunking: int, now: str) -> Iterator[tuple[Any, ...]]:
    for chunk in chunks:
        yield (
            chunk.chunk_id,
            chunk.doc_id,
            chunk.ordinal,
            chunk.role.value,
            chunking,
            chunk.parent_chunk_id,
            chunk.lang,
            chunk.token_estimate,
            len(chunk.text),
            bytes.fromhex(content_hash(chunk.text.encode())),
            chunk.section_label,
            strings_json(chunk.heading_path),
            ids_json(chunk.block_ids),
            spans_json(chunk.segments),
            segments_json(chunk.segments),
            chunk.text,
            now,
        )


def _text_lines(blocks: Iterable[Block]) -> list[int]:
    """Return the lines blocks cover, as first, last, first, last, ... in rising order."""
    spans = sorted((b.parsed.span.start, b.parsed.span.end) for b in blocks if isinstance(b.parsed.span, LineSpan))
    lines: list[int] = []
    for start, end in spans:
        if lines and start <= lines[-1] + 1:
            lines[-1] = max(lines[-1], end)
        else:
            lines += (start, end)
    return lines
