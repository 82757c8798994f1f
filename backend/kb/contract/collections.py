"""`collections.v1`, `collection.v1`, `collection_items.v1`: named sets of items with settings of their own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from kb.contract.base import Open, Request, Wire

_Named = Annotated[str, Field(min_length=1, max_length=200)]
_Revision = Annotated[int, Field(ge=1)]


class RuleGiven(Request):
    """Files that belong by themselves: those below a folder or of a glob, with a tag, or of a type."""

    kind: Literal["folder", "tag", "type"]
    value: str = Field(min_length=1, max_length=1_000)


class OwnChunking(Request):
    """How the files of a collection are cut (PRD section 8.1), in characters; overlap is at most 40 % of the target."""

    mode: Literal["fixed", "structure", "parent-child"] = "structure"
    target_characters: int = Field(default=1_600, ge=400, le=8_000)
    overlap_characters: int = Field(default=160, ge=0, le=3_200)
    parent_characters: int = Field(default=4_800, ge=1_600, le=16_000)
    child_characters: int = Field(default=900, ge=300, le=4_000)


class OwnRetrieval(Request):
    """Settings of searches in one collection (PRD section 7.3); what is left out is as the workspace has it."""

    top_k: int | None = Field(default=None, ge=1, le=20)
    minimum_vector_similarity: float | None = Field(default=None, ge=0, le=1)
    fts_weight: float | None = Field(default=None, ge=0, le=2)
    vector_weight: float | None = Field(default=None, ge=0, le=2)
    graph_weight: float | None = Field(default=None, ge=0, le=2)
    candidate_multiplier: int | None = Field(default=None, ge=2, le=10)
    context_max_characters: int | None = Field(default=None, ge=2_000, le=48_000)
    adjacent_chunk_count: int | None = Field(default=None, ge=0, le=2)
    rerank: Literal["off", "local", "model"] | None = None
    fusion: Literal["score", "rrf"] | None = None


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


class CollectionRule(Wire):
    """Files that belong by themselves."""

    kind: Annotated[Literal["folder", "tag", "type"], Open]
    value: str


class CollectionChunking(Wire):
    """How the files of a collection are cut, in characters."""

    mode: Annotated[Literal["fixed", "structure", "parent-child"], Open]
    target_characters: int
    overlap_characters: int
    parent_characters: int
    child_characters: int


class CollectionRetrieval(Wire):
    """Settings of searches in one collection; null is as the workspace has it."""

    top_k: int | None = None
    minimum_vector_similarity: float | None = None
    fts_weight: float | None = None
    vector_weight: float | None = None
    graph_weight: float | None = None
    candidate_multiplier: int | None = None
    context_max_characters: int | None = None
    adjacent_chunk_count: int | None = None
    rerank: Annotated[Literal["off", "local", "model"], Open] | None = None
    fusion: Annotated[Literal["score", "rrf"], Open] | None = None


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
