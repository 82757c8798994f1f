"""Payloads of blocks: the structural pieces a parser finds in a document."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from kb.domain.inlines import Inline


class BlockKind(StrEnum):
    """The kinds of the frozen design section 3.4."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    CODE = "code"
    TABLE = "table"
    QUOTE = "quote"
    IMAGE_REF = "image_ref"
    AUDIO_REF = "audio_ref"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 6."""

    level: int


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph, quote or list; `inlines` keeps what has a target or a form of its own.

    Only links, code and emphasis are kept as inlines: plain text stands in the block's `text`.
    """

    inlines: tuple[Inline, ...] = ()
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A code block; `language` as written after the fence."""

    language: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table; rows may be shorter or longer than the headers."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class MediaRef:
    """A picture or recording that a document points to."""

    src: str
    alt: str = ""


Payload: TypeAlias = Heading | Prose | Code | Table | MediaRef
