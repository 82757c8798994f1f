"""Links of documents: read from stored blocks, led to the items they mean, a small transaction at a time."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.gate import VISIBLE_DOCUMENTS
from kb.adapters.sqlite.json_text import now_text
from kb.adapters.sqlite.payloads import payload_from
from kb.domain.edges import DerivedEdge, KnownName, UnreadDocument
from kb.domain.links import (
    WEIGHTS,
    LinkKind,
    LinkSource,
    WrittenLink,
    folded,
    name_key,
    without_ending,
)
from kb.domain.recipes import DocumentId, ItemId
from kb.ingest.link_ports import Led, WaitingItem

_Name = tuple[str, str, str]

_UNREAD = f"""
SELECT d.doc_id FROM {VISIBLE_DOCUMENTS}
  AND NOT EXISTS (SELECT 1 FROM links_read r WHERE r.doc_id = d.doc_id AND r.version = ?) LIMIT ?
"""
_SOURCES = """
SELECT heading_path_json, payload_json FROM blocks
WHERE doc_id = ? AND (kind = 'heading' OR kind LIKE '%_ref' OR payload_json LIKE '%"href"%') ORDER BY ordinal
"""
_CHANGED = f"""
SELECT i.item_id, i.workspace_path, d.doc_id, d.title, d.metadata_json ->> '$.aliases' FROM {VISIBLE_DOCUMENTS}
  AND NOT EXISTS (SELECT 1 FROM links_noted n WHERE n.item_id = i.item_id AND n.doc_id = d.doc_id
    AND n.workspace_path = i.workspace_path) LIMIT ?
"""
_GONE = f"""
SELECT n.item_id FROM links_noted n
WHERE n.item_id NOT IN (SELECT i.item_id FROM {VISIBLE_DOCUMENTS}) LIMIT ?
"""
_MENTION = """
INSERT OR IGNORE INTO links_waiting (item_id) SELECT i.item_id FROM document_links l
JOIN items i ON i.active_doc_id = l.doc_id WHERE l.name_key IN (SELECT value FROM json_each(?))
"""
_SHOWN_AMONG = f"""
SELECT i.item_id, i.workspace_path, d.doc_id FROM {VISIBLE_DOCUMENTS}
  AND i.item_id IN (SELECT value FROM json_each(?))
