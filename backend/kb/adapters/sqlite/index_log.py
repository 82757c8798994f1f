"""The index log: what projections have to do, worked out against the library as it is now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from kb.adapters.sqlite.connection import Connection, Library
from kb.adapters.sqlite.float16 import unpack
from kb.adapters.sqlite.gate import INDEXED_AS
from kb.adapters.sqlite.snapshots import (
    entry_from,
    entry_sql,
    is_sound_row,
    known_model_key,
    text_snapshot_of,
    vector_snapshot_of,
)
from kb.adapters.sqlite.vectors import set_back
from kb.domain.embeddings import ChunkKey, EmbeddingModel
from kb.domain.failures import StorageFailed
from kb.domain.index import TextChanges, TextEntry, TextSnapshot, VectorChanges, VectorRow, VectorSnapshot
from kb.domain.recipes import DocumentId

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
            key = known_model_key(view, model)
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
        return text_snapshot_of(self._library, _ENTRY)

    def vector_snapshot(self, model: EmbeddingModel) -> VectorSnapshot:
        """Return all vectors a vector index should hold; damaged ones are left out."""
        return vector_snapshot_of(self._library, model, _VECTORS)

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


def _require_reach(view: Connection, projection: str, after: int) -> None:
    row = view.execute("SELECT value FROM schema_meta WHERE key = ?", (f"{projection}_log_trimmed",)).fetchone()
    newest = view.execute("SELECT seq FROM sqlite_sequence WHERE name = 'index_log'").fetchone()
    if after < (int(row[0]) if row else 0) or after > (newest[0] if newest else 0):
        raise StorageFailed(
            f"the {projection} index does not belong to this state of the library",
            hint="run `kb index rebuild`",
        )


def _parts(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), _BATCH):
        yield values[start : start + _BATCH]
