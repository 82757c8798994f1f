"""How the items of an opened library are cut and meant to be cut, and which wait for being made anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.app.bootstrap import Parts
from kb.domain.chunks import ChunkPolicy
from kb.domain.recipes import ItemId
from kb.ingest.chunk_policies import Wanted, wanted_of


@dataclass(frozen=True, slots=True)
class PendingItem:
    """An item that is cut otherwise than is wanted of it; `served` is how it is cut."""

    item_id: ItemId
    path: str
    served: ChunkPolicy
    wanted: Wanted


class ChunkingState:
    """Compares what is wanted with what serves."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def wanted(self, item_id: str) -> Wanted:
        """Return how an item is meant to be cut."""
        return wanted_of(self._parts.item_chunking, item_id, self._parts.wanted.policy.settings)

    def served(self, item_id: str) -> ChunkPolicy | None:
        """Return how an item's shown passages were cut; None when it shows none."""
        hashed = self._parts.item_chunking.served(item_id)
        return None if hashed is None else self._policies().get(hashed, self._parts.recipe.policy)

    def pending(self, only: Sequence[str] | None = None) -> list[PendingItem]:
        """Return the items that are cut otherwise than is wanted of them, by path; `only` of some items."""
        parts = self._parts
        store, policies = parts.item_chunking, self._policies()
        serving, workspace = parts.recipe.policy, parts.wanted.policy
        if store.is_plain and serving.cuts_as(workspace):
            return []
        own, of_collections = store.overrides(), store.of_collections()
        chosen = None if only is None else set(only)
        found = []
        for one in store.shown():
            if chosen is not None and one.item_id not in chosen:
                continue
            if one.item_id in own:
                wanted = Wanted(own[one.item_id], "item")
            elif one.item_id in of_collections:
                name, settings = of_collections[one.item_id]
                wanted = Wanted(settings, "collection", name)
            else:
                wanted = Wanted(workspace.settings, "workspace")
            served = policies.get(one.policy_hash, serving)
            if not served.cuts_as(serving.with_settings(wanted.settings)):
                found.append(PendingItem(one.item_id, one.path, served, wanted))
        return found

    def waiting(self) -> str | None:
        """Return in a sentence that files wait to be cut by settings of their own or their collection's; None if none.

        What the workspace's settings change is said of the generation that serves.
        """
        if self._parts.item_chunking.is_plain:
            return None
        found = [one for one in self.pending() if one.wanted.source != "workspace"]
        if not found:
            return None
        files = "1 file is" if len(found) == 1 else f"{len(found):,} files are"
        return f"settings changed, rebuild pending: {files} cut otherwise than their own settings or collection say"

    def _policies(self) -> dict[str, ChunkPolicy]:
        kept = [one.recipe.policy for one in self._parts.generations.all() if one.recipe is not None]
        return {**{policy.hash(): policy for policy in kept}, **self._parts.item_chunking.policies()}
