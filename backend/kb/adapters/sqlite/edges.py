"""Edges between items as people see and change them, and links in numbers."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.gate import VISIBLE_DOCUMENTS
from kb.adapters.sqlite.graph import SqliteGraph
from kb.adapters.sqlite.json_text import now_text
from kb.domain.catalogue import Page
from kb.domain.edges import EdgeRow, LinkCounts, OpenTarget
from kb.domain.errors import NotFound
from kb.domain.links import WEIGHTS, LinkKind, LinkOutcome
from kb.domain.recipes import DocumentId, ItemId

_MOST_TAGGED = 10_000
_VISIBLE_ITEMS = f"SELECT i.item_id FROM {VISIBLE_DOCUMENTS}"
_EDGES = f"""
SELECT e.outward, i.item_id, i.workspace_path, d.title, e.kind, e.origin, e.state, e.label FROM (
  SELECT 1 AS outward, to_item AS other, kind, origin, state, label FROM edges WHERE from_item = ?1
  UNION ALL SELECT 0, from_item, kind, origin, state, label FROM edges WHERE to_item = ?1) e
CROSS JOIN {VISIBLE_DOCUMENTS} AND i.item_id = e.other
ORDER BY e.outward DESC, i.workspace_path, e.kind
"""
_SHOWN = f"SELECT i.workspace_path, d.title FROM {VISIBLE_DOCUMENTS} AND i.item_id = ?"
_ACTIVE = f"""
SELECT kind, count(*) FROM edges WHERE state = 'active'
  AND from_item IN ({_VISIBLE_ITEMS}) AND to_item IN ({_VISIBLE_ITEMS}) GROUP BY kind
"""
_TAG_PAIRS = f"""
SELECT coalesce(sum(n * (n - 1) / 2), 0) FROM (
  SELECT count(*) AS n FROM document_tags t CROSS JOIN {VISIBLE_DOCUMENTS} AND d.doc_id = t.doc_id
  GROUP BY t.tag) WHERE n <= ?
