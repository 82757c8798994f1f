"""Layers inside a transaction: carried to the passages of another version, and what passages say with them.

Whatever puts passages calls `carry`; whatever changes layers calls `render` for the passages they lie on. Both leave it
to the rows what is true: a passage says its original with the changes of the active layers that lie on it.
"""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kb.adapters.sqlite.json_text import compact, now_text
from kb.adapters.sqlite.segments import LazySegments, segments_json, spans_json
from kb.adapters.sqlite.withdrawal import is_indexable, log_text, mark_written
from kb.domain.embeddings import ChunkKey
from kb.domain.ids import content_hash
from kb.domain.layers import Change, Layer, LayerKind, applied, merged, placed_again
from kb.domain.reattaching import Passage, Reattached, reattach

LAYER_COLUMNS = "l.layer_id, l.kind, l.source_text, l.new_text, l.own, l.before_text, l.after_text, l.place"
"""The columns `layer_from` reads, in its order."""

_ACTIVE = f"SELECT {LAYER_COLUMNS} FROM chunk_layers l WHERE l.item_id = ? AND l.state = 'active'"
_PASSAGES = """
SELECT c.chunk_key, coalesce(o.text, c.text), coalesce(o.segments_json, c.segments_json), c.role = 'parent'
FROM chunks c LEFT JOIN chunk_originals o ON o.chunk_key = c.chunk_key
WHERE c.doc_id = ? AND c.chunking_key = ? ORDER BY c.ordinal
"""
_LYING = """
SELECT DISTINCT p.layer_id FROM chunks c JOIN chunk_layer_places p ON p.chunk_key = c.chunk_key
WHERE c.doc_id = ? AND c.chunking_key = ? AND (c.role = 'parent') = ?
"""
_PLACE = "INSERT OR REPLACE INTO chunk_layer_places (layer_id, chunk_key, changes_json) VALUES (?,?,?)"
_CHUNK = """
SELECT c.doc_id, c.role = 'parent', c.enabled, c.manually_edited, c.text, c.text_hash, c.char_count, c.token_estimate,
  c.segments_json, c.source_spans_json, o.text, o.text_hash, o.char_count, o.token_estimate, o.segments_json,
  o.source_spans_json
FROM chunks c LEFT JOIN chunk_originals o ON o.chunk_key = c.chunk_key WHERE c.chunk_key = ?
"""
# Newest first: where two change the same, the newer one counts.
_LAID = """
SELECT l.kind, p.changes_json FROM chunk_layer_places p JOIN chunk_layers l ON l.layer_id = p.layer_id
WHERE p.chunk_key = ? AND l.state = 'active' ORDER BY l.created_at DESC, l.layer_id DESC
"""
_KEEP = "INSERT OR IGNORE INTO chunk_originals VALUES (?,?,?,?,?,?,?)"
_SAY = """
UPDATE chunks SET enabled = ?, manually_edited = ?, text = ?, text_hash = ?, char_count = ?, token_estimate = ?,
  segments_json = ?, source_spans_json = ?, updated_at = ? WHERE chunk_key = ?
"""
_RECORDS = """
SELECT r.model_key, r.state, EXISTS (SELECT 1 FROM vectors v WHERE v.model_key = r.model_key AND v.text_hash = ?2)
FROM embedding_records r WHERE r.chunk_key = ?1
"""
_NEW_RECORDS = """
UPDATE embedding_records SET state = 'pending', log_seq = NULL, char_count = ?, text_hash = ? WHERE chunk_key = ?
"""
# A generation that does not serve is indexed anew before it does.
_SPOIL = """
UPDATE generations SET ready_at = NULL
WHERE generation_id IN (SELECT generation_id FROM generation_documents WHERE doc_id = ?)
"""


class _Said(NamedTuple):
    """What a passage says, as its row has it."""

    text: str
    text_hash: bytes
    char_count: int
    token_estimate: int
    segments_json: str
    source_spans_json: str


def carry(connection: sqlite3.Connection, item_id: str, doc_id: str, chunking: int, *, logs: bool = True) -> None:
    """Lay the layers of an item on the passages of one of its documents; called in the transaction that puts them.

    A layer that lies on some of them stays as it lies; what fits nowhere is written down with the reason.

    Args:
        connection: of the transaction.
        item_id: whose layers.
        doc_id: the document.
        chunking: how it is cut.
        logs: whether changes of text go on the index log; not needed of a document that goes on it anyway.
    """
    layers = [layer_from(row) for row in connection.execute(_ACTIVE, (item_id,))]
    if not layers:
        return
    below, above = (
        {layer_id for (layer_id,) in connection.execute(_LYING, (doc_id, chunking, is_parent))}
        for is_parent in (False, True)
    )
    passages: list[Passage] = []
    parents: list[Passage] = []
    for key, text, segments, is_parent in connection.execute(_PASSAGES, (doc_id, chunking)):
        (parents if is_parent else passages).append(Passage(key, text, own_start(text, segments)))
    layers_above = [_as_text(layer) for layer in layers if layer.layer_id not in above]
    layers = [layer for layer in layers if layer.layer_id not in below]
    found = reattach(layers, passages) if layers else Reattached((), ())
    # A parent is only read beside its passages: it must not say what they no longer do.
    also = reattach(layers_above, parents) if layers_above and parents else Reattached((), ())
    placed = [*found.attachments, *also.attachments]
    connection.executemany(_PLACE, [(one.layer_id, one.key, changes_json(one.changes)) for one in placed])
    connection.executemany(
        "DELETE FROM chunk_layer_losses WHERE layer_id = ? AND doc_id = ? AND chunking_key = ?",
        [(layer.layer_id, doc_id, chunking) for layer in layers],
    )
    connection.executemany(
        "INSERT INTO chunk_layer_losses VALUES (?,?,?,?)",
        [(one.layer_id, doc_id, chunking, one.reason) for one in found.lost],
    )
    render(connection, (one.key for one in placed), logs=logs)


