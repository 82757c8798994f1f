"""Links: what documents point to, as written, and how names are compared."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from kb.domain.blocks import Payload

_LONGEST_ENDING = 8


class LinkKind(StrEnum):
    """Why two items are linked."""

    WIKI = "wiki"
    LINK = "link"
    TAG = "tag"
    HEADING = "heading"
    MANUAL = "manual"


WEIGHTS: Mapping[LinkKind, float] = MappingProxyType(
    {LinkKind.MANUAL: 1.0, LinkKind.WIKI: 1.0, LinkKind.LINK: 0.9, LinkKind.HEADING: 0.5, LinkKind.TAG: 0.3}
)
"""How much a link of each kind says, 0 to 1: what a person wrote on purpose says most, a shared tag least."""


class LinkOutcome(StrEnum):
    """What became of a link as written; `nothing` is a heading that names no document, or a link to itself."""

    RESOLVED = "resolved"
    AMBIGUOUS = "ambiguous"
    UNRESOLVED = "unresolved"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class LinkSource:
    """What of a block may hold links."""

    heading_path: Sequence[str]
    payload: Payload


@dataclass(frozen=True, slots=True)
class WrittenLink:
    """A link as a document says it.

    Attributes:
        kind: wiki, link or heading.
        target: the path or name, percent-decoded, without its fragment.
        fragment: the heading it points to, empty for the whole document.
        label: the words it stands on.
    """

    kind: LinkKind
    target: str
    fragment: str = ""
    label: str = ""

    @property
    def key(self) -> str:
        """Return the folded last part of the target: under it the names that may be meant are found."""
        return name_key(self.target)


def folded(text: str) -> str:
    """Return `text` as names are compared: NFKC, case folded, white space joined."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def name_key(name: str) -> str:
    """Return the folded last part of a path or name."""
    return folded(folded(name).rstrip("/").rpartition("/")[2])


def without_ending(name: str) -> str:
    """Return a file name without its last ending, `.md` of a note; a name that is all ending stays."""
    stem, dot, ending = name.rpartition(".")
    return stem if dot and stem and ending.isalnum() and len(ending) <= _LONGEST_ENDING else name
