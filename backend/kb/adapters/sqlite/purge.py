"""Letting go of versions: declared first, removed in slices, and what lies on disk through an outbox.

A version that is let go of is `purging` from one commit on: nothing shows, opens or uses it any more. Its rows then go
in transactions of bounded size, so that searches and answers go on; with the last of them it is `purged`, and what it
had on disk stands in `removals`. A kill anywhere leaves work that the next purge goes on with.
"""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from kb.adapters.sqlite.connection import Connection, Library
from kb.adapters.sqlite.json_text import now_text
from kb.adapters.sqlite.layering import render
from kb.domain.versions import Purged

T = TypeVar("T")

SLICE = 300
"""Rows a transaction may remove, so that whoever else wants to write waits a moment only."""

_MOMENT_S = 0.002
PINNED_BY_ANSWER = "EXISTS (SELECT 1 FROM answer_sources a WHERE a.doc_id = v.doc_id)"
PINNED_BY_GENERATION = "EXISTS (SELECT 1 FROM generation_documents g WHERE g.doc_id = v.doc_id)"
RECENT = "age <= CASE WHEN deleted_at IS NULL THEN ?1 WHEN deleted_at > ?2 THEN max(?1, 1) ELSE 0 END"
"""Among the newest superseded ones (?1 of each item); of a file that is gone since ?2 at least the last one."""

_SUPERSEDED = """
SELECT v.item_id, v.number, v.doc_id, i.deleted_at,
  row_number() OVER (PARTITION BY v.item_id ORDER BY v.number DESC) AS age
FROM document_versions v JOIN items i ON i.item_id = v.item_id WHERE v.state = 'superseded'
"""
_EXPENDABLE = f"""
SELECT item_id, number, doc_id FROM ({_SUPERSEDED}) v
WHERE NOT ({RECENT}) AND NOT {PINNED_BY_ANSWER} AND (deleted_at <= ?2 OR NOT {PINNED_BY_GENERATION})
"""
_NEEDED = "v.doc_id = {doc} AND v.state NOT IN ('purging','purged')"
_NEEDED_CHUNK = (
    f"EXISTS (SELECT 1 FROM document_versions v WHERE {_NEEDED.format(doc='c.doc_id')}"
    " AND v.chunking_key = c.chunking_key) OR EXISTS (SELECT 1 FROM generation_documents g"
    " WHERE g.doc_id = c.doc_id AND g.chunking_key = c.chunking_key)"
)
_STRAY_CHUNKS = f"SELECT c.chunk_key FROM chunks c WHERE c.doc_id = ? AND NOT ({_NEEDED_CHUNK}) LIMIT ?"
_NEEDED_DOCUMENT = (
    f"EXISTS (SELECT 1 FROM document_versions v WHERE {_NEEDED.format(doc='?1')})"
    " OR EXISTS (SELECT 1 FROM generation_documents g WHERE g.doc_id = ?1)"
)
_LET_GO = f"""
SELECT d.doc_id, d.block_count FROM documents d WHERE NOT ({_NEEDED_DOCUMENT.replace("?1", "d.doc_id")}) OR d.doc_id IN
  (SELECT c.doc_id FROM (SELECT DISTINCT doc_id, chunking_key FROM chunks) c WHERE NOT ({_NEEDED_CHUNK}))
ORDER BY d.doc_id
"""
# Rows of one transaction: a document's blocks and passages count.
_PURGING = """
SELECT p.doc_id, coalesce((SELECT block_count FROM documents d WHERE d.doc_id = p.doc_id), 0)
FROM (SELECT DISTINCT doc_id FROM document_versions WHERE state = 'purging') p ORDER BY p.doc_id
"""
_UNUSED = (
    "NOT EXISTS (SELECT 1 FROM documents d WHERE d.asset_id = assets.asset_id)"
    # Not EXISTS: there is no index on it, so all are listed, once for many originals.
    " AND asset_id NOT IN (SELECT asset_id FROM items WHERE asset_id IS NOT NULL AND deleted_at IS NULL)"
)
_UNUSED_ASSETS = f"SELECT asset_id FROM assets WHERE {_UNUSED}"
_UNUSED_AMONG = f"SELECT asset_id FROM assets WHERE asset_id IN (SELECT value FROM json_each(?)) AND {_UNUSED}"
_LONG_GONE = """
SELECT DISTINCT g.item_id FROM generation_documents g JOIN items i ON i.item_id = g.item_id WHERE i.deleted_at <= ?
"""
_FORGOTTEN = """
SELECT item_id FROM items i WHERE i.deleted_at <= ?
AND NOT EXISTS (SELECT 1 FROM document_versions v WHERE v.item_id = i.item_id AND v.state <> 'purged')
"""
_LAID = """
SELECT DISTINCT p.chunk_key FROM chunk_layers l JOIN chunk_layer_places p ON p.layer_id = l.layer_id WHERE l.item_id = ?
"""


