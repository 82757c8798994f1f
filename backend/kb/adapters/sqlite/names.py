"""Items by their names, from a table of all names in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.name_table import Found, NameTable
from kb.adapters.sqlite.pace import Pace
from kb.domain.names import NameHit, highlighted
from kb.domain.recipes import ItemId

_HERE = "deleted_at IS NULL AND included = 1 AND archived_at IS NULL"
_SPARE = 4
"""So many times as many names are looked for where some found meanwhile went or were renamed."""


@dataclass(frozen=True, slots=True)
class _Known:
    revision: int
    ids: tuple[bytes, ...]
    table: NameTable


class SqliteNames:
    """Wraps the library file. Safe to call from several threads.

    The table is made when first asked for, and anew after the library changed: of a large one that changes all the
    while, one of a moment ago serves, and what went since is left out.

    Args:
        library: the file.
        simplify: Traditional to Simplified Chinese, letter for letter.
    """

    def __init__(self, library: Library, simplify: Callable[[str], str]) -> None:
        self._library = library
        self._simplify = simplify
        self._known: _Known | None = None
        self._lock = threading.Lock()
        self._making = Pace()

    def named(self, query: str, limit: int) -> Sequence[NameHit]:
        """Return items of the workspace, best first, those equally good by path; none for a query without letters."""
        known = self._current()
        found = known.table.find(query, limit)
        hits = self._hits(known, found)
        if len(hits) < len(found):
            hits = self._hits(known, known.table.find(query, limit * _SPARE))
        return hits[:limit]

    def _hits(self, known: _Known, found: Sequence[Found]) -> list[NameHit]:
        ids = [known.ids[number].decode() for number, _, _ in found]
        marks = ",".join("?" * len(ids))
        sql = f"SELECT item_id, workspace_path FROM items WHERE item_id IN ({marks}) AND {_HERE}"  # noqa: S608 - marks only
        paths: dict[str, str] = dict(self._library.rows(sql, ids)) if ids else {}
        hits = []
        for item_id, (_, match, wanted) in zip(ids, found, strict=True):
            if item_id in paths:
                marks_in_path = highlighted(paths[item_id], wanted, self._simplify)
                if marks_in_path:  # else renamed since
                    hits.append(NameHit(ItemId(item_id), paths[item_id], match, marks_in_path))
        return hits

    def _current(self) -> _Known:
        with self._lock:
            revision, known = self._library.revision, self._known
            if known is None or (known.revision != revision and self._making.is_due()):
                with self._making.timed():
                    sql = f"SELECT item_id, workspace_path FROM items WHERE {_HERE} ORDER BY workspace_path"  # noqa: S608
                    rows = self._library.rows(sql)
                    table = NameTable([path for _, path in rows], self._simplify)
                    known = _Known(revision, tuple(str(item_id).encode() for item_id, _ in rows), table)
                self._known = known
            return known