"""
_READ = f"""
SELECT count(*), count((SELECT 1 FROM links_read r WHERE r.doc_id = d.doc_id AND r.version = ?))
FROM {VISIBLE_DOCUMENTS}
"""
_OPEN = f"FROM document_links l CROSS JOIN {VISIBLE_DOCUMENTS} AND d.doc_id = l.doc_id AND l.outcome"
_SET = "UPDATE edges SET state = ?, updated_at = ? WHERE from_item = ? AND to_item = ? AND kind = ? AND state = ?"


class SqliteEdges:
    """Wraps the library file.

    Args:
        library: the file.
        graph: says which items share a tag.
        most_tag_items: a tag that more documents have joins none.
    """

    def __init__(self, library: Library, graph: SqliteGraph, most_tag_items: int) -> None:
        self._library = library
        self._graph = graph
        self._most_tag_items = most_tag_items

    def of(self, item: ItemId, after: str | None, limit: int) -> Page[EdgeRow]:
        """Return a page of the edges of an item, those that lead out first; removed ones, too."""
        rows = [
            EdgeRow(
                bool(outward), ItemId(other), path, title, LinkKind(kind), origin == "manual", state == "active", label
            )
            for outward, other, path, title, kind, origin, state, label in self._library.rows(_EDGES, (item,))
        ]
        rows += self._tagged(item)
        start = int(after) if after and after.isdecimal() else 0
        end = start + limit
        return Page(tuple(rows[start:end]), str(end) if len(rows) > end else None)

    def add(self, source: ItemId, target: ItemId, note: str) -> None:
        """Link two items by hand; once more, or once taken away, the link is there with the new note."""
        with self._library.transaction() as connection:
            connection.execute(
                "INSERT INTO edges (from_item, to_item, kind, origin, weight, label, updated_at)"
                " VALUES (?,?,'manual','manual',?,?,?) ON CONFLICT (from_item, to_item, kind)"
                " DO UPDATE SET state = 'active', label = excluded.label, updated_at = excluded.updated_at",
                (source, target, WEIGHTS[LinkKind.MANUAL], note, now_text()),
            )

    def remove(self, source: ItemId, target: ItemId, kind: LinkKind) -> None:
        """Take an edge away; reading links again does not bring it back.

        Raises:
            NotFound: there is no such edge that was not taken away.
        """
        if kind is LinkKind.TAG:
            self._untie(source, target)
            return
        with self._library.transaction() as connection:
            done = connection.execute(_SET, ("removed", now_text(), source, target, kind.value, "active"))
            if not done.rowcount:
                raise _no_edge("active")

    def restore(self, source: ItemId, target: ItemId, kind: LinkKind) -> None:
        """Undo `remove`; a link that its document does not say any more goes when links are led again.

        Raises:
            NotFound: no such edge was taken away.
        """
        with self._library.transaction() as connection:
            if kind is LinkKind.TAG:
                pair = (min(source, target), max(source, target))
                done = connection.execute(
                    "DELETE FROM edges WHERE from_item = ? AND to_item = ? AND kind = 'tag'", pair
                )
            else:
                done = connection.execute(_SET, ("active", now_text(), source, target, kind.value, "removed"))
                connection.execute("INSERT OR IGNORE INTO links_waiting (item_id) VALUES (?)", (source,))
            if not done.rowcount:
                raise _no_edge("removed")

    def counts(self, version: str) -> LinkCounts:
        """Return the links between shown items in numbers; those read by `version` count as read."""
        active = {LinkKind(kind): int(count) for kind, count in self._library.rows(_ACTIVE)}
        untied = self._number("SELECT count(*) FROM edges WHERE kind = 'tag' AND state = 'removed'")
        active[LinkKind.TAG] = max(0, self._number(_TAG_PAIRS, self._most_tag_items) - untied)
        documents, read = self._library.row(_READ, (version,)) or (0, 0)
        return LinkCounts(
            active={kind: active.get(kind, 0) for kind in LinkKind},
            removed=self._number("SELECT count(*) FROM edges WHERE state = 'removed'"),
            documents=int(documents),
            read=int(read),
            waiting=self._number("SELECT count(*) FROM links_waiting"),
            ambiguous=self._number(f"SELECT count(*) {_OPEN} = ?", LinkOutcome.AMBIGUOUS.value),
            unresolved=self._number(f"SELECT count(*) {_OPEN} = ?", LinkOutcome.UNRESOLVED.value),
        )

    def open_targets(self, limit: int) -> Sequence[OpenTarget]:
        """Return links that lead nowhere or may mean several items, the latter first, then by path."""
        rows = self._library.rows(
            f"SELECT i.workspace_path, l.kind, l.target, l.outcome {_OPEN} IN ('ambiguous','unresolved')"
            " ORDER BY l.outcome, i.workspace_path, l.ordinal LIMIT ?",
            (limit,),
        )
        return [OpenTarget(path, LinkKind(kind), target, LinkOutcome(outcome)) for path, kind, target, outcome in rows]

    def is_read(self, doc_id: DocumentId, version: str) -> bool:
        """Return whether the links of a document are read and led to their targets."""
        return (
            self._library.row(
                "SELECT 1 FROM links_read r WHERE r.doc_id = ? AND r.version = ? AND NOT EXISTS (SELECT 1 FROM items i"
                " JOIN links_waiting w ON w.item_id = i.item_id WHERE i.active_doc_id = r.doc_id)",
                (doc_id, version),
            )
            is not None
        )

    def _tagged(self, item: ItemId) -> Iterator[EdgeRow]:
        for other, tag in self._graph.tagged_alike(item, _MOST_TAGGED):
            row = self._library.row(_SHOWN, (other,))
            if row is not None:
                yield EdgeRow(
                    outward=True,
                    item_id=other,
                    path=row[0],
                    title=row[1],
                    kind=LinkKind.TAG,
                    is_manual=False,
                    is_active=True,
                    evidence=tag,
                )

    def _untie(self, source: ItemId, target: ItemId) -> None:
        if target not in {other for other, _ in self._graph.tagged_alike(source, _MOST_TAGGED)}:
            raise _no_edge("active")
        with self._library.transaction() as connection:
            connection.execute(
                "INSERT INTO edges (from_item, to_item, kind, origin, state, weight, updated_at)"
                " VALUES (?,?,'tag','derived','removed',?,?) ON CONFLICT DO NOTHING",
                (min(source, target), max(source, target), WEIGHTS[LinkKind.TAG], now_text()),
            )

    def _number(self, sql: str, *values: object) -> int:
        row = self._library.row(sql, values)
        return int(row[0]) if row else 0


def _no_edge(state: str) -> NotFound:
    return NotFound(f"there is no {state} link of that kind between the two", hint="list links with `kb graph links`")
