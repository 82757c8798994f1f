"""What the graph channel needs from the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.domain.embeddings import ChunkKey
from kb.domain.links import LinkKind
from kb.domain.recipes import ItemId


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An item linked with `seed`, in either direction; `fragment` is the heading that the link points to."""

    seed: ItemId
    item: ItemId
    kind: LinkKind
    fragment: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a linked item with the headings it stands under."""

    key: ChunkKey
    heading_path: tuple[str, ...] = ()


class LinkGraph(Protocol):
    """Links between items that may be seen, and their passages."""

    def items_of(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, ItemId]:
        """Return the item of each of `keys` that may be seen now."""

    def neighbours(self, items: Sequence[ItemId], most: int) -> Sequence[Neighbour]:
        """Return up to `most` links of each item, what says most first, in a fixed order."""

    def degrees(self, items: Sequence[ItemId]) -> Mapping[ItemId, int]:
        """Return how many links each item has, counted to 1,000 at most."""

    def passages(self, item: ItemId, *, everything: bool) -> Sequence[Passage]:
        """Return the first passages of an item that may be seen, in order; with `everything` up to 2,000."""
