"""What may be asked of collections."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kb.contract.base import Request
from kb.contract.collection_settings import OwnChunking, OwnRetrieval, RuleGiven

_Named = Annotated[str, Field(min_length=1, max_length=200)]
_Revision = Annotated[int, Field(ge=1)]


class CollectionsRequest(Request):
    """All by position, or those that are archived; with `counts` how many files each holds."""

    archived: bool = False
    counts: bool = False


class CreateCollectionRequest(Request):
    """A new collection; two that are shown never have names that read the same."""

    name: _Named
    rules: tuple[RuleGiven, ...] = Field(default=(), max_length=50)
    chunking: OwnChunking | None = None
    retrieval: OwnRetrieval | None = None


class CollectionRequest(Request):
    """A collection by id or name, at the `revision` that was seen."""

    collection: _Named
    revision: _Revision


class UpdateCollectionRequest(CollectionRequest):
    """What changes; what is left out stays, and null gives `chunking` or `retrieval` back to the workspace."""

    name: _Named | None = None
    rules: tuple[RuleGiven, ...] | None = Field(default=None, max_length=50)
    chunking: OwnChunking | None = None
    retrieval: OwnRetrieval | None = None


class OrderCollectionRequest(CollectionRequest):
    """Where it is to stand among the others, from 0."""

    position: int = Field(ge=0, le=1_000)


class MembersRequest(CollectionRequest):
    """Items by path, `item_id` or `doc_id`."""

    items: tuple[Annotated[str, Field(min_length=1, max_length=4_000)], ...] = Field(min_length=1, max_length=1_000)


class CollectionItemsRequest(Request):
    """A page of what a collection holds, by path."""

    collection: _Named
    cursor: str | None = Field(default=None, max_length=4_000)
    limit: int = Field(default=200, ge=1, le=500)
