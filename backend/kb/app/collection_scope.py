"""Which collections a request is scoped to, and what that means for its settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from kb.domain.collection_settings import Settings
from kb.domain.collections import Collection, name_key
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.search import Degradation
from kb.retrieval.results import SearchResult
from kb.retrieval.values import Degraded


class StoredCollections(Protocol):
    """Collections as they are now."""

    def all(self, *, archived: bool = False) -> Sequence[Collection]:
        """Return those that are shown, or those that are archived."""

    def get(self, collection_id: str) -> Collection | None:
        """Return one, archived or not."""

    def count(self, collection_id: str) -> int:
        """Return how many files one holds."""


class CollectionScope:
    """Turns what people name into ids, and says which settings a scope brings with it.

    Args:
        store: the collections.
        item_id_of: gives the id of the item that a path, doc_id or item_id names, or raises NotFound.
    """

    def __init__(self, store: StoredCollections, item_id_of: Callable[[str], str]) -> None:
        self._store = store
        self._item_id_of = item_id_of

    def named(self, what: str, *, archived: bool | None = False) -> Collection:
        """Return the collection that an id or a name means; case and width of a name do not count.

        Args:
            what: an id or a name.
            archived: False refuses archived ones, True looks for them first, None takes whichever is meant.

        Raises:
            NotFound: there is none.
            InvalidInput: it is archived, and must not be.
        """
        key = name_key(what)
        orders = (True, False) if archived else (False, True)
        listed = [one for is_archived in orders for one in self._store.all(archived=is_archived)]
        found = next((one for one in listed if one.collection_id == what), None)
        found = found or next((one for one in listed if name_key(one.name) == key), None)
        if found is None:
            raise NotFound(
                f"there is no collection {what[:64]!r}", hint="`kb collections list` names those that there are"
            )
        if archived is False and found.archived_at is not None:
            raise InvalidInput(
                f"the collection {found.name[:64]!r} is archived", hint="restore it first: `kb collections restore`"
            )
        return found

    def ids(self, named: Sequence[str]) -> tuple[str, ...]:
        """Return the ids of collections that a request names, each once.

        Raises:
            NotFound: there is none of a name.
            InvalidInput: one is archived.
        """
        return tuple(dict.fromkeys(self.named(what).collection_id for what in named))

    def items(self, named: Sequence[str]) -> tuple[str, ...]:
        """Return the ids of items that a request names, each once.

        Raises:
            NotFound: there is none of a name.
        """
        return tuple(dict.fromkeys(map(self._item_id_of, named)))

    def settings(self, collection_ids: Sequence[str]) -> Settings:
        """Return the retrieval settings that a scope brings with it: those of its one collection; none of several."""
        if len(collection_ids) != 1:
            return {}
        found = self._store.get(collection_ids[0])
        return (found.retrieval if found else None) or {}

    def explained(self, found: SearchResult) -> SearchResult:
        """Return what a search found, with a word on collections that hold no files at all."""
        scope = found.query.filters.collections
        if not scope or any(self._store.count(collection_id) for collection_id in scope):
            return found
        detail = "the collection holds no files" if len(scope) == 1 else "these collections hold no files"
        said = (*found.diagnostics.degraded, Degraded("scope", Degradation.EMPTY_SCOPE, detail))
        return replace(found, diagnostics=replace(found.diagnostics, degraded=said))
