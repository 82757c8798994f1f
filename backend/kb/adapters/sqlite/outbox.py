"""The outbox: what is gone from the library and not yet from the disk."""

from __future__ import annotations

from collections.abc import Sequence

from kb.adapters.sqlite.connection import Library
from kb.domain.versions import Removal

# A file that comes back may have its copy, or its words, kept anew under the same name.
_WAITING = """
SELECT removal_id, kind, name, CASE kind
  WHEN 'asset' THEN EXISTS (SELECT 1 FROM assets a WHERE a.storage_kind = 'copied' AND a.asset_id = substr(r.name, -32)
                            AND a.storage_path = r.name)
  WHEN 'artifacts' THEN EXISTS (SELECT 1 FROM documents d WHERE d.doc_id = r.name)
  ELSE 0 END
FROM removals r WHERE removal_id > ? ORDER BY removal_id LIMIT ?
"""


class SqliteOutbox:
    """Wraps the library file: removals that were committed and are not done."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def waiting(self, after: int, limit: int) -> Sequence[Removal]:
        """Return removals by rising number."""
        rows = self._library.rows(_WAITING, (after, limit))
        return [Removal(number, kind, name, bool(is_needed)) for number, kind, name, is_needed in rows]

    def done(self, numbers: Sequence[int]) -> None:
        """Take removals off, in one transaction."""
        if numbers:
            with self._library.transaction() as connection:
                connection.executemany("DELETE FROM removals WHERE removal_id = ?", ((number,) for number in numbers))
