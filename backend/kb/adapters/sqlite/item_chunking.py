"""How items are cut: by which policy what they show was, and by which their own settings or a collection's want it."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.generations import ACTIVE_VERSION
from kb.adapters.sqlite.json_text import compact
from kb.adapters.sqlite.scope import collections_of, in_collection, stored_collections, teach_globs
from kb.domain.chunks import ChunkPolicy
from kb.domain.collection_settings import Settings, checked_chunking
from kb.domain.collections import ItemFacts
from kb.domain.errors import InvalidInput
from kb.domain.items import MediaType
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import ItemId

_SHOWN = f"""
FROM items i CROSS JOIN document_versions v ON {ACTIVE_VERSION}
  CROSS JOIN chunkings k ON k.chunking_key = v.chunking_key
WHERE i.deleted_at IS NULL
"""
_ANY = """
SELECT 1 FROM item_chunking UNION ALL SELECT 1 FROM chunk_policies
UNION ALL SELECT 1 FROM collections WHERE chunking_json IS NOT NULL AND archived_at IS NULL LIMIT 1
"""
_SPOIL = """
UPDATE generations SET ready_at = NULL
WHERE generation_id IN (SELECT generation_id FROM generation_documents WHERE item_id = ?)
"""


@dataclass(frozen=True, slots=True)
class CutItem:
    """An item that shows a document, and the hash of the policy it was cut by."""

    item_id: ItemId
    path: WorkspacePath
    policy_hash: str


class SqliteItemChunking:
    """Wraps the library file: settings and policies of single items."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._policies: tuple[int, dict[str, ChunkPolicy]] | None = None

    @property
    def is_plain(self) -> bool:
        """Return whether no item has or had settings of its own or of a collection."""
        return self._library.row(_ANY) is None

    def override(self, item_id: str) -> Settings | None:
        """Return the item's own settings; None when it has none that can be used."""
        row = self._library.row("SELECT wanted_json FROM item_chunking WHERE item_id = ?", (item_id,))
        return _settings(row[0]) if row else None

    def overrides(self) -> Mapping[ItemId, Settings]:
        """Return the own settings of all items that have some."""
        rows = self._library.rows("SELECT item_id, wanted_json FROM item_chunking")
        return {ItemId(item_id): found for item_id, text in rows if (found := _settings(text)) is not None}

    def set_override(self, item_id: str, settings: Settings | None) -> None:
        """Keep an item's own settings; None lets it be cut as its collection or the workspace says."""
        with self._library.transaction() as connection:
            if settings is None:
                connection.execute("DELETE FROM item_chunking WHERE item_id = ?", (item_id,))
            else:
                values = (item_id, compact(dict(settings)))
                connection.execute("INSERT OR REPLACE INTO item_chunking VALUES (?,?)", values)

    def of_collection(self, item_id: str) -> tuple[str, Settings] | None:
        """Return the name and settings of the first collection of an item that has some."""
        with self._library.view() as view:
            found = collections_of(view, item_id)
        return next(((one.name, one.chunking) for one in found if one.chunking is not None), None)

    def of_new(self, path: WorkspacePath, media_type: MediaType) -> Settings | None:
        """Return the settings of the first collection that takes a new file by its place or type.

        Its tags are not known before it is read.
        """
        facts = ItemFacts(path, frozenset({media_type.value}))
        with self._library.view() as view:
            found = stored_collections(view)
        return next((one.chunking for one in found if one.chunking is not None and one.fills_itself_with(facts)), None)

    def of_collections(self) -> Mapping[ItemId, tuple[str, Settings]]:
        """Return, of all items in collections that have settings, those that count."""
        by_item: dict[ItemId, tuple[str, Settings]] = {}
        with self._library.view() as view:
            teach_globs(view)
            for one in stored_collections(view):
                if one.chunking is None:
                    continue
                within, values = in_collection(one)
                sql = f"SELECT i.item_id FROM items i WHERE i.deleted_at IS NULL AND {within}"
                for (item_id,) in view.execute(sql, values):
                    by_item.setdefault(ItemId(item_id), (one.name, one.chunking))
        return by_item

    def in_collection(self, collection_id: str) -> Sequence[ItemId]:
        """Return the items of a collection; none of one that is archived or gone."""
        with self._library.view() as view:
            teach_globs(view)
            chosen = [one for one in stored_collections(view) if one.collection_id == collection_id]
            if not chosen:
                return ()
            within, values = in_collection(chosen[0])
            sql = f"SELECT i.item_id FROM items i WHERE i.deleted_at IS NULL AND {within}"
            return [ItemId(item_id) for (item_id,) in view.execute(sql, values)]

    def shown(self) -> Sequence[CutItem]:
        """Return all items that show a document, by path."""
        rows = self._library.rows(f"SELECT i.item_id, i.workspace_path, k.policy_hash {_SHOWN} ORDER BY 2")
        return [CutItem(ItemId(item_id), WorkspacePath(path), hashed) for item_id, path, hashed in rows]

    def served(self, item_id: str) -> str | None:
        """Return the hash of the policy that an item's shown passages were cut by; None when it shows none."""
        row = self._library.row(f"SELECT k.policy_hash {_SHOWN} AND i.item_id = ?", (item_id,))
        return str(row[0]) if row else None

    def policies(self) -> Mapping[str, ChunkPolicy]:
        """Return, by hash, the policies that single items were cut by."""
        with self._lock:
            # Read before: what is committed meanwhile may be missing.
            revision = self._library.revision
            if self._policies is None or self._policies[0] != revision:
                rows = self._library.rows("SELECT policy_hash, policy_json FROM chunk_policies")
                read = {hashed: policy for hashed, text in rows if (policy := _policy(text)) is not None}
                self._policies = revision, read
            return self._policies[1]

    def remember(self, policy: ChunkPolicy) -> None:
        """Keep a policy by which single items are cut."""
        hashed = policy.hash()
        if hashed in self.policies():
            return
        with self._library.transaction() as connection:
            values = (hashed, compact(asdict(policy)))
            connection.execute("INSERT OR IGNORE INTO chunk_policies VALUES (?,?)", values)

    def forget_built(self, item_id: str) -> None:
        """Let every generation make an item's document anew before it serves: it is cut otherwise from now on."""
        with self._library.transaction() as connection:
            connection.execute(_SPOIL, (item_id,))
            connection.execute("DELETE FROM generation_documents WHERE item_id = ?", (item_id,))


def _settings(text: str) -> Settings | None:
    """Read stored settings; what cannot be used is as if it were not there."""
    try:
        found = json.loads(text)
        return checked_chunking(found) if isinstance(found, dict) else None
    except (ValueError, InvalidInput):
        return None


def _policy(text: str) -> ChunkPolicy | None:
    try:
        found = json.loads(text)
        cap = found.pop("max_tokens")
        return ChunkPolicy(max_tokens=cap).with_settings(found)
    except (ValueError, KeyError, TypeError, AttributeError, InvalidInput):
        return None
