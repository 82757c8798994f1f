"""Looking into the library: documents, items, chunks, coverage, counts."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from kb.adapters.sqlite.connection import Library, Row
from kb.adapters.sqlite.failures import translated
from kb.adapters.sqlite.gate import VISIBLE_BY_DOCUMENT, VISIBLE_CHUNKS, VISIBLE_DOCUMENTS, SqliteGatedChunks
from kb.adapters.sqlite.items import ITEM_COLUMNS, item_from
from kb.adapters.sqlite.ledger import NOTHING, coverage_from, line_coverage
from kb.adapters.sqlite.rows import ORIGINAL, STORED_CHUNK, as_the_file_says, stored_chunk
from kb.domain.accounting import ledger_of, totals, unread
from kb.domain.catalogue import ChunkInspection, EmbeddingInfo, ItemRow, LibrarySummary, Page
from kb.domain.chunks import StoredChunk
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import DocumentSummary
from kb.domain.embeddings import EmbeddingModel
from kb.domain.items import ItemState, MediaType
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import ChunkId, DocumentId, embedding_id
from kb.domain.text import fold

_SEARCHABLE = (
    "v.chunk_count - (SELECT count(*) FROM chunks o WHERE o.doc_id = v.doc_id AND o.chunking_key = v.chunking_key"
    " AND o.enabled = 0 AND o.role <> 'parent')"
)
_SUMMARY = f"""
SELECT d.doc_id, i.item_id, i.workspace_path, d.title, d.lang, d.metadata_json, d.source_type, d.trust_level,
  (SELECT byte_len FROM assets WHERE asset_id = d.asset_id), v.chunk_count,
  (SELECT count(DISTINCT r.chunk_key) FROM chunks c JOIN embedding_records r ON r.chunk_key = c.chunk_key
   WHERE c.doc_id = d.doc_id AND c.chunking_key = v.chunking_key AND r.state <> 'pending'),
  d.created_at, d.updated_at, d.parser_version,
  (SELECT chunker_version FROM chunkings k WHERE k.chunking_key = v.chunking_key), v.number,
  {_SEARCHABLE}
FROM {VISIBLE_DOCUMENTS}
"""
_ITEM_ROW = f"""
SELECT {ITEM_COLUMNS}, i.media_type, i.included, i.archived_at, d.line_count, d.text_lines_json, d.coverage_json,
  v.chunk_count, {_SEARCHABLE}
FROM items i LEFT JOIN documents d ON d.doc_id = i.active_doc_id
LEFT JOIN document_versions v ON v.item_id = i.item_id AND v.doc_id = i.active_doc_id AND v.state = 'ready'
WHERE i.deleted_at IS NULL
"""
# By the few documents in question: to ask each item's document would read every long row to its end.
_ATTENTION = (
    "(i.state IN ('failed','waiting') OR i.active_doc_id IN (SELECT doc_id FROM documents WHERE unread_units > 0))"
)
# The document must be one that may be seen; parents and disabled chunks of it can be inspected all the same.
_INSPECT = f"""
SELECT {STORED_CHUNK}, c.enabled, c.manually_edited, c.created_at, c.updated_at, lower(hex(c.text_hash)),
  (SELECT text FROM chunk_originals o WHERE o.chunk_key = c.chunk_key), EXISTS (SELECT 1 FROM chunk_layer_places p
  JOIN chunk_layers l ON l.layer_id = p.layer_id WHERE p.chunk_key = c.chunk_key AND l.state = 'active'
  AND l.kind = 'deleted' AND c.role <> 'parent')
FROM chunks c CROSS JOIN chunkings k CROSS JOIN {VISIBLE_DOCUMENTS} AND k.chunking_key = c.chunking_key
  AND i.active_doc_id = c.doc_id AND v.chunking_key = c.chunking_key
