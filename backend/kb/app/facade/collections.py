"""`collections`: named sets of items with settings of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from kb.app.collection_scope import CollectionScope, StoredCollections
from kb.contract import collection_requests as asked
from kb.contract import collection_settings as settings
from kb.contract import collections as wire
from kb.contract.items import ItemRequest
from kb.domain.catalogue import Page
from kb.domain.collection_settings import Settings, checked_chunking, checked_retrieval
from kb.domain.collections import Collection, CollectionItem, CollectionRule, RuleKind, checked_name


class CollectionStore(StoredCollections, Protocol):
    """Collections and what is in them; changes say which revision they are made for."""

    def of(self, item_id: str) -> Sequence[Collection]:
        """Return those that an item is in."""

    def create(
        self, name: str, rules: Sequence[CollectionRule], chunking: Settings | None, retrieval: Settings | None
    ) -> Collection:
        """Add one behind the others."""

    def save(self, changed: Collection, seen: int) -> Collection:
        """Give one the name, rules and settings of `changed`."""

    def archive(self, collection_id: str, seen: int, *, archived: bool) -> Collection:
        """Take one out of all lists and scopes, or put it back."""

    def move(self, collection_id: str, seen: int, position: int) -> Collection:
        """Put one at a place among those that are shown."""

    def put(self, collection_id: str, seen: int, item_ids: Sequence[str], *, added: bool) -> Collection:
        """Put items in by hand, or leave them out."""

    def items(self, collection_id: str, after: str | None = None, limit: int = 100) -> Page[CollectionItem]:
        """Return what one holds, by path."""

    def count(self, collection_id: str) -> int:
        """Return how many files one holds."""


class Collections:
    """Shows and changes collections.

    Args:
        store: where they are.
        scope: knows what names mean.
        changed: called after each change.
    """

    def __init__(self, store: CollectionStore, scope: CollectionScope, changed: Callable[[], object]) -> None:
        self._store = store
        self._scope = scope
        self._changed = changed

    def list(self, request: asked.CollectionsRequest) -> wire.Collections:
        """Return the collections by position, or those that are archived."""
        found = self._store.all(archived=request.archived)
        return wire.Collections(
            collections=tuple(
                _wire(one, self._store.count(one.collection_id) if request.counts else None) for one in found
            )
        )

    def create(self, request: asked.CreateCollectionRequest) -> wire.CollectionView:
        """Add a collection behind the others."""
        chunking = checked_chunking(request.chunking.model_dump()) if request.chunking else None
        retrieval = checked_retrieval(_given(request.retrieval)) if request.retrieval else None
        return self._done(
            self._store.create(checked_name(request.name), _rules(request.rules), chunking, retrieval or None)
        )

    def update(self, request: asked.UpdateCollectionRequest) -> wire.CollectionView:
        """Change the name, rules or settings of a collection."""
        changed = self._scope.named(request.collection, archived=None)
        if request.name is not None:
            changed = replace(changed, name=checked_name(request.name))
        if request.rules is not None:
            changed = replace(changed, rules=_rules(request.rules))
        if "chunking" in request.model_fields_set:
            chunking = checked_chunking(request.chunking.model_dump()) if request.chunking else None
            changed = replace(changed, chunking=chunking)
        if "retrieval" in request.model_fields_set:
            retrieval = checked_retrieval(_given(request.retrieval)) if request.retrieval else None
            changed = replace(changed, retrieval=retrieval or None)
        return self._done(self._store.save(changed, request.revision))

    def order(self, request: asked.OrderCollectionRequest) -> wire.CollectionView:
        """Put a collection at another place among the others."""
        collection_id = self._id(request.collection)
        return self._done(self._store.move(collection_id, request.revision, request.position))

    def archive(self, request: asked.CollectionRequest) -> wire.CollectionView:
        """Take a collection out of lists and scopes; its files stay, and so does what it knows of them."""
        return self._done(self._store.archive(self._id(request.collection), request.revision, archived=True))

    def restore(self, request: asked.CollectionRequest) -> wire.CollectionView:
        """Undo `archive`; it stands behind the others."""
        collection = self._scope.named(request.collection, archived=True)
        return self._done(self._store.archive(collection.collection_id, request.revision, archived=False))

    def add(self, request: asked.MembersRequest) -> wire.CollectionView:
        """Put files into a collection by hand."""
        return self._put(request, added=True)

    def leave_out(self, request: asked.MembersRequest) -> wire.CollectionView:
        """Take files out of a collection; rules do not bring them back."""
        return self._put(request, added=False)

    def items(self, request: asked.CollectionItemsRequest) -> wire.CollectionItems:
        """Return a page of what a collection holds."""
        page = self._store.items(self._id(request.collection), request.cursor, request.limit)
        return wire.CollectionItems(
            items=tuple(
                wire.CollectionItem(
                    item_id=one.item_id, doc_path=one.path, state=one.state, by="hand" if one.is_added else "rule"
                )
                for one in page.entries
            ),
            next=page.next,
        )

    def of(self, request: ItemRequest) -> wire.Collections:
        """Return the collections that a file is in."""
        (item_id,) = self._scope.items((request.doc,))
        return wire.Collections(collections=tuple(_wire(one, None) for one in self._store.of(item_id)))

    def _put(self, request: asked.MembersRequest, *, added: bool) -> wire.CollectionView:
        items = self._scope.items(request.items)
        return self._done(self._store.put(self._id(request.collection), request.revision, items, added=added))

    def _id(self, named: str) -> str:
        return self._scope.named(named, archived=None).collection_id

    def _done(self, collection: Collection) -> wire.CollectionView:
        self._changed()
        return wire.CollectionView(collection=_wire(collection, self._store.count(collection.collection_id)))


def _given(retrieval: settings.OwnRetrieval | None) -> dict[str, object]:
    return retrieval.model_dump(exclude_none=True) if retrieval else {}


def _rules(given: Sequence[settings.RuleGiven]) -> tuple[CollectionRule, ...]:
    return tuple(dict.fromkeys(CollectionRule(RuleKind(rule.kind), rule.value) for rule in given))


def _wire(one: Collection, items: int | None) -> wire.Collection:
    return wire.Collection(
        collection_id=one.collection_id,
        name=one.name,
        position=one.position,
        revision=one.revision,
        archived=one.archived_at is not None,
        rules=tuple(settings.CollectionRule(kind=rule.kind.value, value=rule.value) for rule in one.rules),
        chunking=settings.CollectionChunking.model_validate(dict(one.chunking)) if one.chunking else None,
        retrieval=settings.CollectionRetrieval.model_validate(dict(one.retrieval)) if one.retrieval else None,
        created_at=one.created_at,
        updated_at=one.updated_at,
        items=items,
        problems=one.problems,
    )
