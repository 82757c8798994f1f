"""What keeping a library sound asks of its file: what projections should hold, what is unfinished, what is damaged."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.float16 import is_sound, unpack
from kb.adapters.sqlite.gate import INDEXED_AS
from kb.adapters.sqlite.vectors import set_back
from kb.domain.embeddings import ChunkKey, EmbeddingModel
from kb.domain.health import DamagedVectors, HeldKeys, StoredVector, UnfinishedWork
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId

_LAST = "SELECT coalesce(max(seq), 0) FROM index_log WHERE projection = ?"
_TEXT_KEYS = f"SELECT c.chunk_key FROM chunks c WHERE c.role <> 'parent' AND {INDEXED_AS} IS NOT NULL"
_OF_MODEL = "r.model_key = (SELECT model_key FROM embedding_models WHERE fingerprint = ?) AND r.state <> 'pending'"
_VECTOR_KEYS = f"""
SELECT r.chunk_key FROM embedding_records r
JOIN vectors v ON v.text_hash = r.text_hash AND v.model_key = r.model_key WHERE {_OF_MODEL}
"""
_SAMPLE = f"""
SELECT r.chunk_key, v.vector, v.checksum, v.dimensions FROM embedding_records r
JOIN vectors v ON v.text_hash = r.text_hash AND v.model_key = r.model_key
WHERE {_OF_MODEL} ORDER BY r.text_hash LIMIT ?
"""
_LOST = """
SELECT DISTINCT r.model_key, r.text_hash FROM embedding_records r WHERE r.state <> 'pending' AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.text_hash = r.text_hash AND v.model_key = r.model_key)
"""
_UNFINISHED = """
SELECT (SELECT count(*) FROM document_versions WHERE state = 'indexing'),
  (SELECT count(*) FROM embedding_records WHERE state = 'pending'),
  (SELECT count(*) FROM removals), (SELECT count(*) FROM jobs WHERE dead = 1)
"""
# Of a PDF with words their places are kept, and of a recording what was said, in files.
_WITH_ARTIFACTS = """
SELECT DISTINCT d.doc_id FROM items i JOIN documents d ON d.doc_id = i.active_doc_id
WHERE i.deleted_at IS NULL AND d.media_type IN ('pdf', 'audio', 'video')
  AND EXISTS (SELECT 1 FROM chunks c WHERE c.doc_id = d.doc_id)
"""


class SqliteUpkeep:
    """Wraps the library file: what `kb doctor` compares with, and what it mends there."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def text_keys(self) -> HeldKeys:
        """Return what the text index should hold."""
        with self._library.view() as view:
            (last,) = view.execute(_LAST, ("text",)).fetchone()
            return HeldKeys(last, frozenset(ChunkKey(key) for (key,) in view.execute(_TEXT_KEYS)))

    def vector_keys(self, model: EmbeddingModel) -> HeldKeys:
        """Return what every vector index of a model should hold."""
        with self._library.view() as view:
            (last,) = view.execute(_LAST, ("vector",)).fetchone()
            keys = view.execute(_VECTOR_KEYS, (model.fingerprint(),))
            return HeldKeys(last, frozenset(ChunkKey(key) for (key,) in keys))

    def some_vectors(self, model: EmbeddingModel, count: int) -> Sequence[StoredVector]:
        """Return up to `count` sound vectors, always the same of the same library."""
        rows = self._library.rows(_SAMPLE, (model.fingerprint(), count))
        return [StoredVector(ChunkKey(key), unpack(blob)) for key, blob, *check in rows if is_sound(blob, *check)]

    def damaged_vectors(self) -> DamagedVectors:
        """Read every stored vector of every model, and count those that are damaged or gone."""
        looked_at, damaged = self._damaged()
        return DamagedVectors(looked_at, len(damaged))

    def drop_damaged_vectors(self) -> int:
        """Make the texts of damaged and lost vectors pending again; return how many texts."""
        _, damaged = self._damaged()
        for key in {key for key, _ in damaged}:
            set_back(self._library, key, [text_hash for of, text_hash in damaged if of == key])
        return len(damaged)

    def unfinished(self) -> UnfinishedWork:
        """Return what is still to be done."""
        row = self._library.row(_UNFINISHED)
        return UnfinishedWork(*row) if row else UnfinishedWork(0, 0, 0, 0)

    def copies(self) -> frozenset[str]:
        """Return the storage paths of all copies of originals the library names."""
        rows = self._library.rows("SELECT storage_path FROM assets WHERE storage_kind = 'copied'")
        return frozenset(str(path) for (path,) in rows)

    def with_artifacts(self) -> Sequence[DocumentId]:
        """Return the shown documents that have artifacts by their nature."""
        return [DocumentId(doc_id) for (doc_id,) in self._library.rows(_WITH_ARTIFACTS)]

    def read_again(self, doc_ids: Iterable[DocumentId]) -> Sequence[WorkspacePath]:
        """Let the next ingest read the files of shown documents again; return their paths."""
        paths: list[WorkspacePath] = []
        with self._library.transaction() as connection:
            for doc_id in doc_ids:
                rows = connection.execute(
                    "UPDATE items SET fingerprint = NULL WHERE active_doc_id = ? AND deleted_at IS NULL"
                    " RETURNING workspace_path",
                    (doc_id,),
                ).fetchall()
                paths += [WorkspacePath(path) for (path,) in rows]
        return paths

    def _damaged(self) -> tuple[int, set[tuple[int, bytes]]]:
        looked_at = 0
        damaged: set[tuple[int, bytes]] = set()
        with self._library.view() as view:
            for key, text_hash, *vector in view.execute(
                "SELECT model_key, text_hash, vector, checksum, dimensions FROM vectors"
            ):
                looked_at += 1
                if not is_sound(*vector):
                    damaged.add((key, text_hash))
            damaged.update((key, text_hash) for key, text_hash in view.execute(_LOST))
        return looked_at, damaged
