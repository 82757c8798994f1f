"""The final gate: the one place that says which chunks may be seen now."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.failures import translated
from kb.adapters.sqlite.pace import Pace
from kb.adapters.sqlite.rows import STORED_CHUNK, stored_chunk
from kb.adapters.sqlite.scope import in_any_collection, teach_globs
from kb.domain.chunks import StoredChunk
from kb.domain.embeddings import ChunkKey, EmbeddingModel
from kb.domain.metadata import formats_of
from kb.domain.search import SearchFilters
from kb.retrieval.ports import LibraryFacts

# Documents: the item is there, included, not archived; the document is its active ready one under the serving
# generation, its masking current.
SERVING = "(SELECT generation_id FROM generations WHERE state = 'serving')"
"""The generation that is shown, as an expression."""

_ACTIVE = f"v.item_id = i.item_id AND v.doc_id = i.active_doc_id AND v.state = 'ready' AND v.generation_id = {SERVING}"
_SHOWN = (
    "i.deleted_at IS NULL AND i.included = 1 AND i.archived_at IS NULL"
    " AND v.doc_id NOT IN (SELECT doc_id FROM documents WHERE privacy_state <> 'current')"
)
# Chunks: of that version, enabled, not a parent.
_OF_VERSION = "c.doc_id = v.doc_id AND c.chunking_key = v.chunking_key"
_CHUNK_SHOWN = "c.enabled = 1 AND c.role <> 'parent'"

_VISIBLE_VERSIONS = f"items i CROSS JOIN document_versions v ON {_ACTIVE} WHERE {_SHOWN}"

VISIBLE_DOCUMENTS = (
    f"items i CROSS JOIN document_versions v ON {_ACTIVE} CROSS JOIN documents d ON d.doc_id = v.doc_id WHERE {_SHOWN}"
)
"""FROM and WHERE over items i, document_versions v, documents d that may be seen."""

VISIBLE_CHUNKS = (
    "chunks c CROSS JOIN items i ON i.active_doc_id = c.doc_id"
    f" CROSS JOIN document_versions v ON {_ACTIVE} AND {_OF_VERSION} CROSS JOIN documents d ON d.doc_id = c.doc_id"
    " CROSS JOIN chunkings k ON k.chunking_key = c.chunking_key"
    f" WHERE {_SHOWN} AND {_CHUNK_SHOWN}"
)
"""The gate from chunks c to items, with chunkings k: for chosen chunks."""

VISIBLE_BY_DOCUMENT = (
    f"items i CROSS JOIN document_versions v ON {_ACTIVE} CROSS JOIN documents d ON d.doc_id = v.doc_id"
    f" CROSS JOIN chunks c ON {_OF_VERSION} WHERE {_SHOWN} AND {_CHUNK_SHOWN}"
)
"""The same gate from items to chunks: for conditions on documents."""

INDEXABLE_DOCUMENTS = (
    "document_versions v CROSS JOIN items i ON i.item_id = v.item_id CROSS JOIN documents d ON d.doc_id = v.doc_id"
    " WHERE v.state IN ('indexing','ready') AND i.deleted_at IS NULL"
)
"""What projections hold: what may be seen, now or once it is activated, included or enabled again."""

INDEXED_AS = (
    "(SELECT min(i.workspace_path) FROM document_versions v JOIN items i ON i.item_id = v.item_id"
    f" WHERE {_OF_VERSION} AND v.state IN ('indexing','ready') AND i.deleted_at IS NULL)"
)
"""The path under which projections hold a chunk c, NULL when they do not."""

KEPT_MAY_BE_SEEN = (
    "v.state NOT IN ('purging','purged') AND i.included = 1 AND i.archived_at IS NULL AND d.privacy_state = 'current'"
)
"""The gate for earlier versions, which only an old citation opens: what a person hid stays hidden there too."""

# A parent must not say what its passages no longer do: changed with them it is given, else not.
_PARENT_SHOWN = (
    "c.enabled = 1 AND c.role = 'parent' AND (c.manually_edited = 1 OR NOT EXISTS (SELECT 1 FROM chunks s"
    " WHERE s.doc_id = c.doc_id AND s.chunking_key = c.chunking_key AND s.parent_chunk_id = c.chunk_id"
    " AND (s.enabled = 0 OR s.manually_edited = 1)))"
)
_UNREAD = ("failed", "waiting", "unsupported")


class SqliteGatedChunks:
    """Wraps the library file: chunks that may be seen now.

    Args:
        library: the file.
        generation: one that does not serve: what might be seen if it did, to compare; None for what is seen.
    """

    def __init__(self, library: Library, generation: int | None = None) -> None:
        self._library = library
        self._generation = generation
        self._by_chunk, self._by_document = _gates(generation)
        self._facts_lock = threading.Lock()
        self._facts: tuple[int, str | None, LibraryFacts] | None = None
        self._counting = Pace()
        self._sample: tuple[int, int, tuple[ChunkKey, ...]] | None = None
        self._sampling = Pace()

    def visible(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, StoredChunk]:
        """Return those of `keys` that pass the final gate."""
        found: dict[ChunkKey, StoredChunk] = {}
        for part in _parts(keys):
            marks = ",".join("?" * len(part))
            sql = f"SELECT {STORED_CHUNK} FROM {self._by_chunk} AND c.chunk_key IN ({marks})"
            for row in self._library.rows(sql, part):
                stored = stored_chunk(row)
                found[stored.key] = stored
        return found

    def parents(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, StoredChunk]:
        """Return the parents of those of `keys` that are visible children; none that says what they no longer do."""
        found: dict[ChunkKey, StoredChunk] = {}
        gate = self._by_chunk.replace(_CHUNK_SHOWN, _PARENT_SHOWN)
        for part in _parts(keys):
            marks = ",".join("?" * len(part))
            sql = (
                f"SELECT c.chunk_key, c.parent_chunk_id FROM {self._by_chunk} AND c.parent_chunk_id IS NOT NULL"
                f" AND c.chunk_key IN ({marks})"
            )
            parent_of = {ChunkKey(key): parent for key, parent in self._library.rows(sql, part)}
            parents = sorted(set(parent_of.values()))
            sql = f"SELECT {STORED_CHUNK} FROM {gate} AND c.chunk_id IN ({','.join('?' * len(parents))})"
            stored = {one.chunk.chunk_id: one for one in map(stored_chunk, self._library.rows(sql, parents))}
            found |= {key: stored[parent] for key, parent in parent_of.items() if parent in stored}
        return found

    def neighbours(self, key: ChunkKey, count: int) -> Sequence[StoredChunk]:
        """Return up to `count` visible chunks on each side, in document order, `key` left out."""
        here = f"SELECT c.doc_id, c.ordinal FROM {self._by_chunk} AND c.chunk_key = ?"
        place = self._library.row(here, (key,))
        if place is None or count < 1:
            return ()
        side = f"SELECT {STORED_CHUNK} FROM {self._by_chunk} AND c.doc_id = ? AND c.ordinal"
        before = self._library.rows(f"{side} < ? ORDER BY c.ordinal DESC LIMIT ?", (*place, count))
        after = self._library.rows(f"{side} > ? ORDER BY c.ordinal LIMIT ?", (*place, count))
        return [stored_chunk(row) for row in (*reversed(before), *after)]

    def matching(self, filters: SearchFilters) -> Sequence[ChunkKey]:
        """Return the keys of visible chunks that meet `filters`, rising."""
        conditions, values = _conditions(filters)
        if filters.path_glob is not None:
            teach_globs(self._library.reader())
        if filters.collections:
            with translated():
                within, own = in_any_collection(self._library.reader(), filters.collections)
            conditions += f" AND {within}"
            values += own
        sql = f"SELECT c.chunk_key FROM {self._by_document}{conditions}"
        # Sorted here: as part of the query it takes three times as long as the query itself.
        return sorted({ChunkKey(key) for (key,) in self._library.rows(sql, values)})

    def sample(self, count: int) -> Sequence[ChunkKey]:
        """Return the keys of the `count` visible chunks with the smallest chunk ids, all if fewer.

        Ids are hashes: the smallest are a fair sample, and the same one after a rebuild. Of a large library that
        changes all the while, one of a moment ago.
        """
        with self._facts_lock:
            revision, known = self._library.revision, self._sample
            if known is None or known[1] != count or (known[0] != revision and self._sampling.is_due()):
                sql = f"SELECT c.chunk_key FROM {self._by_chunk} ORDER BY c.chunk_id LIMIT ?"
                with self._sampling.timed():
                    keys = tuple(ChunkKey(key) for (key,) in self._library.rows(sql, (count,)))
                self._sample = known = (revision, count, keys)
            return known[2]

    def facts(self, model: EmbeddingModel | None) -> LibraryFacts:
        """Return the counts of what can be searched now; counted once per change of the library.

        Counting takes time that grows with the library. While a large one changes all the while, the counts may be of
        some moments ago (`Pace`); the positions are always those of now.
        """
        fingerprint = model.fingerprint() if model else None
        with self._facts_lock:
            revision, known = self._library.revision, self._facts
            if known is None or known[1] != fingerprint or (known[0] != revision and self._counting.is_due()):
                count = self._count if self._generation is None else self._count_built
                with self._counting.timed():
                    self._facts = known = (revision, fingerprint, count(fingerprint))
            facts = known[2]
            return facts if known[0] == revision or self._generation is not None else self._moved(facts, fingerprint)

    def _moved(self, facts: LibraryFacts, fingerprint: str | None) -> LibraryFacts:
        """Return the counts of a moment ago with the positions of now."""
        with self._library.view() as connection:
            position = _last_vector(connection, fingerprint)
            return replace(facts, vector_position=position, text_position=_last_text(connection))

    def _count(self, fingerprint: str | None) -> LibraryFacts:
        with self._library.view() as connection:
            (shown, chunks) = connection.execute(
                f"SELECT count(*), coalesce(sum(v.chunk_count), 0) FROM {_VISIBLE_VERSIONS}"
            ).fetchone()
            (disabled,) = connection.execute(
                "SELECT count(*) FROM chunks WHERE enabled = 0 AND role <> 'parent' AND +doc_id IN"
                f" (SELECT v.doc_id FROM {_VISIBLE_VERSIONS})"
            ).fetchone()
            (unread,) = connection.execute(
                f"SELECT count(*) FROM items WHERE deleted_at IS NULL AND included = 1 AND state IN {_UNREAD}"
            ).fetchone()
            searchable = chunks - disabled
            return LibraryFacts(
                chunks=searchable,
                vectors=min(searchable, _count_vectors(connection, fingerprint, shown)),
                unread_items=unread,
                vector_position=_last_vector(connection, fingerprint),
                text_position=_last_text(connection),
            )

    def _count_built(self, fingerprint: str | None) -> LibraryFacts:
        """Count what a generation that does not serve holds; its indexes are as they were made, at no position."""
        with self._library.view() as connection:
            chunks, vectors = connection.execute(
                "SELECT count(*), count(x.text_hash) FROM (SELECT c.text_hash FROM"
                f" {self._by_document}) s LEFT JOIN vectors x ON x.text_hash = s.text_hash AND x.model_key ="
                " (SELECT model_key FROM embedding_models WHERE fingerprint = ?)",
                (fingerprint,),
            ).fetchone()
        return LibraryFacts(chunks=chunks, vectors=vectors, unread_items=0, vector_position=0, text_position=0)


def _gates(generation: int | None) -> tuple[str, str]:
    """Return the gate from chunks to items, and from items to chunks, of a generation; None for the serving one."""
    if generation is None:
        return VISIBLE_CHUNKS, VISIBLE_BY_DOCUMENT
    held = f"v.generation_id = {int(generation)} AND i.active_doc_id IS NOT NULL"
    by_chunk = (
        f"chunks c CROSS JOIN generation_documents v ON {_OF_VERSION} CROSS JOIN items i ON i.item_id = v.item_id"
        " CROSS JOIN documents d ON d.doc_id = c.doc_id CROSS JOIN chunkings k ON k.chunking_key = c.chunking_key"
        f" WHERE {held} AND {_SHOWN} AND {_CHUNK_SHOWN}"
    )
    by_document = (
        "items i CROSS JOIN generation_documents v ON v.item_id = i.item_id CROSS JOIN documents d"
        f" ON d.doc_id = v.doc_id CROSS JOIN chunks c ON {_OF_VERSION} WHERE {held} AND {_SHOWN} AND {_CHUNK_SHOWN}"
    )
    return by_chunk, by_document


def _count_vectors(connection: sqlite3.Connection, fingerprint: str | None, shown: int) -> int:
    """Count vectors of visible chunks: all that are ready, less those of documents not shown (few)."""
    row = connection.execute("SELECT model_key FROM embedding_models WHERE fingerprint = ?", (fingerprint,)).fetchone()
    if row is None:
        return 0
    ready = "SELECT count(*) FROM embedding_records r WHERE r.model_key = ? AND r.state <> 'pending'"
    (count,) = connection.execute(ready, row).fetchone()
    unseen = "SELECT chunk_key FROM chunks WHERE enabled = 0"
    (indexable,) = connection.execute(
        "SELECT count(*) FROM document_versions WHERE state IN ('indexing','ready')"
    ).fetchone()
    if indexable != shown:
        hidden = f"SELECT v.doc_id FROM {INDEXABLE_DOCUMENTS} EXCEPT SELECT v.doc_id FROM {_VISIBLE_VERSIONS}"
        unseen += f" UNION SELECT chunk_key FROM chunks WHERE doc_id IN ({hidden})"
    (less,) = connection.execute(f"{ready} AND r.chunk_key IN ({unseen})", row).fetchone()
    return int(count - less)


def _last_text(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT max(seq) FROM index_log WHERE projection = 'text'").fetchone()
    return int(row[0] or 0)


def _last_vector(connection: sqlite3.Connection, fingerprint: str | None) -> int:
    """Return the last position that concerns this model; what other models did moves none of its indexes."""
    row = connection.execute(
        "SELECT seq FROM index_log WHERE projection = 'vector' AND (model_key IS NULL"
        " OR model_key = (SELECT model_key FROM embedding_models WHERE fingerprint = ?)) ORDER BY seq DESC LIMIT 1",
        (fingerprint,),
    ).fetchone()
    return int(row[0]) if row else 0


def _conditions(filters: SearchFilters) -> tuple[str, list[Any]]:
    """Return the SQL for `filters` on items i and documents d, and its values."""
    conditions: list[str] = []
    values: list[Any] = []
    if filters.tags_any:
        marks = ",".join("?" * len(filters.tags_any))
        conditions.append(f"d.doc_id IN (SELECT doc_id FROM document_tags WHERE tag IN ({marks}))")
        values += filters.tags_any
    if filters.lang is not None:
        # `zh` is also `zh-Hans` and `zh-Hant`, as RFC 4647 section 3.3.1 matches language ranges.
        conditions.append("(d.lang = ? OR substr(d.lang, 1, ?) = ?)")
        values += (filters.lang, len(filters.lang) + 1, f"{filters.lang}-")
    if filters.path_glob is not None:
        conditions.append("path_matches(?, i.workspace_path)")
        values.append(filters.path_glob)
    if filters.trust_min is not None:
        conditions.append("d.trust_rank >= ?")
        values.append(filters.trust_min.rank)
    if filters.source_types:
        formats = formats_of(filters.source_types)
        # As `kinds_of` has it: a source type of `markdown` only says that nothing better is known.
        named = f"d.source_type IN ({','.join('?' * len(filters.source_types))}) AND d.source_type <> 'markdown'"
        conditions.append(f"({named} OR d.media_type IN ({','.join('?' * len(formats))}))")
        values += (*filters.source_types, *formats)
    if filters.items:
        conditions.append("i.item_id IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(filters.items))
    if filters.changed_from is not None:
        # Times are kept with their zone in front of nothing else: their first ten letters are the day.
        conditions.append("substr(d.updated_at, 1, 10) >= ?")
        values.append(filters.changed_from.isoformat())
    if filters.changed_to is not None:
        conditions.append("substr(d.updated_at, 1, 10) <= ?")
        values.append(filters.changed_to.isoformat())
    return "".join(f" AND {condition}" for condition in conditions), values


def _parts(keys: Sequence[ChunkKey], size: int = 500) -> list[Sequence[ChunkKey]]:
    return [keys[start : start + size] for start in range(0, len(keys), size)]
