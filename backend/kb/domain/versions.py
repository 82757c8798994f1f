"""Versions of an item: what it has been, and why some are kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kb.domain.recipes import DocumentId, ItemId

_SENTENCE = re.compile(r"[^\n.!?。！？]+")
_LONGEST = 60


class VersionState(StrEnum):
    """indexing → ready → superseded → purging → purged, and never back."""

    INDEXING = "indexing"
    READY = "ready"
    SUPERSEDED = "superseded"
    PURGING = "purging"
    PURGED = "purged"


class Pin(StrEnum):
    """Why a purge leaves a version alone."""

    SERVING = "serving"
    IN_FLIGHT = "in_flight"
    ANSWER = "answer"
    GENERATION = "generation"
    RECENT = "recent"


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an item.

    Attributes:
        number: from 1, rising; a text that comes back is a new version.
        title: None once its text is gone, as is `parser_version`.
        is_openable: whether its text is kept and may be seen.
    """

    item_id: ItemId
    number: int
    doc_id: DocumentId
    state: VersionState
    title: str | None
    created_at: datetime
    activated_at: datetime | None
    superseded_at: datetime | None
    parser_version: str | None
    chunker_version: str
    chunk_count: int
    generation: int
    is_openable: bool
    pins: tuple[Pin, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """What is asked of the text index before a version is shown.

    Attributes:
        entries: how many of the document it must hold.
        key: the passage to be found.
        text: of that passage.
    """

    doc_id: DocumentId
    entries: int
    key: int
    text: str


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge let go of, or would.

    Attributes:
        copies: storage paths of copies of originals that nothing needs any more.
        freed_bytes: of these copies and of the texts.
    """

    versions: int
    pinned: int
    freed_bytes: int
    copies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Removal:
    """Something to be removed from the data folder.

    Attributes:
        kind: `asset`, `artifacts` or `projection`.
        name: the path of the copy, the document, the folder.
        is_needed: the library has come to need it again.
    """

    number: int
    kind: str
    name: str
    is_needed: bool


def own_sentence(text: str) -> str:
    """Return the longest sentence of a passage, cut at a space after 60 characters; it is likely the rarest."""
    longest = max(_SENTENCE.findall(text), key=len, default="").strip()
    if len(longest) <= _LONGEST:
        return longest
    cut = longest[:_LONGEST]
    return cut.rpartition(" ")[0] or cut