"""
_NAMES = """
SELECT n.name_key, n.item_id, i.workspace_path, n.kind, n.name FROM link_names n JOIN items i ON i.item_id = n.item_id
WHERE n.name_key IN (SELECT value FROM json_each(?)) ORDER BY n.name_key, i.workspace_path, n.kind, n.name
"""
_PUT_EDGE = """
INSERT INTO edges (from_item, to_item, kind, origin, weight, label, fragment, updated_at)
SELECT ?1, ?2, ?3, 'derived', ?4, ?5, ?6, ?7 WHERE EXISTS (SELECT 1 FROM items WHERE item_id = ?2)
ON CONFLICT (from_item, to_item, kind) DO UPDATE SET label = excluded.label, fragment = excluded.fragment
"""


class SqliteLinks:
    """Wraps the library file: a `LinkStore`."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def unread(self, version: str, limit: int) -> Sequence[DocumentId]:
        """Return shown documents whose links were not read by `version`."""
        return [DocumentId(doc_id) for (doc_id,) in self._library.rows(_UNREAD, (version, limit))]

    def sources(self, doc_ids: Sequence[DocumentId]) -> Sequence[UnreadDocument]:
        """Return what of these documents may hold links."""
        found = []
        for doc_id in doc_ids:
            row = self._library.row("SELECT title FROM documents WHERE doc_id = ?", (doc_id,))
            blocks = self._library.rows(_SOURCES, (doc_id,))
            if row is not None:
                sources = (LinkSource(json.loads(path), payload_from(payload)) for path, payload in blocks)
                found.append(UnreadDocument(doc_id, str(row[0]), tuple(sources)))
        return found

    def keep(self, version: str, read: Mapping[DocumentId, Sequence[WrittenLink]]) -> None:
        """Store the links of documents in place of earlier ones; their items wait to be led to their targets."""
        with self._library.transaction() as connection:
            for doc_id, links in read.items():
                if connection.execute("SELECT 1 FROM documents WHERE doc_id = ?", (doc_id,)).fetchone() is None:
                    continue  # purged since it was read
                connection.execute("DELETE FROM document_links WHERE doc_id = ?", (doc_id,))
                connection.executemany(
                    "INSERT INTO document_links (doc_id, ordinal, kind, target, fragment, label, name_key)"
                    " VALUES (?,?,?,?,?,?,?)",
                    (
                        (doc_id, ordinal, link.kind.value, link.target, link.fragment, link.label, link.key)
                        for ordinal, link in enumerate(links)
                    ),
                )
                connection.execute(
                    "INSERT OR REPLACE INTO links_read (doc_id, version) VALUES (?,?)", (doc_id, version)
                )
                connection.execute(
                    "INSERT OR IGNORE INTO links_waiting (item_id) SELECT item_id FROM items WHERE active_doc_id = ?",
                    (doc_id,),
                )

    def note_names(self, limit: int) -> int:
        """Look at items that came, went or were renamed since; return how many there were, at most `limit`."""
        # Nothing to note is the rule, and needs no writer.
        if not self._library.rows(_CHANGED, (1,)) and not self._library.rows(_GONE, (1,)):
            return 0
        with self._library.transaction() as connection:
            changed = connection.execute(_CHANGED, (limit,)).fetchall()
            gone = [item_id for (item_id,) in connection.execute(_GONE, (limit,)).fetchall()]
            keys: set[str] = set()
            for item_id, path, doc_id, title, aliases in changed:
                keys |= _renamed(connection, item_id, path, _names_of(path, title, json.loads(aliases or "[]")))
                connection.execute("INSERT OR REPLACE INTO links_noted VALUES (?,?,?)", (item_id, doc_id, path))
            for item_id in gone:
                keys |= _renamed(connection, item_id, "", set())
                connection.execute("DELETE FROM links_noted WHERE item_id = ?", (item_id,))
            waiting = [(item_id,) for item_id in (*(row[0] for row in changed), *gone)]
            connection.executemany("INSERT OR IGNORE INTO links_waiting (item_id) VALUES (?)", waiting)
            connection.execute(_MENTION, (json.dumps(sorted(keys)),))
            return len(waiting)

    def waiting(self, limit: int) -> Sequence[WaitingItem]:
        """Return items that wait to be led to their targets."""
        items = [row[0] for row in self._library.rows("SELECT item_id FROM links_waiting LIMIT ?", (limit,))]
        shown = {row[0]: row[1:] for row in self._library.rows(_SHOWN_AMONG, (json.dumps(items),))}
        links: dict[str, list[WrittenLink]] = {}
        docs = json.dumps([doc_id for _, doc_id in shown.values()])
        sql = (
            "SELECT doc_id, kind, target, fragment, label FROM document_links"
            " WHERE doc_id IN (SELECT value FROM json_each(?)) ORDER BY doc_id, ordinal"
        )
        for doc_id, kind, *written in self._library.rows(sql, (docs,)):
            links.setdefault(doc_id, []).append(WrittenLink(LinkKind(kind), *written))
        found = []
        for item_id in items:
            path, doc_id = shown.get(item_id, ("", None))
            found.append(WaitingItem(ItemId(item_id), path, doc_id, tuple(links.get(doc_id or "", ()))))
        return found

    def names(self, keys: Sequence[str]) -> Mapping[str, Sequence[KnownName]]:
        """Return the names of shown items by key, in a fixed order."""
        found: dict[str, list[KnownName]] = {}
        for key, item_id, path, kind, name in self._library.rows(_NAMES, (json.dumps(keys),)):
            found.setdefault(key, []).append(KnownName(ItemId(item_id), path, kind, name))
        return found

    def lead(self, led: Mapping[WaitingItem, Led]) -> None:
        """Put edges in place of the derived ones of these items; what a person took away or added stays so."""
        now = now_text()
        with self._library.transaction() as connection:
            for item, one in led.items():
                connection.execute(
                    "DELETE FROM edges WHERE from_item = ? AND origin = 'derived' AND state = 'active'",
                    (item.item_id,),
                )
                connection.executemany(_PUT_EDGE, _edge_rows(item.item_id, one.edges, now))
                connection.executemany(
                    "UPDATE document_links SET outcome = ? WHERE doc_id = ? AND ordinal = ?",
                    ((outcome.value, item.doc_id, ordinal) for ordinal, outcome in enumerate(one.outcomes)),
                )
                connection.execute("DELETE FROM links_waiting WHERE item_id = ?", (item.item_id,))

    def forget_read(self) -> None:
        """Let the links of every document be read anew; edges stay until they are led again."""
        with self._library.transaction() as connection:
            connection.execute("DELETE FROM links_read")


def _edge_rows(item_id: str, edges: Iterable[DerivedEdge], now: str) -> Iterable[tuple[object, ...]]:
    for edge in edges:
        yield (item_id, edge.to_item, edge.kind.value, WEIGHTS[edge.kind], edge.label, edge.fragment, now)


def _names_of(path: str, title: str, aliases: Sequence[str]) -> set[_Name]:
    """Return the names of an item as rows: key, kind, name."""
    # A member of an archive is known by its own name.
    file = path.rpartition("/")[2]
    names = {(name_key(name), "file", folded(name)) for name in (file, without_ending(file))}
    names.add((name_key(title), "title", folded(title)))
    names |= {(name_key(alias), "alias", folded(alias)) for alias in aliases}
    return {name for name in names if name[0]}


def _renamed(connection: sqlite3.Connection, item_id: str, path: str, names: set[_Name]) -> set[str]:
    """Write the names of an item; return the keys under which it may be meant otherwise than before."""
    before = set(
        connection.execute("SELECT name_key, kind, name FROM link_names WHERE item_id = ?", (item_id,)).fetchall()
    )
    noted = connection.execute("SELECT workspace_path FROM links_noted WHERE item_id = ?", (item_id,)).fetchone()
    if before != names:
        connection.execute("DELETE FROM link_names WHERE item_id = ?", (item_id,))
        connection.executemany(
            "INSERT INTO link_names (name_key, item_id, kind, name) VALUES (?,?,?,?)",
            ((key, item_id, kind, name) for key, kind, name in sorted(names)),
        )
    moved = noted is None or noted[0] != path
    return {key for key, _, _ in (before | names if moved else before ^ names)}
