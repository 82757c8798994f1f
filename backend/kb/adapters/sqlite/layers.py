"""What people change in passages: each change is one transaction, which all channels follow."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from kb.adapters.sqlite.connection import Library, Row
from kb.adapters.sqlite.gate import VISIBLE_DOCUMENTS
from kb.adapters.sqlite.json_text import compact
from kb.adapters.sqlite.layering import LAYER_COLUMNS, carry, changes_from, changes_json, layer_from, own_start, render
from kb.domain.catalogue import LayerRow, Page
from kb.domain.errors import Conflict, InvalidInput, NotFound
from kb.domain.layers import Layer, LayerKind, applied
from kb.domain.reattaching import AROUND
from kb.domain.recipes import ChunkId

_BESIDE = 3

_SHOWN = f"""
SELECT c.chunk_key, c.doc_id, c.chunking_key, c.ordinal, c.role, c.text, lower(hex(c.text_hash)), c.enabled,
  coalesce((SELECT text FROM chunk_originals o WHERE o.chunk_key = c.chunk_key), c.text),
  coalesce((SELECT segments_json FROM chunk_originals o WHERE o.chunk_key = c.chunk_key), c.segments_json),
  i.item_id, c.section_label,
  (SELECT max(n.ordinal) FROM chunks n WHERE n.doc_id = c.doc_id AND n.chunking_key = c.chunking_key)
FROM chunks c CROSS JOIN {VISIBLE_DOCUMENTS}
  AND i.active_doc_id = c.doc_id AND v.chunking_key = c.chunking_key AND c.chunk_id = ?
ORDER BY i.workspace_path LIMIT 1
"""
_NEIGHBOURS = """
SELECT coalesce(o.text, c.text), coalesce(o.segments_json, c.segments_json)
FROM chunks c LEFT JOIN chunk_originals o ON o.chunk_key = c.chunk_key
WHERE c.doc_id = ? AND c.chunking_key = ? AND c.role <> 'parent' AND c.ordinal {} ? ORDER BY c.ordinal {} LIMIT ?
"""
_ON = f"""
SELECT {LAYER_COLUMNS}, l.state, l.created_at, l.replaces FROM chunk_layer_places p
JOIN chunk_layers l ON l.layer_id = p.layer_id WHERE p.chunk_key = ?
"""
_INSERT = """
INSERT INTO chunk_layers (layer_id, item_id, kind, replaces, source_text, new_text, own, before_text, after_text, place,
  place_json, created_at, updated_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)
"""
# The other passages of the same document, cut the same way, that a layer lies on.
_ELSEWHERE = """
SELECT c.chunk_key, coalesce(o.text, c.text), coalesce(o.segments_json, c.segments_json), p.changes_json
FROM chunk_layer_places p JOIN chunks c ON c.chunk_key = p.chunk_key
LEFT JOIN chunk_originals o ON o.chunk_key = c.chunk_key
WHERE p.layer_id = ? AND c.chunk_key <> ? AND c.role <> 'parent' AND c.doc_id = ? AND c.chunking_key = ?
"""
# All that is shown, waits to be, or would be by another generation.
_SETS = """
SELECT doc_id, chunking_key FROM document_versions WHERE item_id = ?1 AND state IN ('indexing','ready')
UNION SELECT doc_id, chunking_key FROM generation_documents WHERE item_id = ?1
"""
_LISTED = f"""
SELECT {LAYER_COLUMNS}, l.item_id, i.workspace_path, l.place_json, l.created_at, l.updated_at,
  (SELECT json_group_array(c.chunk_id) FROM chunk_layer_places p JOIN chunks c ON c.chunk_key = p.chunk_key
   WHERE p.layer_id = l.layer_id AND c.doc_id = v.doc_id AND c.chunking_key = v.chunking_key
   AND c.role <> 'parent') AS lies_on, x.reason
FROM chunk_layers l JOIN items i ON i.item_id = l.item_id
LEFT JOIN document_versions v ON v.item_id = i.item_id AND v.doc_id = i.active_doc_id AND v.state = 'ready'
LEFT JOIN chunk_layer_losses x ON x.layer_id = l.layer_id AND x.doc_id = v.doc_id AND x.chunking_key = v.chunking_key
WHERE l.state = 'active' AND i.deleted_at IS NULL AND i.included = 1 AND i.archived_at IS NULL
  AND i.active_doc_id NOT IN (SELECT doc_id FROM documents WHERE privacy_state <> 'current')
