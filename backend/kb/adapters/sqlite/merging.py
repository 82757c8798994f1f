"""What another library has and this one has not, taken in; nothing that is here is changed."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kb.adapters.sqlite.collection_merge import take_collections, take_saved_searches
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.failures import translated
from kb.adapters.sqlite.json_text import compact
from kb.adapters.sqlite.layering import render
from kb.adapters.sqlite.withdrawal import log_text
from kb.domain.backups import Difference, LibraryCounts, OwnFiles
from kb.domain.generations import Recipe

_COUNTS = """
SELECT (SELECT count(*) FROM items WHERE deleted_at IS NULL), (SELECT count(*) FROM documents),
  (SELECT count(*) FROM chunks WHERE role <> 'parent'), (SELECT count(*) FROM vectors), (SELECT count(*) FROM answers)
"""
_ITEMS = "SELECT item_id, workspace_path, checksum, size FROM items WHERE deleted_at IS NULL ORDER BY workspace_path"
_HERE = "SELECT item_id, workspace_path, checksum, size, deleted_at IS NULL FROM items"
_VERSIONS = "FROM document_versions v WHERE v.item_id IN ({}) AND v.state IN ('ready','superseded')"
_AGAIN = (
    "UPDATE embedding_models SET enrolled_through ="
    " min(enrolled_through, (SELECT coalesce(min(chunk_key), 1) - 1 FROM chunks WHERE doc_id = ?))"
)
_CHUNKS_A_GLANCE = 500

_Change = Callable[[Any], Any]


class SqliteMerge:
    """Wraps two library files: the one in use, and one of the same schema that nobody works with."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def counts(self) -> LibraryCounts:
        """Return what the library in use holds."""
        (row,) = self._library.rows(_COUNTS)
        return LibraryCounts(*row)

    def compare(self, other: Path) -> Difference:
        """Say which items of another library are not here, which are the same, which differ or were deleted here."""
        here = self._library.rows(_HERE)
        by_id = {row[0]: row for row in here}
        by_path = {row[1]: row for row in here if row[4]}
        absent, same, kept = [], 0, []
        with _reading(other) as view:
            for item_id, path, checksum, size in view.execute(_ITEMS):
                own = by_path.get(path) or by_id.get(item_id)
                if own is None:
                    absent.append(item_id)
                elif own[4] and own[1:4] == (path, checksum, size):
                    same += 1
                else:
                    kept.append(path)
        return Difference(tuple(absent), same, tuple(kept))

    def files_of(self, other: Path, item_ids: Sequence[str]) -> OwnFiles:
        """Return the kept files that the versions of items of another library refer to."""
        with _reading(other) as view:
            docs = _documents_of(view, item_ids)
            assets: set[str] = set()
            for part in _parts(docs):
                rows = view.execute(
                    "SELECT a.storage_path FROM documents d JOIN assets a ON a.asset_id = d.asset_id"
                    f" WHERE a.storage_kind = 'copied' AND d.doc_id IN ({_marks(part)})",
                    part,
                )
                assets |= {path for (path,) in rows}
            return OwnFiles(frozenset(assets), frozenset(docs))

    def take_in(self, other: Path, item_ids: Sequence[str]) -> None:
        """Write items of another library with their versions, documents, chunks and vectors, in one transaction.

        Those that came in before are left as they are. Index work is logged; records of embeddings are made when the
        model next enrols, which finds the vectors.

        Raises:
            StorageFailed: SQLite refused; nothing of these items is written.
        """
        with _reading(other) as view, self._library.transaction() as connection:
            known = {row[0] for row in connection.execute("SELECT item_id FROM items")}
            wanted = [item_id for item_id in item_ids if item_id not in known]
            if wanted:
                _Merging(view, connection).take_in(wanted)

    def take_answers(self, other: Path) -> None:
        """Write the answers that are not here, with what they cite; collections and kept searches, too."""
        with _reading(other) as view, self._library.transaction() as connection:
            merging = _Merging(view, connection)
            merging.copy("answers", "1", ())
            merging.copy("answer_sources", "1", ())
            take_collections(view, connection)
            take_saved_searches(view, connection)


