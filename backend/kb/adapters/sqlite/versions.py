"""Versions of items: their history, what is asked about one before it is shown, and letting go of one not found."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.gate import KEPT_MAY_BE_SEEN, SERVING
from kb.adapters.sqlite.items import ITEM_COLUMNS, item_from
from kb.adapters.sqlite.json_text import now_text
from kb.adapters.sqlite.purge import PINNED_BY_ANSWER, PINNED_BY_GENERATION
from kb.adapters.sqlite.withdrawal import withdraw
from kb.domain.items import Item
from kb.domain.recipes import DocumentId, ItemId
from kb.domain.versions import Pin, Probe, Version, VersionState

_HISTORY = f"""
SELECT v.item_id, v.number, v.doc_id, v.state, d.title, v.created_at, v.activated_at, v.superseded_at,
  d.parser_version, k.chunker_version, v.chunk_count, v.generation_id,
  d.doc_id IS NOT NULL AND v.state <> 'indexing' AND ({KEPT_MAY_BE_SEEN}),
  v.state = 'ready' AND v.generation_id = {SERVING}, v.state = 'indexing', {PINNED_BY_ANSWER}, {PINNED_BY_GENERATION},
  v.state = 'superseded' AND
    (SELECT count(*) FROM document_versions n WHERE n.item_id = v.item_id AND n.state = 'superseded'
     AND n.number > v.number) < ?1
FROM document_versions v JOIN items i ON i.item_id = v.item_id
JOIN chunkings k ON k.chunking_key = v.chunking_key LEFT JOIN documents d ON d.doc_id = v.doc_id
WHERE v.item_id = ?2 ORDER BY v.number DESC
"""
_PINS = (Pin.SERVING, Pin.IN_FLIGHT, Pin.ANSWER, Pin.GENERATION, Pin.RECENT)
_GONE = frozenset({VersionState.PURGING, VersionState.PURGED})
# As `INDEXED_AS` has it, asked once for the document and not for each passage.
_ENTRIES = """
SELECT count(*) FROM chunks c WHERE c.doc_id = ?1 AND c.role <> 'parent' AND c.chunking_key IN (
  SELECT v.chunking_key FROM document_versions v JOIN items i ON i.item_id = v.item_id
  WHERE v.doc_id = ?1 AND v.state IN ('indexing','ready') AND i.deleted_at IS NULL)
"""
# The longest passage of the version that waits: its longest sentence is likely to be found nowhere else.
_SAMPLE = """
SELECT c.chunk_key, c.text FROM chunks c JOIN document_versions v ON v.doc_id = c.doc_id
  AND v.chunking_key = c.chunking_key AND v.state = 'indexing'
WHERE c.doc_id = ? AND c.role <> 'parent' ORDER BY c.char_count DESC, c.chunk_key LIMIT 1
"""
_REJECTED = """
UPDATE document_versions SET state = 'purging' WHERE doc_id = ? AND state = 'indexing' RETURNING item_id
"""
# Without a fingerprint the file is read again by the next run.
_FAILED = """
UPDATE items SET state = 'failed', reason = ?, fingerprint = NULL, updated_at = ? WHERE item_id = ?
"""


class SqliteVersions:
    """Wraps the library file: the versions of items."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def history(self, item_id: str, keep_versions: int) -> Sequence[Version]:
        """Return the versions of an item, newest first; `keep_versions` superseded ones are pinned as recent."""
        return [_version(row) for row in self._library.rows(_HISTORY, (keep_versions, item_id))]

    def probes(self, doc_ids: Sequence[DocumentId]) -> Sequence[Probe]:
        """Return what to ask the text index about each of these documents that waits to be shown."""
        found = []
        for doc_id in doc_ids:
            sample = self._library.row(_SAMPLE, (doc_id,))
            if sample is not None:
                (entries,) = self._library.row(_ENTRIES, (doc_id,)) or (0,)
                found.append(Probe(doc_id, entries, sample[0], sample[1]))
        return found

    def reject(self, reasons: Mapping[DocumentId, str]) -> Sequence[Item]:
        """Let go of staged versions in one transaction; their items fail with the reason and show what they showed."""
        with self._library.transaction() as connection:
            failed: list[str] = []
            for doc_id, reason in reasons.items():
                items = [item_id for (item_id,) in connection.execute(_REJECTED, (doc_id,)).fetchall()]
                connection.executemany(_FAILED, ((reason, now_text(), item_id) for item_id in items))
                failed += items
            withdraw(connection, reasons)
            rows = connection.execute(
                f"SELECT {ITEM_COLUMNS} FROM items i WHERE i.item_id IN (SELECT value FROM json_each(?))"
                " ORDER BY i.workspace_path",
                (json.dumps(failed),),
            ).fetchall()
        return [item_from(row) for row in rows]


def _version(row: Sequence[Any]) -> Version:
    state = VersionState(row[3])
    pins = () if state in _GONE else tuple(pin for pin, holds in zip(_PINS, row[13:], strict=True) if holds)
    return Version(
        item_id=ItemId(row[0]),
        number=row[1],
        doc_id=DocumentId(row[2]),
        state=state,
        title=row[4],
        created_at=datetime.fromisoformat(row[5]),
        activated_at=datetime.fromisoformat(row[6]) if row[6] else None,
        superseded_at=datetime.fromisoformat(row[7]) if row[7] else None,
        parser_version=row[8],
        chunker_version=row[9],
        chunk_count=row[10],
        generation=row[11],
        is_openable=bool(row[12]),
        pins=pins,
    )
