"""What reading links needs from the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.domain.edges import DerivedEdge, KnownName, UnreadDocument
from kb.domain.links import LinkOutcome, WrittenLink
from kb.domain.recipes import DocumentId, ItemId


@dataclass(frozen=True, slots=True)
class WaitingItem:
    """An item whose links are to be led to their targets; no links when it is not shown any more."""

    item_id: ItemId
    path: str
    doc_id: DocumentId | None
    links: tuple[WrittenLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Led:
    """Where the links of an item lead: the edges, and what became of each link, in order."""

    edges: tuple[DerivedEdge, ...]
    outcomes: tuple[LinkOutcome, ...]


class LinkStore(Protocol):
    """The links of the library; every writing call is one transaction."""

    def unread(self, version: str, limit: int) -> Sequence[DocumentId]:
        """Return shown documents whose links were not read by `version`."""

    def sources(self, doc_ids: Sequence[DocumentId]) -> Sequence[UnreadDocument]:
        """Return what of these documents may hold links."""

    def keep(self, version: str, read: Mapping[DocumentId, Sequence[WrittenLink]]) -> None:
        """Store the links of documents in place of earlier ones; their items wait to be led to their targets."""

    def note_names(self, limit: int) -> int:
        """Look at items that came, went or were renamed since; return how many there were, at most `limit`.

        Who links to one of their names, old or new, waits to be led to its targets anew.
        """

    def waiting(self, limit: int) -> Sequence[WaitingItem]:
        """Return items that wait to be led to their targets."""

    def names(self, keys: Sequence[str]) -> Mapping[str, Sequence[KnownName]]:
        """Return the names of shown items by key, in a fixed order."""

    def lead(self, led: Mapping[WaitingItem, Led]) -> None:
        """Put edges in place of the derived ones of these items; what a person took away or added stays so."""


class LinkProgress(Protocol):
    """Told of what is done."""

    def __call__(self, stage: str, done: int) -> object:
        """Take how many of a stage are done."""
