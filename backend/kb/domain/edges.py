"""Edges between items: the names by which items are meant, links led to their targets, and how lists show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kb.domain.links import LinkKind, LinkOutcome, LinkSource
from kb.domain.recipes import DocumentId, ItemId


@dataclass(frozen=True, slots=True)
class KnownName:
    """A name of an item: its `file` with and without ending, its `title`, or an `alias` of its front matter."""

    item_id: ItemId
    path: str
    kind: Literal["file", "title", "alias"]
    name: str


@dataclass(frozen=True, slots=True)
class DerivedEdge:
    """A link of an item whose target is known; `label` and `fragment` as written."""

    to_item: ItemId
    kind: LinkKind
    label: str = ""
    fragment: str = ""


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """An edge as lists show it.

    Attributes:
        outward: whether it leads from the item that was asked about.
        item_id: the other end.
        path: of the other end.
        evidence: the words of the link, the tag or heading, or what a person noted.
        is_active: False once a person took it away.
    """

    outward: bool
    item_id: ItemId
    path: str
    title: str
    kind: LinkKind
    is_manual: bool
    is_active: bool
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class OpenTarget:
    """A link that leads nowhere, or to more than one item."""

    path: str
    kind: LinkKind
    target: str
    outcome: LinkOutcome


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """The links in numbers.

    Attributes:
        active: by kind; a pair of items that shares two tags counts twice.
        removed: taken away by people.
        documents: those shown.
        read: those of them whose links are read.
        waiting: files whose links are still to be led to their targets.
        ambiguous: links that may mean several items.
        unresolved: links whose target is not there.
    """

    active: Mapping[LinkKind, int]
    removed: int
    documents: int
    read: int
    waiting: int
    ambiguous: int
    unresolved: int


@dataclass(frozen=True, slots=True)
class UnreadDocument:
    """A document whose links are not read yet."""

    doc_id: DocumentId
    title: str
    sources: tuple[LinkSource, ...]