"""
_NOTHING_LEFT = "the file has no passages any more"


class _Shown(NamedTuple):
    """A passage of the version that is shown, with what it said before any layer."""

    key: int
    doc_id: str
    chunking: int
    ordinal: int
    role: str
    text: str
    text_hash: str
    enabled: int
    original: str
    segments: str
    item_id: str
    section: str | None
    last: int


class SqliteLayers:
    """Wraps the library file: edits, passages taken out, and their undoing; what changes something is one transaction.

    That raises NotFound for a chunk that is not of a shown version, and Conflict where the passage does not allow it.
    """

    def __init__(self, library: Library) -> None:
        self._library = library

    def say(self, chunk_id: ChunkId, text: str, expected: str | None = None) -> None:
        """Let a passage say `text`; `expected` is the hash of what it is thought to say now.

        Raises:
            Conflict: it says something else meanwhile, or was deleted.
            InvalidInput: it is a parent, which is context only.
        """
        with self._library.transaction() as connection:
            shown = _shown(connection, chunk_id)
            _require_standing(connection, shown)
            if expected is not None and expected.lower() != shown.text_hash:
                raise Conflict(
                    "the passage was changed since it was read", hint="read it again, then change what it says now"
                )
            if text == shown.text:
                return
            is_original = text == shown.original
            state = "taken_off" if is_original else "replaced"
            replaced, touched = _release(connection, shown, [LayerKind.TEXT], state)
            if not is_original:
                touched.append(shown.key)
                _put(connection, shown, LayerKind.TEXT, text, replaced)
            _settle(connection, shown.item_id, touched)

    def enable(self, chunk_id: ChunkId, *, enabled: bool) -> None:
        """Take a passage out of search, or put it back; a deleted one is not put back by this."""
        with self._library.transaction() as connection:
            shown = _shown(connection, chunk_id)
            _require_standing(connection, shown)
            if bool(shown.enabled) == enabled:
                return
            if enabled:
                released, touched = _release(connection, shown, [LayerKind.DISABLED], "taken_off")
                if not released:
                    raise Conflict(
                        "an edit left nothing of the passage", hint="undo the edit, or restore what the file says"
                    )
            else:
                touched = [shown.key]
                _put(connection, shown, LayerKind.DISABLED, "", ())
            _settle(connection, shown.item_id, touched)

    def delete(self, chunk_id: ChunkId) -> None:
        """Take a passage out for good: it is listed as deleted until it is restored."""
        with self._library.transaction() as connection:
            shown = _shown(connection, chunk_id)
            if _is_deleted(connection, shown):
                return
            _put(connection, shown, LayerKind.DELETED, "", ())
            _settle(connection, shown.item_id, [shown.key])

    def undo(self, chunk_id: ChunkId) -> None:
        """Undo the last change of a passage; called again, the one before it.

        Raises:
            Conflict: there is none.
        """
        with self._library.transaction() as connection:
            shown = _shown(connection, chunk_id)
            newest = connection.execute(
                f"{_ON} AND l.state <> 'replaced' ORDER BY l.updated_at DESC, l.layer_id DESC LIMIT 1", (shown.key,)
            ).fetchone()
            if newest is None:
                raise Conflict("nothing was changed in this passage", hint="`kb chunks layers` lists what was changed")
            layer_id, state, replaced = newest[0], newest[-3], json.loads(newest[-1])
            touched = _places(connection, [layer_id, *replaced])
            if state == "active":
                connection.execute("DELETE FROM chunk_layers WHERE layer_id = ?", (layer_id,))
            back = [layer_id] if state == "taken_off" else replaced
            connection.executemany(
                "UPDATE chunk_layers SET state = 'active' WHERE layer_id = ?", [(one,) for one in back]
            )
            _settle(connection, shown.item_id, touched)

    def restore(self, chunk_id: ChunkId) -> None:
        """Let a passage be again what the file says.

        Raises:
            Conflict: it is.
        """
        with self._library.transaction() as connection:
            shown = _shown(connection, chunk_id)
            released, touched = _release(connection, shown, tuple(LayerKind), "taken_off")
            if not released:
                raise Conflict("the passage says what the file says", hint="there is nothing to restore")
            _settle(connection, shown.item_id, touched)

    def take_off(self, layer_id: str) -> None:
        """Take a layer off all passages it lies on; one that lies on none is forgotten.

        Raises:
            NotFound: there is no such layer.
        """
        with self._library.transaction() as connection:
            row = connection.execute(
                "SELECT item_id FROM chunk_layers WHERE layer_id = ? AND state = 'active'", (layer_id,)
            ).fetchone()
            if row is None:
                raise NotFound(f"there is no change {layer_id[:64]!r}", hint="`kb chunks layers` lists them")
            touched = _places(connection, [layer_id])
            if touched:
                _set_state(connection, row[0], [layer_id], "taken_off")
            else:
                connection.execute("DELETE FROM chunk_layers WHERE layer_id = ?", (layer_id,))
            _settle(connection, row[0], touched)

    def layers(
        self, item_id: str | None = None, after: int = 0, limit: int = 100, *, lost: bool = False
    ) -> Page[LayerRow]:
        """Return the layers of an item or of all, by path and place; with `lost` those that do not fit, if in part.

        `after` counts the entries of the pages before.
        """
        condition = " AND l.item_id = ?" if item_id is not None else ""
        condition += " AND (x.reason IS NOT NULL OR lies_on = '[]')" if lost else ""
        values = (*((item_id,) if item_id is not None else ()), limit + 1, after)
        sql = f"{_LISTED}{condition} ORDER BY i.workspace_path, l.place, l.created_at, l.layer_id LIMIT ? OFFSET ?"
        rows = self._library.rows(sql, values)
        return Page(tuple(map(_listed, rows[:limit])), str(after + limit) if len(rows) > limit else None)


def _shown(connection: sqlite3.Connection, chunk_id: str) -> _Shown:
    row = connection.execute(_SHOWN, (chunk_id,)).fetchone()
    if row is None:
        raise NotFound(f"there is no passage {chunk_id[:64]!r}", hint="`kb chunks <document>` lists them")
    shown = _Shown(*row)
    if shown.role == "parent":
        raise InvalidInput(
            "a parent passage is context only and follows the passages in it", hint="change those: `kb chunks`"
        )
    return shown


def _is_deleted(connection: sqlite3.Connection, shown: _Shown) -> bool:
    sql = f"{_ON} AND l.state = 'active' AND l.kind = 'deleted'"
    return connection.execute(sql, (shown.key,)).fetchone() is not None


def _require_standing(connection: sqlite3.Connection, shown: _Shown) -> None:
    if _is_deleted(connection, shown):
        raise Conflict("the passage was deleted", hint="restore it first: `kb chunks undo` or `kb chunks restore`")


def _put(
    connection: sqlite3.Connection, shown: _Shown, kind: LayerKind, new_text: str, replaces: Sequence[str]
) -> None:
    """Lay a new layer on a passage."""
    own = own_start(shown.original, shown.segments)
    layer = Layer(
        layer_id=f"lay_{secrets.token_hex(12)}",
        kind=kind,
        source_text=shown.original,
        new_text=new_text,
        own=own,
        before=_before(connection, shown),
        after=_after(connection, shown),
        at=shown.ordinal / max(1, shown.last),
    )
    _insert(connection, shown, layer, replaces, _moment(connection, shown.item_id))
    changes = changes_json(layer.changes()) if kind is LayerKind.TEXT else "[]"
    connection.execute("INSERT INTO chunk_layer_places VALUES (?,?,?)", (layer.layer_id, shown.key, changes))


def _insert(connection: sqlite3.Connection, shown: _Shown, layer: Layer, replaces: Sequence[str], created: str) -> None:
    values = (
        *(layer.layer_id, shown.item_id, layer.kind.value, compact(list(replaces)), layer.source_text, layer.new_text),
        *(layer.own, layer.before, layer.after, layer.at, compact({"section": shown.section}), created, created),
    )
    connection.execute(_INSERT, values)


def _release(
    connection: sqlite3.Connection, shown: _Shown, kinds: Collection[LayerKind], state: str
) -> tuple[list[str], list[int]]:
    """Take layers off a passage; return them, and all passages they lay on.

    Where such a layer lies on other passages of the same cutting too, it becomes one for each: they stay as they are.
    """
    rows = connection.execute(f"{_ON} AND l.state = 'active'", (shown.key,)).fetchall()
    rows = [row for row in rows if row[1] in kinds]
    released = [row[0] for row in rows]
    touched = _places(connection, released)
    for row in rows:
        layer = layer_from(row[: len(LAYER_COLUMNS.split(", "))])
        elsewhere = connection.execute(_ELSEWHERE, (layer.layer_id, shown.key, shown.doc_id, shown.chunking))
        for key, text, segments, changes in elsewhere.fetchall():
            new_text = applied(text, changes_from(changes)) if layer.kind is LayerKind.TEXT else ""
            alone = Layer(
                f"lay_{secrets.token_hex(12)}", layer.kind, text, new_text, own_start(text, segments), at=layer.at
            )
            _insert(connection, shown, alone, (), row[-2])
            connection.execute("INSERT INTO chunk_layer_places VALUES (?,?,?)", (alone.layer_id, key, changes))
    _set_state(connection, shown.item_id, released, state)
    return released, touched


def _set_state(connection: sqlite3.Connection, item_id: str, layer_ids: Iterable[str], state: str) -> None:
    moment = _moment(connection, item_id)
    connection.executemany(
        "UPDATE chunk_layers SET state = ?, updated_at = ? WHERE layer_id = ?",
        [(state, moment, layer_id) for layer_id in layer_ids],
    )


def _settle(connection: sqlite3.Connection, item_id: str, touched: Iterable[int]) -> None:
    """Let every passage that is shown, or would be by another generation, say what the layers now make of it."""
    for doc_id, chunking in connection.execute(_SETS, (item_id,)).fetchall():
        carry(connection, item_id, doc_id, chunking)
    render(connection, touched)


def _places(connection: sqlite3.Connection, layer_ids: Iterable[str]) -> list[int]:
    listed = json.dumps(list(layer_ids))
    rows = connection.execute(
        "SELECT DISTINCT chunk_key FROM chunk_layer_places WHERE layer_id IN (SELECT value FROM json_each(?))",
        (listed,),
    )
    return [key for (key,) in rows]


def _before(connection: sqlite3.Connection, shown: _Shown) -> str:
    text = shown.original[: own_start(shown.original, shown.segments)]
    values = (shown.doc_id, shown.chunking, shown.ordinal, _BESIDE)
    found = ""
    for other, segments in connection.execute(_NEIGHBOURS.format("<", "DESC"), values).fetchall():
        found = f"{other[own_start(other, segments) :]}\n{found}"
    # What it repeats of the passage before is in `source_text` already.
    return found.rstrip().removesuffix(text.strip()).rstrip()[-AROUND:]


def _after(connection: sqlite3.Connection, shown: _Shown) -> str:
    values = (shown.doc_id, shown.chunking, shown.ordinal, _BESIDE)
    rows = connection.execute(_NEIGHBOURS.format(">", "ASC"), values).fetchall()
    return "\n".join(other[own_start(other, segments) :] for other, segments in rows)[:AROUND]


def _moment(connection: sqlite3.Connection, item_id: str) -> str:
    """Return a time after that of every earlier change of the item, whatever the clock says."""
    now = datetime.now(UTC)
    (last,) = connection.execute("SELECT max(updated_at) FROM chunk_layers WHERE item_id = ?", (item_id,)).fetchone()
    if last is not None:
        now = max(now, datetime.fromisoformat(last) + timedelta(microseconds=1))
    return now.isoformat(timespec="microseconds")


def _listed(row: Row) -> LayerRow:
    layer = layer_from(row[:8])
    item_id, path, place, created, updated, lies_on, reason = row[8:]
    where: dict[str, Any] = json.loads(place)
    chunks = tuple(json.loads(lies_on))
    return LayerRow(
        layer_id=layer.layer_id,
        item_id=item_id,
        path=path,
        kind=layer.kind.value,
        section=where.get("section"),
        source_text=layer.source_text,
        new_text=layer.new_text,
        chunk_ids=chunks,
        lost=reason or (None if chunks else _NOTHING_LEFT),
        created_at=datetime.fromisoformat(created),
        updated_at=datetime.fromisoformat(updated),
    )
