"""`saved_searches.v1`: searches that people keep by a name."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from kb.contract.base import Request, Wire
from kb.contract.search import Filters, FindRequest

_Name = Annotated[str, Field(min_length=1, max_length=200)]


class SaveSearchRequest(Request):
    """A search to keep; one of the same name is only replaced when told to."""

    name: _Name
    request: FindRequest
    replace: bool = False


class ForgetSearchRequest(Request):
    """A kept search by its name."""

    name: _Name


class KeptFilters(Filters):
    """Filters as they are kept."""

    model_config = ConfigDict(extra="ignore")


class KeptRequest(FindRequest):
    """A search as it is kept: what may be asked, read as leniently as every reply."""

    model_config = ConfigDict(extra="ignore")

    filters: KeptFilters | None = None


class SavedSearch(Wire):
    """A kept search; where it cannot be read any more `request` is null and `problem` says why."""

    name: str
    request: KeptRequest | None
    created_at: AwareDatetime
    updated_at: AwareDatetime
    problem: str | None = None


class SavedSearches(Wire):
    """All kept searches, by name."""

    schema_version: Literal["saved_searches.v1"] = "saved_searches.v1"
    searches: tuple[SavedSearch, ...]
