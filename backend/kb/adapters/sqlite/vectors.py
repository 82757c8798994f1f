"""Vectors: kept once per text and model, whatever chunks have that text."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.float16 import pack
from kb.adapters.sqlite.gate import INDEXED_AS
from kb.adapters.sqlite.json_text import now_text
from kb.adapters.sqlite.withdrawal import mark_written, model_key
from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.failures import StorageFailed
from kb.domain.recipes import DocumentId
from kb.ingest.library_ports import PendingText

_ENROL = f"""
INSERT OR IGNORE INTO embedding_records (model_key, chunk_key, state, char_count, text_hash)
SELECT ?, c.chunk_key, 'pending', c.char_count, c.text_hash FROM chunks c
WHERE c.chunk_key > ? AND c.role <> 'parent' AND {INDEXED_AS} IS NOT NULL
"""
_KNOWN = """
SELECT r.chunk_key FROM embedding_records r JOIN vectors v ON v.text_hash = r.text_hash AND v.model_key = r.model_key
WHERE r.model_key = ? AND r.state = 'pending' ORDER BY r.chunk_key
"""
_PENDING = """
SELECT r.text_hash, c.text FROM (
  SELECT char_count, text_hash, min(chunk_key) AS chunk_key
  FROM embedding_records INDEXED BY embedding_records_pending
  WHERE model_key = (SELECT model_key FROM embedding_models WHERE fingerprint = ?) AND state = 'pending'
  GROUP BY char_count, text_hash ORDER BY char_count, text_hash LIMIT ?) r
JOIN chunks c ON c.chunk_key = r.chunk_key ORDER BY r.char_count, r.text_hash
"""
# A few documents go first, whatever waits beside them: found by the document, never by going through what waits.
_OF_DOCUMENTS = """
FROM embedding_records r JOIN chunks c ON c.chunk_key = r.chunk_key
WHERE r.model_key = (SELECT model_key FROM embedding_models WHERE fingerprint = ?) AND r.state = 'pending'
  AND r.chunk_key IN (SELECT k.chunk_key FROM chunks k WHERE k.doc_id IN (SELECT value FROM json_each(?)))
"""
_PENDING_OF = f"""
SELECT text_hash, text FROM (SELECT r.text_hash, min(c.text) AS text, r.char_count {_OF_DOCUMENTS}
GROUP BY r.char_count, r.text_hash) ORDER BY char_count, text_hash LIMIT ?
"""
_KNOWN_OF = f"""
SELECT r.chunk_key {_OF_DOCUMENTS} AND EXISTS (
  SELECT 1 FROM vectors v WHERE v.text_hash = r.text_hash AND v.model_key = r.model_key) ORDER BY r.chunk_key