"""
_EMBEDDINGS = """
SELECT m.model_id, m.model_version, m.dimensions, r.state
FROM embedding_records r JOIN embedding_models m ON m.model_key = r.model_key
WHERE r.chunk_key = ? ORDER BY m.model_key
"""


class SqliteCatalogue:
    """Wraps the library file: what the pages, the lists and `kb inspect` show."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._gate = SqliteGatedChunks(library)

    def documents(self, after: str | None = None, limit: int = 100) -> Page[DocumentSummary]:
        """Return documents that can be seen, by path; `after` is the `next` of the page before."""
        sql = f"{_SUMMARY} AND i.workspace_path > ? ORDER BY i.workspace_path LIMIT ?"
        rows = self._library.rows(sql, (after or "", limit + 1))
        shown = tuple(map(_summary, rows[:limit]))
        return Page(shown, shown[-1].workspace_path if len(rows) > limit else None)

    def document(self, doc_id: DocumentId) -> DocumentSummary | None:
        """Return a document that can be seen."""
        row = self._library.row(f"{_SUMMARY} AND d.doc_id = ?", (doc_id,))
        return _summary(row) if row else None

    def items(
        self,
        after: str | None = None,
        limit: int = 100,
        state: ItemState | None = None,
        *,
        attention: bool = False,
    ) -> Page[ItemRow]:
        """Return items whose file is there, by path, in one state if given, or only those a person should look at."""
        condition, values = (" AND i.state = ?", (state.value,)) if state else ("", ())
        condition += f" AND {_ATTENTION}" if attention else ""
        sql = f"{_ITEM_ROW}{condition} AND i.workspace_path > ? ORDER BY i.workspace_path LIMIT ?"
        rows = self._library.rows(sql, (*values, after or "", limit + 1))
        shown = tuple(map(_item_row, rows[:limit]))
        return Page(shown, shown[-1].item.path if len(rows) > limit else None)

    def item_at(self, path: WorkspacePath) -> ItemRow | None:
        """Return the item at a path."""
        row = self._library.row(f"{_ITEM_ROW} AND i.workspace_path = ?", (path,))
        return _item_row(row) if row else None

    def item(self, item_id: str) -> ItemRow | None:
        """Return the item with an id, unless its file is gone."""
        row = self._library.row(f"{_ITEM_ROW} AND i.item_id = ?", (item_id,))
        return _item_row(row) if row else None

    def chunk(self, chunk_id: ChunkId) -> ChunkInspection | None:
        """Return a chunk of a document that can be seen, with its vectors; parents and disabled ones too."""
        row = self._library.row(f"{_INSPECT} AND c.chunk_id = ?", (chunk_id,))
        return self._inspection(row) if row else None

    def every_chunk(
        self, doc_id: DocumentId, after: int = -1, limit: int = 100, holding: str = ""
    ) -> Page[ChunkInspection]:
        """Return the chunks of a document that can be seen, in order: those that people took out and parents, too.

        Args:
            doc_id: the document.
            after: an ordinal; those after it.
            limit: how many.
            holding: letters they hold now, whatever case, width and white space; empty for all.
        """
        wanted = _letters(holding)
        found: list[Row] = []
        rows = self._library.reader().execute(
            f"{_INSPECT} AND c.doc_id = ? AND c.ordinal > ? ORDER BY c.ordinal", (doc_id, after)
        )
        with translated():
            for row in rows:
                if not wanted or wanted in _letters(row[4]):
                    found.append(row)
                if len(found) > limit:
                    break
        rows.close()
        shown = tuple(map(self._inspection, found[:limit]))
        return Page(shown, str(shown[-1].stored.chunk.ordinal) if len(found) > limit else None)

    def originals(self, doc_id: DocumentId) -> Sequence[StoredChunk]:
        """Return the edited chunks of a document that can be seen, as the file says them."""
        sql = f"SELECT {STORED_CHUNK} FROM {VISIBLE_CHUNKS} AND c.doc_id = ? AND c.manually_edited = 1"
        edited = map(stored_chunk, self._library.rows(f"{sql} ORDER BY c.ordinal", (doc_id,)))
        return [as_the_file_says(stored, self._library.row(ORIGINAL, (stored.key,))) for stored in edited]

    def _inspection(self, row: Row) -> ChunkInspection:
        stored = stored_chunk(row)
        enabled, edited, created, updated, text_hash, original, is_deleted = row[-7:]
        return ChunkInspection(
            stored=stored,
            visible=stored.key in self._gate.visible([stored.key]),
            enabled=bool(enabled),
            manually_edited=bool(edited),
            created_at=datetime.fromisoformat(created),
            updated_at=datetime.fromisoformat(updated) if updated else None,
            embeddings=tuple(
                EmbeddingInfo(
                    embedding_id(
                        stored.chunk.chunk_id, model_id=model_id, model_version=version, dimensions=dimensions
                    ),
                    model_id,
                    version,
                    dimensions,
                    state,
                )
                for model_id, version, dimensions, state in self._library.rows(_EMBEDDINGS, (stored.key,))
            ),
            text_hash=text_hash,
            original=original,
            is_deleted=bool(is_deleted),
        )

    def chunks(self, doc_id: DocumentId, after: int = -1, limit: int = 100) -> Page[StoredChunk]:
        """Return the visible chunks of a document in order, those after ordinal `after`."""
        sql = f"SELECT {STORED_CHUNK} FROM {VISIBLE_CHUNKS} AND c.doc_id = ? AND c.ordinal > ?"
        rows = self._library.rows(f"{sql} ORDER BY c.ordinal LIMIT ?", (doc_id, after, limit + 1))
        shown = tuple(map(stored_chunk, rows[:limit]))
        return Page(shown, str(shown[-1].chunk.ordinal) if len(rows) > limit else None)

    def coverage(self, doc_id: DocumentId) -> tuple[CoverageUnit, ...]:
        """Return what became of every line, page or part of a document that can be seen; they sum to the whole."""
        sql = f"SELECT d.line_count, d.text_lines_json, d.coverage_json FROM {VISIBLE_DOCUMENTS} AND d.doc_id = ?"
        row = self._library.row(sql, (doc_id,))
        if row is None:
            return ()
        return coverage_from(row[2]) or line_coverage(row[0], json.loads(row[1]))

    def summary(self, model: EmbeddingModel | None) -> LibrarySummary:
        """Return the counts of the whole library."""
        facts = self._gate.facts(model)
        states = self._library.rows("SELECT state, count(*) FROM items WHERE deleted_at IS NULL GROUP BY state")
        return LibrarySummary(
            items=dict(sorted(states)),
            documents=self._count(f"SELECT count(*) FROM {VISIBLE_DOCUMENTS}"),
            vectorised=self._vectorised(model) if facts.vectors else 0,
            chunks=facts.chunks,
            vectors=facts.vectors,
            vectors_pending=facts.chunks - facts.vectors if model else 0,
            vectors_damaged=int(self._library.meta("vectors_damaged") or 0),
            unread_items=facts.unread_items,
            answers=self._count("SELECT count(*) FROM answers"),
            attention=self._count(f"SELECT count(*) FROM items i WHERE i.deleted_at IS NULL AND {_ATTENTION}"),
        )

    def _vectorised(self, model: EmbeddingModel | None) -> int:
        """Count documents of which no visible chunk lacks a vector under `model`."""
        bare = (
            f"SELECT DISTINCT c.doc_id FROM {VISIBLE_BY_DOCUMENT} AND NOT EXISTS (SELECT 1 FROM embedding_records r"
            " JOIN embedding_models m ON m.model_key = r.model_key AND m.fingerprint = ?"
            " WHERE r.chunk_key = c.chunk_key AND r.state <> 'pending')"
        )
        sql = f"SELECT count(*) FROM {VISIBLE_DOCUMENTS} AND v.doc_id NOT IN ({bare})"
        row = self._library.row(sql, (model.fingerprint() if model else None,))
        return int(row[0]) if row else 0

    def _count(self, sql: str) -> int:
        return int((self._library.row(sql) or (0,))[0])


