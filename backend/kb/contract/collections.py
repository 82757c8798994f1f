"""`collections.v1`, `collection.v1`, `collection_items.v1`: named sets of items with settings of their own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime

from kb.contract.base import Open, Wire
from kb.contract.collection_settings import CollectionChunking, CollectionRetrieval, CollectionRule


class Collection(Wire):
    """A collection. `items` is how many files it holds, null where they were not counted.

    `chunking` and `retrieval` are null or partial where the workspace's settings hold; `problems` says in words what of
    it could not be read and is left out.
    """

    collection_id: str
    name: str
    position: int
    revision: int
    archived: bool
    rules: tuple[CollectionRule, ...]
    chunking: CollectionChunking | None
    retrieval: CollectionRetrieval | None
    created_at: AwareDatetime
    updated_at: AwareDatetime
    items: int | None = None
    problems: tuple[str, ...] = ()


class Collections(Wire):
    """Collections by position."""

    schema_version: Literal["collections.v1"] = "collections.v1"
    collections: tuple[Collection, ...]


class CollectionView(Wire):
    """One collection as it is now."""

    schema_version: Literal["collection.v1"] = "collection.v1"
    collection: Collection


class CollectionItem(Wire):
    """A file of a collection; `by` says whether a person put it in or a rule did."""

    item_id: str
    doc_path: str
    state: str
    by: Annotated[Literal["hand", "rule"], Open]


class CollectionItems(Wire):
    """`next` is null on the last page."""

    schema_version: Literal["collection_items.v1"] = "collection_items.v1"
    items: tuple[CollectionItem, ...]
    next: str | None
