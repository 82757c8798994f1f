"""By which policy an item is cut: its own settings, else its first collection's that has some, else the workspace's.

Nothing is cut otherwise because a setting changed. An item goes on being cut by the policy its shown passages were cut
by until somebody asks for it to be made anew; a generation, which is made anew anyway, is cut by what is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from kb.domain.chunks import ChunkPolicy
from kb.domain.collection_settings import Settings
from kb.domain.items import Item, MediaType
from kb.domain.paths import WorkspacePath
from kb.ingest.makers import DocumentMaker


class ItemChunking(Protocol):
    """What the library knows of how single items are cut."""

    @property
    def is_plain(self) -> bool:
        """Return whether no item has or had settings of its own or of a collection."""

    def override(self, item_id: str) -> Settings | None:
        """Return the item's own settings."""

    def of_collection(self, item_id: str) -> tuple[str, Settings] | None:
        """Return the name and settings of the first collection of an item that has some."""

    def of_new(self, path: WorkspacePath, media_type: MediaType) -> Settings | None:
        """Return the settings of the first collection that takes a new file by its place or type."""

    def served(self, item_id: str) -> str | None:
        """Return the hash of the policy that an item's shown passages were cut by."""

    def policies(self) -> Mapping[str, ChunkPolicy]:
        """Return, by hash, the policies that single items were cut by."""

    def remember(self, policy: ChunkPolicy) -> None:
        """Keep a policy by which single items are cut."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How an item is meant to be cut, and whose settings say so: `item`, `collection` or `workspace`."""

    settings: Settings
    source: Literal["item", "collection", "workspace"]
    collection: str | None = None


def wanted_of(store: ItemChunking, item_id: str, workspace: Settings) -> Wanted:
    """Return how an item is meant to be cut."""
    own = store.override(item_id)
    if own is not None:
        return Wanted(own, "item")
    collection = store.of_collection(item_id)
    return Wanted(collection[1], "collection", collection[0]) if collection else Wanted(workspace, "workspace")


class MakersByPolicy:
    """Chooses what makes the document of an item.

    Args:
        store: what the library knows.
        policy: of most items; its token cap is that of all.
        make: makes what cuts by a policy.
        keeps: shown items go on being cut as they are, and only new ones as is wanted.
        workspace: what items without settings of their own or a collection are cut by; None is `policy`.
    """

    def __init__(
        self,
        store: ItemChunking,
        policy: ChunkPolicy,
        make: Callable[[ChunkPolicy], DocumentMaker],
        *,
        keeps: bool,
        workspace: Settings | None = None,
    ) -> None:
        self._store = store
        self._policy = policy
        self._make = make
        self._keeps = keeps
        self._workspace = policy if workspace is None else policy.with_settings(workspace)
        self._made: dict[ChunkPolicy, DocumentMaker] = {}

    def of(self, item: Item, media_type: MediaType | None) -> DocumentMaker:
        """Return what makes the document of an item; its type is known when its file was just read."""
        return self._maker(self.policy_of(item, media_type))

    def policy_of(self, item: Item, media_type: MediaType | None = None) -> ChunkPolicy:
        """Return the policy an item is cut by."""
        if self._store.is_plain:
            return self._workspace
        if self._keeps and item.active_doc_id is not None:
            served = self._store.served(item.item_id)
            if served == self._policy.hash():
                return self._policy
            known = self._store.policies().get(served or "")
            if known is not None:
                return self._policy.with_settings(known.settings)
        settings = self._own(item, media_type)
        return self._workspace if settings is None else self._policy.with_settings(settings)

    def _own(self, item: Item, media_type: MediaType | None) -> Settings | None:
        own = self._store.override(item.item_id)
        if own is not None:
            return own
        collection = self._store.of_collection(item.item_id)
        if collection is not None:
            return collection[1]
        return self._store.of_new(item.path, media_type) if media_type is not None else None

    def _maker(self, policy: ChunkPolicy) -> DocumentMaker:
        if policy != self._policy:
            self._store.remember(policy)
        maker = self._made.get(policy)
        if maker is None:
            maker = self._made[policy] = self._make(policy)
        return maker