class SqlitePurge:
    """Wraps the library file: versions that nothing needs, and what comes with them.

    Args:
        library: the file.
        heed: called between transactions; what it raises ends the work, which the next purge goes on with.
    """

    def __init__(self, library: Library, heed: Callable[[], object] = lambda: None) -> None:
        self._library = library
        self._heed = heed

    def purge(self, keep_versions: int, keep_deleted_days: int = 0) -> Purged:
        """Let go of superseded versions that are neither recent nor needed by an answer or a generation.

        Args:
            keep_versions: superseded ones kept of each item whose file is there.
            keep_deleted_days: for so long the last version of a file that is gone is kept, so that one that comes
                back costs nothing; then it goes, and the item with it.
        """
        self._unpin_deleted(keep_deleted_days)
        expendable, pinned = self._expendable(keep_versions, keep_deleted_days)
        for part in _parts(expendable, SLICE):
            with self._library.transaction() as connection:
                connection.executemany(
                    "UPDATE document_versions SET state = 'purging' WHERE item_id = ? AND number = ?"
                    " AND state = 'superseded'",
                    [(item_id, number) for item_id, number, _ in part],
                )
            self._between()
        freed, copies = self.finish()
        self._forget_items(keep_deleted_days)
        return Purged(len(expendable), pinned, freed, copies)

    def expected(self, keep_versions: int, keep_deleted_days: int = 0) -> Purged:
        """Return what `purge` would do; of copies that other documents share nothing is freed."""
        expendable, pinned = self._expendable(keep_versions, keep_deleted_days)
        going = {doc_id for _, _, doc_id in expendable}
        chosen = {(item_id, number) for item_id, number, _ in expendable}
        freed = 0
        with self._library.view() as view:
            for doc_id in sorted(going):
                rows = view.execute(
                    "SELECT item_id, number FROM document_versions v WHERE " + _NEEDED.format(doc="?"), (doc_id,)
                ).fetchall()
                if all(tuple(row) in chosen for row in rows):
                    freed += _size_of(view, doc_id, going)
        return Purged(len(expendable), pinned, freed)

    def finish(self) -> tuple[int, tuple[str, ...]]:
        """Remove what is `purging`, also what a killed purge left; return the bytes freed and the copies let go of."""
        return self._remove(_PURGING)

    def sweep(self) -> None:
        """Remove documents and passages that no version and no generation needs, and what only they had."""
        self._remove(_LET_GO)

    def _remove(self, documents: str) -> tuple[int, tuple[str, ...]]:
        freed, held = 0, 0
        batch: list[str] = []
        copies: list[tuple[str, int]] = []
        for doc_id, blocks in self._library.rows(documents):
            freed += self._remove_chunks(doc_id)
            batch.append(doc_id)
            held += blocks + 1
            if held >= SLICE:
                copies += self._remove_documents(batch)
                batch, held = [], 0
        copies += self._remove_documents(batch)
        return freed + sum(size for _, size in copies), tuple(path for path, _ in copies)

    def remove_unused_vectors(self) -> int:
        """Remove vectors that belong to no passage; return how many."""
        stray = self._library.rows(
            "SELECT DISTINCT text_hash FROM vectors v"
            " WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.text_hash = v.text_hash)"
        )
        removed = 0
        for part in _parts(stray, SLICE):
            with self._library.transaction() as connection:
                removed += _remove_vectors(connection, [text_hash for (text_hash,) in part])
            self._between()
        return removed

    def remove_unused_copies(self) -> tuple[tuple[str, ...], int]:
        """Forget the bytes of originals that no document and no file has; their copies are put into the outbox."""
        unused = self._library.rows(_UNUSED_ASSETS)
        copies: list[tuple[str, int]] = []
        for part in _parts(unused, SLICE):
            with self._library.transaction() as connection:
                copies += _remove_assets(connection, [asset_id for (asset_id,) in part])
            self._between()
        return tuple(path for path, _ in copies), sum(size for _, size in copies)

    def _between(self) -> None:
        let_others_write()
        self._heed()

    def _expendable(self, keep_versions: int, keep_deleted_days: int) -> tuple[list[tuple[str, int, str]], int]:
        values = (keep_versions, _before(keep_deleted_days))
        rows = self._library.rows(_EXPENDABLE, values)
        (old,) = self._library.row(f"SELECT count(*) FROM ({_SUPERSEDED}) v WHERE NOT ({RECENT})", values) or (0,)
        return [(item_id, number, doc_id) for item_id, number, doc_id in rows], old - len(rows)

    def _remove_chunks(self, doc_id: str) -> int:
        """Remove the passages that no version of a document needs, some in each transaction; return bytes of text."""
        freed: int = 0
        while True:
            with self._library.transaction() as connection:
                keys = connection.execute(_STRAY_CHUNKS, (doc_id, SLICE)).fetchall()
                gone = [
                    connection.execute(
                        "DELETE FROM chunks WHERE chunk_key = ? RETURNING text_hash, length(CAST(text AS BLOB))", key
                    ).fetchone()
                    for key in keys
                ]
                _remove_vectors(connection, [text_hash for text_hash, _ in gone])
            freed += sum(int(size) for _, size in gone)
            self._between()
            if len(keys) < SLICE:
                return freed

    def _remove_documents(self, doc_ids: Sequence[str]) -> list[tuple[str, int]]:
        """Remove documents, and in the same transaction what only they had; return path and size of their copies."""
        if not doc_ids:
            return []
        assets: set[str] = set()
        with self._library.transaction() as connection:
            for doc_id in doc_ids:
                (needed,) = connection.execute(f"SELECT {_NEEDED_DOCUMENT}", (doc_id,)).fetchone()
                if not needed:
                    gone = connection.execute("DELETE FROM documents WHERE doc_id = ? RETURNING asset_id", (doc_id,))
                    assets.update(asset_id for (asset_id,) in gone.fetchall())
                    put_removals(connection, "artifacts", (doc_id,))
                connection.execute(
                    "UPDATE document_versions SET state = 'purged' WHERE doc_id = ? AND state = 'purging'", (doc_id,)
                )
            # Not after it: a kill in between would leave copies that nobody looks for any more.
            copies = _remove_assets(connection, sorted(assets))
        self._between()
        return copies

    def _unpin_deleted(self, keep_deleted_days: int) -> None:
        """Let generations go of files that are gone for long: no switch would show them."""
        gone = self._library.rows(_LONG_GONE, (_before(keep_deleted_days),))
        for part in _parts(gone, SLICE):
            with self._library.transaction() as connection:
                connection.executemany("DELETE FROM generation_documents WHERE item_id = ?", part)
            self._between()
        if gone:
            self.sweep()

    def _forget_items(self, keep_deleted_days: int) -> None:
        for part in _parts(self._library.rows(_FORGOTTEN, (_before(keep_deleted_days),)), SLICE):
            with self._library.transaction() as connection:
                # Their layers go with them; a passage that another item shows, too, is what the file says again.
                laid = [key for item in part for (key,) in connection.execute(_LAID, item).fetchall()]
                connection.executemany("DELETE FROM items WHERE item_id = ?", part)
                render(connection, laid)
            self._between()


