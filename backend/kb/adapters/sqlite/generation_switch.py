"""The switch: in one transaction every item shows another generation, and the one before can be gone back to."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import sqlite3

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.gate import INDEXED_AS, SERVING
from kb.adapters.sqlite.generation_build import OUTDATED
from kb.adapters.sqlite.generations import ACTIVE_VERSION, let_go
from kb.adapters.sqlite.json_text import now_text
from kb.adapters.sqlite.withdrawal import model_key
from kb.domain.embeddings import EmbeddingModel
from kb.domain.failures import StorageFailed
from kb.domain.generations import GenerationId

_LIVE = "i.deleted_at IS NULL AND i.active_doc_id IS NOT NULL"
_REMEMBER = f"""
INSERT OR REPLACE INTO generation_documents
SELECT {SERVING}, i.item_id, (SELECT a.checksum FROM documents d JOIN assets a ON a.asset_id = d.asset_id
  WHERE d.doc_id = v.doc_id), v.doc_id, v.chunking_key, v.chunk_count, i.fingerprint
FROM items i CROSS JOIN document_versions v ON {ACTIVE_VERSION} WHERE i.deleted_at IS NULL
"""
# A version that was not activated yet belongs to what is left: its file is read again.
_READ_AGAIN = """
UPDATE items SET fingerprint = NULL WHERE item_id IN (SELECT item_id FROM document_versions WHERE state = 'indexing')
"""
_NOT_ACTIVATED = "UPDATE document_versions SET state = 'superseded', superseded_at = ? WHERE state = 'indexing'"
_SUPERSEDE = f"""
UPDATE document_versions SET state = 'superseded', superseded_at = ?1 WHERE state = 'ready' AND EXISTS (
  SELECT 1 FROM items i JOIN generation_documents g ON g.generation_id = ?2 AND g.item_id = i.item_id
  WHERE i.item_id = document_versions.item_id AND {_LIVE}
  AND (g.doc_id <> document_versions.doc_id OR g.chunking_key <> document_versions.chunking_key))
"""
_SHOW = f"""
INSERT INTO document_versions
  (item_id, number, doc_id, state, chunking_key, chunk_count, created_at, generation_id, activated_at)
SELECT g.item_id, (SELECT max(number) + 1 FROM document_versions n WHERE n.item_id = g.item_id), g.doc_id, 'ready',
  g.chunking_key, g.chunk_count, ?1, ?2, ?1
FROM generation_documents g JOIN items i ON i.item_id = g.item_id
WHERE g.generation_id = ?2 AND {_LIVE} AND NOT EXISTS (
  SELECT 1 FROM document_versions v WHERE v.item_id = g.item_id AND v.state = 'ready')
"""
_POINT = f"""
UPDATE items AS i SET fingerprint = g.fingerprint, active_doc_id = g.doc_id, updated_at = ?1
FROM generation_documents g WHERE g.generation_id = ?2 AND g.item_id = i.item_id AND {_LIVE}
AND (i.active_doc_id <> g.doc_id OR i.fingerprint IS NOT g.fingerprint)
"""
_RECORDS = f"""
INSERT INTO embedding_records (model_key, chunk_key, state, char_count, text_hash)
SELECT ?1, c.chunk_key, CASE WHEN EXISTS (SELECT 1 FROM vectors x WHERE x.model_key = ?1 AND x.text_hash = c.text_hash)
  THEN 'committed' ELSE 'pending' END, c.char_count, c.text_hash
FROM chunks c WHERE c.role <> 'parent' AND {INDEXED_AS} IS NOT NULL
"""


class SqliteGenerationSwitch:
    """Wraps the library file: which generation serves."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def switch(self, target: GenerationId, model: EmbeddingModel | None) -> None:
        """Serve `target`, whose model is `model`; the serving one is retired, an earlier retired one is let go of.

        Nothing goes on the index log: the indexes of `target` hold all this already, at the position they were made.

        Raises:
            StorageFailed: the generation lacks what an item shows now; nothing is changed.
        """
        now = now_text()
        with self._library.transaction() as connection:
            (lacking,) = connection.execute(f"SELECT count(*) {OUTDATED}", (target,)).fetchone()
            if lacking:
                raise StorageFailed(
                    f"generation {target} lacks {lacking} documents that changed meanwhile",
                    hint="run `kb index switch` again: it is brought up to date first",
                )
            self._move(connection, target, now)
            _renew_records(connection, model)

    def _move(self, connection: sqlite3.Connection, target: GenerationId, now: str) -> None:
        connection.execute(f"DELETE FROM generation_documents WHERE generation_id = {SERVING}")
        connection.execute(_REMEMBER)
        connection.execute(_SUPERSEDE, (now, target))
        connection.execute("UPDATE document_versions SET generation_id = ? WHERE state = 'ready'", (target,))
        connection.execute(_SHOW, (now, target))
        connection.execute(_POINT, (now, target))
        connection.execute(_READ_AGAIN)
        connection.execute(_NOT_ACTIVATED, (now,))
        # From now on versions say what it shows: these rows would keep from being purged what is shown no more.
        connection.execute("DELETE FROM generation_documents WHERE generation_id = ?", (target,))
        earlier = connection.execute(
            "SELECT generation_id FROM generations WHERE state = 'retired' AND generation_id <> ?", (target,)
        ).fetchall()
        for (generation,) in earlier:
            let_go(connection, generation)
        connection.execute("UPDATE generations SET state = 'retired', ready_at = ? WHERE state = 'serving'", (now,))
        connection.execute(
            "UPDATE generations SET state = 'serving', switched_at = ? WHERE generation_id = ?", (now, target)
        )


def _renew_records(connection: sqlite3.Connection, model: EmbeddingModel | None) -> None:
    """Let the records say what the serving model has a vector for; vectors of other models stay, to go back to."""
    connection.execute("DELETE FROM embedding_records")
    connection.execute("UPDATE embedding_models SET enrolled_through = 0")
    if model is None:
        return
    key = model_key(connection, model)
    connection.execute(_RECORDS, (key,))
    connection.execute(
        "UPDATE embedding_models SET enrolled_through = (SELECT coalesce(max(chunk_key), 0) FROM chunks)"
        " WHERE model_key = ?",
        (key,),
    )