def _summary(row: Sequence[Any]) -> DocumentSummary:
    return DocumentSummary(
        doc_id=DocumentId(row[0]),
        item_id=row[1],
        workspace_path=WorkspacePath(row[2]),
        title=row[3],
        lang=row[4],
        tags=tuple(json.loads(row[5])["tags"]),
        source_type=row[6],
        trust_level=row[7],
        byte_len=row[8],
        chunk_count=row[9],
        vector_count=row[10],
        created_at=datetime.fromisoformat(row[11]),
        updated_at=datetime.fromisoformat(row[12]),
        parser_version=row[13],
        chunker_version=row[14],
        version=row[15],
        searchable=row[16],
    )


def _item_row(row: Sequence[Any]) -> ItemRow:
    media, included, archived_at, lines, text_lines, coverage, chunk_count, searchable = row[-8:]
    item = item_from(row)
    is_of_document = item.state is ItemState.READY or (item.state is ItemState.EMPTY and chunk_count == 0)
    if is_of_document and coverage == NOTHING:
        kinds, sums, missing = _of_lines(lines, json.loads(text_lines))
    else:
        ledger = coverage_from(coverage) if is_of_document and coverage else ledger_of(item)
        kinds, sums, missing = tuple(dict.fromkeys(u.kind for u in ledger)), totals(ledger), unread(ledger)
    return ItemRow(
        item=item,
        media_type=MediaType(media) if media else None,
        included=bool(included),
        archived=archived_at is not None,
        kinds=kinds,
        totals=sums,
        unread=missing,
        is_of_document=is_of_document,
        chunk_count=chunk_count or 0,
        searchable=searchable,
    )


def _letters(text: str) -> str:
    return "".join(fold(text).split())


def _of_lines(
    line_count: int, ranges: Sequence[int]
) -> tuple[tuple[str, ...], Mapping[str, int], tuple[CoverageUnit, ...]]:
    """Sum up a text without listing its lines: it may have millions."""
    read = sum(end - start + 1 for start, end in zip(ranges[::2], ranges[1::2], strict=True))
    return ("line",), totals(()) | {"text": read, "blank": line_count - read}, ()