"""
_WAITING = """
SELECT chunk_key FROM embedding_records INDEXED BY embedding_records_pending
WHERE model_key = ? AND state = 'pending' AND char_count = ? AND text_hash = ? ORDER BY chunk_key
"""
_DAMAGED_TOTAL = "vectors_damaged"


class SqliteVectorStore:
    """Wraps the library file: vectors and the state of each chunk's embedding."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def adopt(self, model: EmbeddingModel, doc_ids: Sequence[DocumentId] | None = None) -> int:
        """Give pending records, or only those of some documents, the vector their text already has; return how many.

        Chunks that were staged without this model get their record here.
        """
        with self._library.transaction() as connection:
            key = model_key(connection, model)
            _enrol(connection, key)
            asked = (
                (_KNOWN, (key,)) if doc_ids is None else (_KNOWN_OF, (model.fingerprint(), json.dumps(list(doc_ids))))
            )
            known = [ChunkKey(chunk) for (chunk,) in connection.execute(*asked)]
            mark_written(connection, key, known)
            return len(known)

    def pending(
        self, model: EmbeddingModel, limit: int, doc_ids: Sequence[DocumentId] | None = None
    ) -> Sequence[PendingText]:
        """Return texts without a vector, each once, shortest first; `doc_ids` asks for those of some documents only."""
        if doc_ids is None:
            rows = self._library.rows(_PENDING, (model.fingerprint(), limit))
        else:
            rows = self._library.rows(_PENDING_OF, (model.fingerprint(), json.dumps(list(doc_ids)), limit))
        return [PendingText(text_hash.hex(), text) for text_hash, text in rows]

    def save(self, model: EmbeddingModel, vectors: Sequence[tuple[PendingText, Vector]]) -> None:
        """Store vectors, mark their records `written` and log them, in one transaction.

        Raises:
            StorageFailed: a vector has not the dimensions of the model; nothing is stored.
        """
        now = now_text()
        with self._library.transaction() as connection:
            key = model_key(connection, model)
            written: list[ChunkKey] = []
            for pending, vector in vectors:
                if len(vector) != 4 * model.dimensions:
                    raise StorageFailed(
                        f"a vector of {len(vector) // 4} dimensions came from a model of {model.dimensions}",
                        hint="the embedding model's files do not fit its settings; run `kb doctor`",
                    )
                text_hash = bytes.fromhex(pending.text_hash)
                blob, checksum = pack(vector)
                connection.execute(
                    "INSERT OR REPLACE INTO vectors (model_key, text_hash, dimensions, vector, checksum, created_at)"
                    " VALUES (?,?,?,?,?,?)",
                    (key, text_hash, model.dimensions, blob, checksum, now),
                )
                waiting = connection.execute(_WAITING, (key, len(pending.text), text_hash))
                written += [chunk for (chunk,) in waiting]
            mark_written(connection, key, written)

    def commit_through(self, model: EmbeddingModel, position: int) -> None:
        """Mark records `committed` whose log entry every vector index has applied."""
        with self._library.transaction() as connection:
            connection.execute(
                "UPDATE embedding_records SET state = 'committed', log_seq = NULL"
                " WHERE model_key = ? AND state = 'written' AND log_seq <= ?",
                (model_key(connection, model), position),
            )


def set_back(library: Library, key: int, text_hashes: Iterable[bytes]) -> None:
    """Drop damaged vectors and make their texts pending again; they are counted for `kb doctor`."""
    damaged = set(text_hashes)
    if not damaged:
        return
    with library.transaction() as connection:
        for text_hash in damaged:
            connection.execute("DELETE FROM vectors WHERE model_key = ? AND text_hash = ?", (key, text_hash))
        # Damage is rare: a scan here costs less than an index on every record ever written.
        records = connection.execute(
            "SELECT chunk_key, text_hash FROM embedding_records WHERE model_key = ? AND state <> 'pending'", (key,)
        )
        chunks = [(chunk,) for chunk, text_hash in records if text_hash in damaged]
        connection.executemany(
            "UPDATE embedding_records SET state = 'pending', log_seq = NULL"
            f" WHERE chunk_key = ? AND model_key = {int(key)}",
            chunks,
        )
        connection.executemany(
            "INSERT INTO index_log (projection, op, chunk_key) VALUES ('vector', 'remove', ?)", chunks
        )
        connection.execute(
            "INSERT INTO schema_meta (key, value) VALUES (?, ?)"
            " ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + excluded.value",
            (_DAMAGED_TOTAL, str(len(damaged))),
        )


def _enrol(connection: sqlite3.Connection, key: int) -> None:
    (through,) = connection.execute(
        "SELECT enrolled_through FROM embedding_models WHERE model_key = ?", (key,)
    ).fetchone()
    (last,) = connection.execute("SELECT coalesce(max(chunk_key), 0) FROM chunks").fetchone()
    if last > through:
        connection.execute(_ENROL, (key, through))
        connection.execute("UPDATE embedding_models SET enrolled_through = ? WHERE model_key = ?", (last, key))
