"""Index work inside a transaction: entries put on the log, and entries withdrawn from it."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache

from kb.adapters.sqlite.gate import INDEXED_AS
from kb.adapters.sqlite.json_text import now_text
from kb.domain.embeddings import ChunkKey, EmbeddingModel

_INDEXABLE = (
    "EXISTS (SELECT 1 FROM document_versions v JOIN items i ON i.item_id = v.item_id"
    " WHERE v.doc_id = ? AND v.state IN ('indexing','ready') AND i.deleted_at IS NULL)"
)
_STRAY = (
    "SELECT c.chunk_key, coalesce(max(r.state <> 'pending'), 0)"
    " FROM chunks c JOIN embedding_records r ON r.chunk_key = c.chunk_key"
    f" WHERE c.doc_id = ? AND {INDEXED_AS} IS NULL GROUP BY c.chunk_key"
)

_INDEXED = (
    f"SELECT c.chunk_key, {INDEXED_AS} AS path, d.title, d.lang, d.trust_rank, d.source_type, d.media_type,"
    " (SELECT group_concat(tag, char(0)) FROM (SELECT tag FROM document_tags t WHERE t.doc_id = d.doc_id ORDER BY tag))"
    " FROM chunks c JOIN documents d ON d.doc_id = c.doc_id"
    " WHERE c.doc_id = ? AND c.role <> 'parent' AND path IS NOT NULL ORDER BY c.chunk_key"
)


def indexed(connection: sqlite3.Connection, doc_id: str) -> list[tuple[object, ...]]:
    """Return what may change of the entries the text index holds of a document, or will when it has caught up."""
    return connection.execute(_INDEXED, (doc_id,)).fetchall()


def is_indexable(connection: sqlite3.Connection, doc_id: str) -> bool:
    """Return whether indexes hold a document: it is shown, or waits to be."""
    (indexable,) = connection.execute(f"SELECT {_INDEXABLE}", (doc_id,)).fetchone()
    return bool(indexable)


def log_text(connection: sqlite3.Connection, op: str, doc_ids: Iterable[str]) -> None:
    """Put changes of whole documents on the log; `op` is add or remove."""
    connection.executemany(
        "INSERT INTO index_log (projection, op, doc_id) VALUES ('text', ?, ?)", ((op, doc_id) for doc_id in doc_ids)
    )


def withdraw(connection: sqlite3.Connection, doc_ids: Iterable[str]) -> None:
    """Log the removal of what these documents no longer show; their embedding records go.

    A document that is still in use elsewhere, or with other chunks, is removed and added again.
    """
    for doc_id in dict.fromkeys(doc_ids):
        log_text(connection, "remove", (doc_id,))
        if is_indexable(connection, doc_id):
            log_text(connection, "add", (doc_id,))
        stray = connection.execute(_STRAY, (doc_id,)).fetchall()
        connection.executemany(
            "INSERT INTO index_log (projection, op, chunk_key) VALUES ('vector', 'remove', ?)",
            ((key,) for key, indexed in stray if indexed),
        )
        connection.executemany("DELETE FROM embedding_records WHERE chunk_key = ?", ((key,) for key, _ in stray))


def mark_written(connection: sqlite3.Connection, model_key: int, keys: Sequence[ChunkKey]) -> None:
    """Log the vectors of these chunks and mark their records `written`."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'index_log'").fetchone()
    first = (row[0] if row else 0) + 1
    connection.executemany(
        "INSERT INTO index_log (seq, projection, op, chunk_key, model_key) VALUES (?, 'vector', 'add', ?, ?)",
        ((seq, key, model_key) for seq, key in enumerate(keys, first)),
    )
    connection.executemany(
        "UPDATE embedding_records SET state = 'written', log_seq = ? WHERE chunk_key = ? AND model_key = ?",
        ((seq, key, model_key) for seq, key in enumerate(keys, first)),
    )


def model_key(connection: sqlite3.Connection, model: EmbeddingModel) -> int:
    """Return the row of a model, made when it is new."""
    fingerprint = _fingerprint(model)
    row = connection.execute("SELECT model_key FROM embedding_models WHERE fingerprint = ?", (fingerprint,)).fetchone()
    if row is None:
        row = connection.execute(
            "INSERT INTO embedding_models (fingerprint, model_id, model_version, provider, dimensions, created_at)"
            " VALUES (?,?,?,?,?,?) RETURNING model_key",
            (fingerprint, model.id, model.version, model.provider, model.dimensions, now_text()),
        ).fetchone()
    return int(row[0])


@lru_cache(maxsize=8)
def _fingerprint(model: EmbeddingModel) -> str:
    # Asked once a document: the canonical JSON and its hash would cost more than the row.
    return model.fingerprint()
