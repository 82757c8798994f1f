"""What the workspace stood on when it was last seen whole."""

from __future__ import annotations

import json

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.json_text import compact
from kb.domain.files import Ground

_KEY = "workspace_ground"


class SqliteGroundStore:
    """Wraps the library file: one value beside its own facts, since it is true of this computer only."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def seen(self) -> Ground | None:
        """Return the ground as it was last kept."""
        kept = self._library.meta(_KEY)
        if kept is None:
            return None
        value = json.loads(kept)
        return Ground(str(value["root"]), tuple(map(str, value["mounts"])))

    def keep(self, ground: Ground) -> None:
        """Remember the ground."""
        with self._library.transaction() as connection:
            connection.execute(
                "INSERT INTO schema_meta (key, value) VALUES (?, ?)"
                " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (_KEY, compact({"root": ground.root, "mounts": list(ground.mounts)})),
            )
