"""Checks of the library file, for `kb doctor` and `kb index verify`."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.float16 import is_sound
from kb.domain.catalogue import IntegrityReport
from kb.domain.ids import content_hash
from kb.domain.recipes import DocumentId

_COUNTS = ("items", "documents", "chunks", "embedding_records", "vectors", "index_log", "answers", "jobs")
# Things that must never be, and the sentence for each.
_RULES = {
    "{} items show a document that is not ready": """
SELECT count(*) FROM items i WHERE i.deleted_at IS NULL AND i.active_doc_id IS NOT NULL AND NOT EXISTS
  (SELECT 1 FROM document_versions v WHERE v.item_id = i.item_id AND v.doc_id = i.active_doc_id AND v.state = 'ready')
""",
    "{} items have two ready versions": """
SELECT count(*) FROM
  (SELECT item_id FROM document_versions WHERE state = 'ready' GROUP BY item_id HAVING count(*) > 1)
""",
    "{} documents have lost chunks": """
SELECT count(*) FROM document_versions v WHERE v.state IN ('indexing','ready') AND v.chunk_count <>
  (SELECT count(*) FROM chunks c WHERE c.doc_id = v.doc_id AND c.chunking_key = v.chunking_key
   AND c.role <> 'parent')
""",
    "{} edited passages have lost what the file says": """
SELECT count(*) FROM chunks c WHERE c.manually_edited = 1
  AND NOT EXISTS (SELECT 1 FROM chunk_originals o WHERE o.chunk_key = c.chunk_key)
""",
    "{} passages are taken out though nobody took them out": """
SELECT count(*) FROM chunks c WHERE c.enabled = 0 AND NOT EXISTS (SELECT 1 FROM chunk_layer_places p
  JOIN chunk_layers l ON l.layer_id = p.layer_id WHERE p.chunk_key = c.chunk_key AND l.state = 'active')
""",
    "{} chunks have lost their vector": """
SELECT count(*) FROM embedding_records r WHERE r.state <> 'pending' AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.text_hash = r.text_hash AND v.model_key = r.model_key)
""",
}


class SqliteIntegrity:
    """Wraps the library file: is it whole, and do its parts agree."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def check(self, vector_sample: int | None = 1000) -> IntegrityReport:
        """Check pages, foreign keys, our own rules and the checksums of vectors.

        Args:
            vector_sample: how many vectors to read, spread over all; None for every one.
        """
        with self._library.view() as view:
            found = [str(text) for (text,) in view.execute("PRAGMA integrity_check(20)")]
            problems = [] if found == ["ok"] else [f"the file is damaged: {text}" for text in found]
            orphans = len(view.execute("PRAGMA foreign_key_check").fetchall())
            if orphans:
                problems.append(f"{orphans} rows belong to nothing")
            for sentence, sql in _RULES.items():
                (count,) = view.execute(sql).fetchone()
                if count:
                    problems.append(sentence.format(count))
            wrong = _count_wrong_texts(view)
            if wrong:
                problems.append(f"{wrong} edited passages are not what their hash says")
            checked, damaged = _check_vectors(view, vector_sample)
            if damaged:
                problems.append(f"{damaged} of {checked} vectors looked at are damaged; the next ingest repairs them")
            counts = {table: int(view.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) for table in _COUNTS}
            return IntegrityReport(tuple(problems), int(self._library.meta("schema_version") or 0), checked, counts)

    def unknown_documents(self, doc_ids: Iterable[DocumentId]) -> list[DocumentId]:
        """Return those of `doc_ids` that the library does not hold, in their order."""
        asked = list(doc_ids)
        if not asked:
            return []
        known = {row[0] for row in self._library.rows("SELECT doc_id FROM documents")}
        return [doc_id for doc_id in asked if doc_id not in known]


def _count_wrong_texts(view: sqlite3.Connection) -> int:
    """Count edited passages whose text, or whose text before, is another than its hash says."""
    rows = view.execute(
        "SELECT c.text, c.text_hash, o.text, o.text_hash FROM chunk_originals o"
        " JOIN chunks c ON c.chunk_key = o.chunk_key"
    )
    return sum(
        content_hash(now.encode()) != now_hash.hex() or content_hash(before.encode()) != before_hash.hex()
        for now, now_hash, before, before_hash in rows
    )


def _check_vectors(view: sqlite3.Connection, sample: int | None) -> tuple[int, int]:
    (last,) = view.execute("SELECT coalesce(max(rowid), 0) FROM vectors").fetchone()
    step = max(1, last // sample) if sample else 1
    checked = damaged = 0
    for row in view.execute("SELECT vector, checksum, dimensions FROM vectors WHERE rowid % ? = 0", (step,)):
        checked += 1
        damaged += not is_sound(*row)
    return checked, damaged