def render(connection: sqlite3.Connection, keys: Iterable[int], *, logs: bool = True) -> None:
    """Let passages say their original with the active layers on them, and all channels know what changed."""
    changed: dict[str, None] = {}
    for key in dict.fromkeys(keys):
        doc_id = _render(connection, key)
        if doc_id is not None:
            changed[doc_id] = None
    for doc_id in changed:
        connection.execute(_SPOIL, (doc_id,))
        if logs and is_indexable(connection, doc_id):
            log_text(connection, "remove", (doc_id,))
            log_text(connection, "add", (doc_id,))


def layer_from(row: Sequence[Any]) -> Layer:
    """Read a row of the columns `LAYER_COLUMNS`."""
    layer_id, kind, source, new, own, before, after, at = row
    return Layer(layer_id, LayerKind(kind), source, new, own, before, after, at)


def changes_json(changes: Iterable[Change]) -> str:
    """Return changes as they are kept."""
    return compact([[change.start, change.end, change.text] for change in changes])


def changes_from(text: str) -> tuple[Change, ...]:
    """Read what `changes_json` wrote."""
    return tuple(Change(*values) for values in json.loads(text))


def own_start(text: str, segments: str) -> int:
    """Return where a passage's own text begins: what it repeats of the one before has no place in it."""
    places = LazySegments(segments)
    return text.rfind("\n", 0, places[0].start) + 1 if places else 0


def _render(connection: sqlite3.Connection, key: int) -> str | None:
    """Return the document of a passage whose text changed."""
    row = connection.execute(_CHUNK, (key,)).fetchone()
    if row is None:
        return None
    doc_id, is_parent, was_enabled, was_edited = row[:4]
    now, kept = _Said(*row[4:10]), row[10:]
    original = now if kept[0] is None else _Said(*kept)
    laid = [(LayerKind(kind), changes_from(text)) for kind, text in connection.execute(_LAID, (key,))]
    changes = merged(made for _, made in laid)
    text = applied(original.text, changes)
    is_out = not is_parent and any(kind is not LayerKind.TEXT for kind, _ in laid)
    said = original if text == original.text else _said(original, text, changes)
    # Of a passage of which an edit left nothing, or only what it repeats of another, nothing is to be found.
    is_blank = not text.strip() or (said.segments_json == "[]" != original.segments_json)
    said = original if is_blank else said
    is_enabled, is_edited = not (is_out or is_blank), said is not original
    if (is_enabled, is_edited, said.text) == (bool(was_enabled), bool(was_edited), now.text):
        return None
    if is_edited:
        connection.execute(_KEEP, (key, *original))
    else:
        connection.execute("DELETE FROM chunk_originals WHERE chunk_key = ?", (key,))
    connection.execute(_SAY, (is_enabled, is_edited, *said, now_text(), key))
    if said.text == now.text:
        return None
    _renew_records(connection, key, said)
    return str(doc_id)


def _said(original: _Said, text: str, changes: Sequence[Change]) -> _Said:
    segments = placed_again(original.text, LazySegments(original.segments_json), changes)
    return _Said(
        text,
        bytes.fromhex(content_hash(text.encode())),
        len(text),
        max(1, round(original.token_estimate * len(text) / max(1, len(original.text)))),
        segments_json(segments),
        spans_json(segments),
    )


def _renew_records(connection: sqlite3.Connection, key: int, said: _Said) -> None:
    """Let a passage have the vectors of what it says now: those its text has already, else ones still to be made."""
    records = connection.execute(_RECORDS, (key, said.text_hash)).fetchall()
    connection.execute(_NEW_RECORDS, (said.char_count, said.text_hash, key))
    if any(state != "pending" for _, state, _ in records):
        connection.execute("INSERT INTO index_log (projection, op, chunk_key) VALUES ('vector', 'remove', ?)", (key,))
    for model, _, has_vector in records:
        if has_vector:
            mark_written(connection, model, [ChunkKey(key)])


def _as_text(layer: Layer) -> Layer:
    if layer.kind is LayerKind.TEXT:
        return layer
    return replace(layer, kind=LayerKind.TEXT, new_text=layer.source_text[: layer.own])
