"""Collections and kept searches that people name, as they are now."""

from __future__ import annotations

from kb.app.requests import request_of
from kb.contract.base import Empty
from kb.contract.collection_requests import CollectionsRequest
from kb.contract.collections import Collection
from kb.contract.facade import Facade
from kb.contract.search import FindRequest
from kb.domain.collections import name_key
from kb.domain.errors import InvalidInput, NotFound


def collection_named(facade: Facade, named: str, *, prefers_archived: bool = False) -> Collection:
    """Return a collection by its name or id, archived or not.

    Raises:
        NotFound: there is none.
    """
    for archived in (prefers_archived, not prefers_archived):
        for one in facade.collections.list(CollectionsRequest(archived=archived)).collections:
            if named == one.collection_id or name_key(named) == name_key(one.name):
                return one
    raise NotFound(f"there is no collection {named[:64]!r}", hint="`kb collections list` names those that there are")


def search_named(facade: Facade, name: str, top_k: int | None, *, explain: bool) -> FindRequest:
    """Return what a kept search asks, with another number of hits if given.

    Raises:
        NotFound: none of this name is kept.
        InvalidInput: it cannot be read any more.
    """
    kept = facade.search.saved(Empty()).searches
    found = next((one for one in kept if name_key(one.name) == name_key(name)), None)
    if found is None:
        raise NotFound(f"no search {name[:64]!r} is kept", hint="`kb search --saved` lists those that are")
    if found.request is None:
        raise InvalidInput(f"the search {name[:64]!r} cannot be read any more", hint="search anew with --save")
    given = found.request.model_dump(exclude_none=True)
    return request_of(FindRequest, **{**given, "top_k": top_k or given.get("top_k"), "explain": explain})
