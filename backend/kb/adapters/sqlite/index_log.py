"""The index log: what projections have to do, worked out against the library as it is now."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from kb.adapters.sqlite.connection import Connection, Library, Row
from kb.adapters.sqlite.failures import translated
from kb.adapters.sqlite.float16 import is_sound, unpack
from kb.adapters.sqlite.gate import INDEXED_AS
from kb.adapters.sqlite.vectors import set_back
from kb.domain.embeddings import ChunkKey, EmbeddingModel
from kb.domain.failures import StorageFailed
from kb.domain.index import TextChanges, TextEntry, TextSnapshot, VectorChanges, VectorRow, VectorSnapshot
from kb.domain.metadata import kinds_of
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId


def entry_sql(indexed_as: str) -> str:
    """Return the query whose rows `entry_from` reads; `indexed_as` gives the path of a chunk c, NULL leaves it out."""
    return f"""
SELECT c.chunk_key, c.doc_id, {indexed_as} AS path, c.text, d.title, c.heading_path_json, d.lang, d.trust_rank,
  d.source_type, d.media_type, (SELECT json_group_array(tag) FROM document_tags t WHERE t.doc_id = c.doc_id)
FROM chunks c JOIN documents d ON d.doc_id = c.doc_id WHERE c.role <> 'parent' AND path IS NOT NULL
"""


_ENTRY = entry_sql(INDEXED_AS)
_VECTORS = """
SELECT r.chunk_key, r.text_hash, v.vector, v.checksum, v.dimensions
FROM embedding_records r LEFT JOIN vectors v ON v.text_hash = r.text_hash AND v.model_key = r.model_key
WHERE r.model_key = ? AND r.state <> 'pending'
"""
_BATCH = 500


class SqliteIndexLog:
    """Wraps the library file: the ordered log of index work.

    Args:
        library: the file.
        most_held: of more entries than these none is held in memory.
    """

    def __init__(self, library: Library, *, most_held: int = 5_000) -> None:
        self._library = library
        self._most_held = most_held

    def text_changes(self, after: int, limit: int) -> TextChanges | None:
        """Return the next changes after a position, None when there are none.

        Documents being staged are among them: an index holds a document before it is shown.

        Raises:
            StorageFailed: the log no longer reaches back to `after`; the index must be rebuilt.
        """
        with self._library.view() as view:
            _require_reach(view, "text", after)
            rows = view.execute(
                "SELECT seq, op, doc_id FROM index_log WHERE projection = 'text' AND seq > ? ORDER BY seq LIMIT ?",
                (after, limit),
            ).fetchall()
            if not rows:
                return None
            remove = dict.fromkeys(doc_id for _, op, doc_id in rows if op == "remove")
            doc_ids = tuple(dict.fromkeys(doc_id for _, _, doc_id in rows))
            entries = tuple(islice(_entries(view, doc_ids), self._most_held + 1))
            add = entries if len(entries) <= self._most_held else _Entries(self._library, doc_ids)
            return TextChanges(rows[-1][0], tuple(map(DocumentId, remove)), add)

    def vector_changes(self, model: EmbeddingModel, after: int, limit: int) -> VectorChanges | None:
        """Return the next vector changes after a position, None when there are none.

        Raises:
            StorageFailed: the log no longer reaches back to `after`; the index must be rebuilt.
        """
        damaged: list[bytes] = []
        with self._library.view() as view:
            _require_reach(view, "vector", after)
            key = _model_key(view, model)
            rows = view.execute(
                "SELECT seq, op, chunk_key FROM index_log WHERE projection = 'vector' AND seq > ?"
                " AND (model_key IS NULL OR model_key = ?) ORDER BY seq LIMIT ?",
                (after, key, limit),
            ).fetchall()
            if not rows:
                return None
            remove = tuple(ChunkKey(k) for k in dict.fromkeys(k for _, op, k in rows if op == "remove"))
            added = sorted({k for _, op, k in rows if op == "add"})
            vectors: list[VectorRow] = []
            for part in _parts(added):
                marks = ",".join("?" * len(part))
                found = view.execute(f"{_VECTORS} AND r.chunk_key IN ({marks}) ORDER BY r.chunk_key", (key, *part))
                for row in found:
                    if is_sound_row(row):
                        vectors.append(VectorRow(ChunkKey(row[0]), unpack(row[2])))
                    else:
                        damaged.append(row[1])
        set_back(self._library, key, damaged)
        return VectorChanges(rows[-1][0], remove, tuple(vectors))

    def text_snapshot(self) -> TextSnapshot:
        """Return all entries the text index should hold."""
        view = self._library.open_view()
        position = last_position(view, "text")

        def entries() -> Iterator[TextEntry]:
            try:
                with translated():
                    yield from map(entry_from, view.execute(f"{_ENTRY} ORDER BY c.chunk_key"))
            finally:
                view.close()

        return TextSnapshot(position, entries())

    def vector_snapshot(self, model: EmbeddingModel) -> VectorSnapshot:
        """Return all vectors a vector index should hold; damaged ones are left out."""
        view = self._library.open_view()
        position = last_position(view, "vector")
        key = _model_key(view, model)
        damaged: list[bytes] = []
        count = 0
        with translated():
            for row in view.execute(_VECTORS, (key,)):
                if is_sound_row(row):
                    count += 1
                else:
                    damaged.append(row[1])

        def rows() -> Iterator[VectorRow]:
            try:
                with translated():
                    for row in view.execute(f"{_VECTORS} ORDER BY r.chunk_key", (key,)):
                        if is_sound_row(row):
                            yield VectorRow(ChunkKey(row[0]), unpack(row[2]))
            finally:
                view.close()

        set_back(self._library, key, damaged)
        return VectorSnapshot(position, count, rows())

    def trim(self, text_position: int, vector_position: int) -> None:
        """Forget entries every index has applied; the newest of each kind stays, as the mark to compare with."""
        with self._library.transaction() as connection:
            for projection, position in (("text", text_position), ("vector", vector_position)):
                (last,) = connection.execute(
                    "SELECT max(seq) FROM index_log WHERE projection = ?1 AND seq <= ?2"
                    " AND seq < (SELECT max(seq) FROM index_log WHERE projection = ?1)",
                    (projection, position),
                ).fetchone()
                if last is None:
                    continue
                connection.execute("DELETE FROM index_log WHERE projection = ? AND seq <= ?", (projection, last))
                connection.execute(
                    "INSERT OR REPLACE INTO schema_meta (key, value) VALUES (?, ?)",
                    (f"{projection}_log_trimmed", str(last)),
                )


class _Entries:
    """The entries of documents as they are whenever one looks; what changes meanwhile is on the log, further on."""

    def __init__(self, library: Library, doc_ids: Sequence[str]) -> None:
        self._library = library
        self._doc_ids = doc_ids

    def __iter__(self) -> Iterator[TextEntry]:
        with self._library.view() as view:
            yield from _entries(view, self._doc_ids)


def _entries(view: Connection, doc_ids: Sequence[str]) -> Iterator[TextEntry]:
    for part in _parts(doc_ids):
        marks = ",".join("?" * len(part))
        yield from map(entry_from, view.execute(f"{_ENTRY} AND c.doc_id IN ({marks}) ORDER BY c.chunk_key", part))


def entry_from(row: Row) -> TextEntry:
    """Read a row of `entry_sql`."""
    headings = [row[4], *json.loads(row[5])]
    return TextEntry(
        key=ChunkKey(row[0]),
        doc_id=DocumentId(row[1]),
        path=WorkspacePath(row[2]),
        text=row[3],
        # A document's title is most often its first heading: once is enough.
        heading=" ".join(dict.fromkeys(headings)),
        lang=row[6],
        tags=tuple(json.loads(row[10])),
        trust_rank=row[7],
        kinds=kinds_of(row[8], row[9]),
    )


def is_sound_row(row: Row) -> bool:
    """Return whether the vector of a row (key, hash, blob, checksum, dimensions) is as it was written."""
    _, _, blob, checksum, dimensions = row
    return blob is not None and is_sound(blob, checksum, dimensions)


def _require_reach(view: Connection, projection: str, after: int) -> None:
    row = view.execute("SELECT value FROM schema_meta WHERE key = ?", (f"{projection}_log_trimmed",)).fetchone()
    newest = view.execute("SELECT seq FROM sqlite_sequence WHERE name = 'index_log'").fetchone()
    if after < (int(row[0]) if row else 0) or after > (newest[0] if newest else 0):
        raise StorageFailed(
            f"the {projection} index does not belong to this state of the library",
            hint="run `kb index rebuild`",
        )


def last_position(view: Connection, projection: str) -> int:
    """Return the newest position of a log, `text` or `vector`."""
    row = view.execute("SELECT max(seq) FROM index_log WHERE projection = ?", (projection,)).fetchone()
    return int(row[0] or 0)


def _model_key(view: Connection, model: EmbeddingModel) -> int:
    row = view.execute("SELECT model_key FROM embedding_models WHERE fingerprint = ?", (model.fingerprint(),))
    found = row.fetchone()
    return int(found[0]) if found else 0


def _parts(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), _BATCH):
        yield values[start : start + _BATCH]