class _Merging:
    """One transaction: rows of `view` become rows of `connection`, under the keys that hold there."""

    def __init__(self, view: sqlite3.Connection, connection: sqlite3.Connection) -> None:
        self._view = view
        self._connection = connection
        (self._serving,) = connection.execute(
            "SELECT generation_id FROM generations WHERE state = 'serving'"
        ).fetchone()

    def take_in(self, item_ids: Sequence[str]) -> None:
        chunkings = self._keys("chunkings", "chunking_key", ("chunker_version", "policy_hash"))
        models = self._keys("embedding_models", "model_key", ("fingerprint",))
        docs = _documents_of(self._view, item_ids)
        known = self._known(docs)
        self._copy_in("assets", "asset_id IN (SELECT asset_id FROM documents WHERE doc_id IN ({}))", docs)
        self._copy_in("assets", "asset_id IN (SELECT asset_id FROM items WHERE item_id IN ({}))", item_ids)
        self._copy_in("items", "item_id IN ({})", item_ids)
        self._copy_in("documents", "doc_id IN ({})", docs)
        self._copy_in("document_tags", "doc_id IN ({})", docs)
        self._copy_in("blocks", "doc_id IN ({})", [doc for doc in docs if doc not in known])
        under = {"chunking_key": chunkings.__getitem__, "generation_id": lambda _id: self._serving}
        states = "item_id IN ({}) AND state IN ('ready','superseded')"
        self._copy_in("document_versions", states, item_ids, under)
        self._copy_in("chunks", "doc_id IN ({})", docs, {**under, "chunk_key": None})
        self._take_in_layers(item_ids, docs, chunkings)
        self._copy_in("item_chunking", "item_id IN ({})", item_ids)
        self._take_in_policies()
        self._take_in_edges(item_ids)
        vectors = "text_hash IN (SELECT text_hash FROM chunks WHERE doc_id IN ({}))"
        self._copy_in("vectors", vectors, docs, {"model_key": models.__getitem__})
        self._connection.executemany(_AGAIN, [(doc,) for doc in known])
        log_text(self._connection, "remove", known)
        log_text(self._connection, "add", docs)

    def _take_in_policies(self) -> None:
        """Copy by which policies passages were cut; those of whole generations there are of single items here."""
        known = self._view.execute("SELECT policy_hash, policy_json FROM chunk_policies").fetchall()
        recipes = self._view.execute("SELECT recipe_json FROM generations WHERE recipe_json IS NOT NULL")
        policies = [Recipe.from_json(json.loads(text)).policy for (text,) in recipes.fetchall()]
        known += [(policy.hash(), compact(asdict(policy))) for policy in policies]
        self._connection.executemany("INSERT OR IGNORE INTO chunk_policies VALUES (?,?)", known)

    def _take_in_layers(self, item_ids: Sequence[str], docs: Sequence[str], chunkings: Mapping[int, int]) -> None:
        """Copy what people changed in passages, and let the passages here say it."""
        self._copy_in("chunk_layers", "item_id IN ({})", item_ids)
        keys: dict[int, int] = {}
        for part in _parts(docs):
            there = self._view.execute(
                f"SELECT chunk_id, chunk_key FROM chunks WHERE doc_id IN ({_marks(part)})"
                " AND chunk_key IN (SELECT chunk_key FROM chunk_layer_places UNION SELECT chunk_key FROM"
                " chunk_originals)",
                part,
            )
            for chunk_id, key in there.fetchall():
                row = self._connection.execute("SELECT chunk_key FROM chunks WHERE chunk_id = ?", (chunk_id,))
                keys[key] = row.fetchone()[0]
        for part in _parts([str(key) for key in keys]):
            marks = f"chunk_key IN ({_marks(part)})"
            numbers = [int(key) for key in part]
            self.copy("chunk_originals", marks, numbers, {"chunk_key": keys.__getitem__})
            own = f"{marks} AND layer_id IN (SELECT layer_id FROM chunk_layers WHERE item_id IN (SELECT value FROM"
            self.copy(
                "chunk_layer_places",
                f"{own} json_each(?)))",
                [*numbers, json.dumps(list(item_ids))],
                {"chunk_key": keys.__getitem__},
            )
        under: dict[str, _Change | None] = {"chunking_key": chunkings.__getitem__}
        of_items = "layer_id IN (SELECT layer_id FROM chunk_layers WHERE item_id IN ({}))"
        self._copy_in("chunk_layer_losses", of_items, item_ids, under)
        render(self._connection, keys.values())

    def _take_in_edges(self, item_ids: Sequence[str]) -> None:
        """Copy links that people made or took away, as far as both ends are here; the others are read from the text."""
        here = {row[0] for row in self._connection.execute("SELECT item_id FROM items")}
        for part in _parts(item_ids):
            marks = _marks(part)
            ends = self._view.execute(
                "SELECT from_item, to_item, kind FROM edges WHERE (origin = 'manual' OR state = 'removed')"
                f" AND (from_item IN ({marks}) OR to_item IN ({marks}))",
                (*part, *part),
            ).fetchall()
            for source, target, kind in ends:
                if source in here and target in here:
                    self.copy("edges", "from_item = ? AND to_item = ? AND kind = ?", (source, target, kind))

    def copy(
        self, table: str, where: str, values: Sequence[Any], changes: Mapping[str, _Change | None] | None = None
    ) -> None:
        """Copy rows; a column that `changes` maps to None is left to be given anew."""
        changes = changes or {}
        names = [row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")]
        columns = [name for name in names if changes.get(name, name) is not None]
        made = [changes.get(name) for name in columns]
        rows = self._view.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE {where}", tuple(values))
        self._connection.executemany(
            f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({_marks(columns)})",
            (
                tuple(change(value) if change else value for change, value in zip(made, row, strict=True))
                for row in rows
            ),
        )

    def _copy_in(
        self, table: str, where: str, values: Sequence[str], changes: Mapping[str, _Change | None] | None = None
    ) -> None:
        for part in _parts(values):
            self.copy(table, where.format(_marks(part)), part, changes)

    def _known(self, docs: Sequence[str]) -> list[str]:
        found: list[str] = []
        for part in _parts(docs):
            rows = self._connection.execute(f"SELECT doc_id FROM documents WHERE doc_id IN ({_marks(part)})", part)
            found += [doc for (doc,) in rows]
        return found

    def _keys(self, table: str, key: str, names: Sequence[str]) -> dict[int, int]:
        """Return the key here of each row there, which is added when it is new; `names` say which are the same."""
        changes: dict[str, _Change | None] = {key: None}
        if table == "embedding_models":
            changes["enrolled_through"] = lambda _through: 0
        self.copy(table, "1", (), changes)
        listed = f"SELECT {key}, {', '.join(names)} FROM {table}"
        own = {row[1:]: row[0] for row in self._connection.execute(listed)}
        return {row[0]: own[row[1:]] for row in self._view.execute(listed)}


def _documents_of(view: sqlite3.Connection, item_ids: Sequence[str]) -> list[str]:
    docs: dict[str, None] = {}
    for part in _parts(item_ids):
        rows = view.execute(f"SELECT v.doc_id {_VERSIONS.format(_marks(part))} ORDER BY v.item_id, v.number", part)
        docs.update(dict.fromkeys(doc for (doc,) in rows))
    return list(docs)


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _CHUNKS_A_GLANCE):
        yield values[start : start + _CHUNKS_A_GLANCE]


def _marks(values: Iterable[object]) -> str:
    return ",".join("?" for _ in values)


@contextmanager
def _reading(file: Path) -> Iterator[sqlite3.Connection]:
    with (
        translated(),
        contextlib.closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
        ) as view,
    ):
        view.execute("PRAGMA trusted_schema = OFF")
        yield view