def let_others_write() -> None:
    """Leave the writer alone for a moment: whoever takes it again at once, gets it before those who wait."""
    time.sleep(_MOMENT_S)


def put_removals(connection: sqlite3.Connection, kind: str, names: Iterable[str]) -> None:
    """Put what is to be removed from disk into the outbox, in the transaction that declares it gone."""
    connection.executemany(
        "INSERT OR IGNORE INTO removals (kind, name, created_at) VALUES (?,?,?)",
        ((kind, name, now_text()) for name in names),
    )


def _remove_assets(connection: sqlite3.Connection, asset_ids: Iterable[str]) -> list[tuple[str, int]]:
    """Forget those originals that no document and no file has; return path and size of copies, now in the outbox."""
    copies = []
    for (asset_id,) in connection.execute(_UNUSED_AMONG, (json.dumps(list(asset_ids)),)).fetchall():
        row = connection.execute(
            "DELETE FROM assets WHERE asset_id = ? RETURNING storage_kind, storage_path, byte_len", (asset_id,)
        ).fetchone()
        if row and row[0] == "copied":
            put_removals(connection, "asset", (row[1],))
            copies.append((str(row[1]), int(row[2])))
    return copies


def _remove_vectors(connection: sqlite3.Connection, text_hashes: Iterable[bytes]) -> int:
    """Remove the vectors of texts that no passage has any more."""
    removed = 0
    for text_hash in set(text_hashes):
        removed += connection.execute(
            "DELETE FROM vectors WHERE text_hash = ?1 AND NOT EXISTS (SELECT 1 FROM chunks WHERE text_hash = ?1)",
            (text_hash,),
        ).rowcount
    return removed


def _size_of(view: Connection, doc_id: str, going: set[str]) -> int:
    """Return the bytes of text of a document, and of its copy when no document that stays shares it."""
    (text,) = view.execute(
        "SELECT coalesce(sum(length(CAST(text AS BLOB))), 0) FROM chunks WHERE doc_id = ?", (doc_id,)
    ).fetchone()
    row = view.execute(
        "SELECT a.asset_id, a.byte_len, a.storage_kind FROM assets a JOIN documents d ON d.asset_id = a.asset_id"
        " WHERE d.doc_id = ?",
        (doc_id,),
    ).fetchone()
    if row is None or row[2] != "copied":
        return int(text)
    sharing = [one for (one,) in view.execute("SELECT doc_id FROM documents WHERE asset_id = ?", (row[0],))]
    # Of several that go together, the first by name counts the copy.
    is_counted = set(sharing) <= going and min(sharing) == doc_id
    (live,) = view.execute("SELECT count(*) FROM items WHERE asset_id = ? AND deleted_at IS NULL", (row[0],)).fetchone()
    return int(text) + (int(row[1]) if is_counted and not live else 0)


def _before(days: int) -> str:
    return (datetime.now().astimezone() - timedelta(days=days)).isoformat()


def _parts(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
