"""Searches that people keep by a name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

MOST_SEARCHES = 1_000


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A kept search; `request_json` is what was asked, as the wire has it."""

    name: str
    request_json: str
    created_at: datetime
    updated_at: datetime
