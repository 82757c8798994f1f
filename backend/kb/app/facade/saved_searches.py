"""The part of `search` that keeps searches by a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pydantic import ValidationError

from kb.contract.base import Empty
from kb.contract.saved_searches import ForgetSearchRequest, KeptRequest, SavedSearches, SaveSearchRequest
from kb.contract.saved_searches import SavedSearch as WireSearch
from kb.contract.search import FindRequest
from kb.domain.collections import checked_name
from kb.domain.saved_searches import SavedSearch


class SearchStore(Protocol):
    """Where searches are kept."""

    def all(self) -> Sequence[SavedSearch]:
        """Return them by name."""

    def save(self, name: str, request_json: str, *, replaces: bool) -> None:
        """Keep one."""

    def forget(self, name: str) -> None:
        """Keep one no longer."""


class SavedSearching:
    """Keeps searches.

    Args:
        store: where.
        changed: called after each change.
    """

    def __init__(self, store: SearchStore, changed: Callable[[], object]) -> None:
        self._kept = store
        self._changed = changed

    def saved(self, request: Empty) -> SavedSearches:
        """Return the searches that are kept, by name."""
        del request
        return SavedSearches(searches=tuple(map(_wire, self._kept.all())))

    def save(self, request: SaveSearchRequest) -> SavedSearches:
        """Keep a search by a name."""
        # What is left out stays left out: it is to follow the settings as they are when it is asked.
        asked = request.request.model_dump_json(exclude_unset=True, exclude_none=True, exclude={"explain"})
        self._kept.save(checked_name(request.name), asked, replaces=request.replace)
        self._changed()
        return self.saved(Empty())

    def forget(self, request: ForgetSearchRequest) -> SavedSearches:
        """Keep a search no longer."""
        self._kept.forget(request.name)
        self._changed()
        return self.saved(Empty())


def request_of_saved(search: SavedSearch) -> FindRequest | None:
    """Return what a kept search asks; None where it cannot be read any more."""
    try:
        return FindRequest.model_validate_json(search.request_json)
    except ValidationError:
        return None


def _wire(search: SavedSearch) -> WireSearch:
    # First as strictly as it would be asked: a condition of a later version must not be lost in silence.
    request = KeptRequest.model_validate_json(search.request_json) if request_of_saved(search) else None
    problem = None if request else "it cannot be read any more: search anew, and save that under the same name"
    return WireSearch(
        name=search.name,
        request=request,
        created_at=search.created_at,
        updated_at=search.updated_at,
        problem=problem,
    )
