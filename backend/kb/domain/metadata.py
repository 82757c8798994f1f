"""What is known about a document beside its text: metadata and provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from kb.domain.ids import Json
from kb.domain.items import FAMILIES

_FAMILY: Mapping[str, str] = {media.value: family.value for media, family in FAMILIES.items()}


class SourceType(StrEnum):
    """What a document is; front matter, else its folder, says."""

    MARKDOWN = "markdown"
    NOTE = "note"
    PAPER = "paper"
    REFERENCE = "reference"
    INBOX = "inbox"


def kinds_of(source_type: str, media_type: str) -> tuple[str, ...]:
    """Return the words under which a filter finds a document: what it is, what its file is, and its wider family.

    `markdown` as a source type only says that nothing better is known; a program text is no Markdown for it.
    """
    family = _FAMILY.get(media_type)
    files = (media_type, family) if family else (media_type,)
    return files if source_type in {SourceType.MARKDOWN, media_type} else (source_type, *files)


def formats_of(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return `kinds` with every format that belongs to a family among them, such as `docx` for `office`."""
    named = dict.fromkeys(kinds)
    return (*named, *(media for media, family in _FAMILY.items() if family in named and media not in named))


class TrustLevel(StrEnum):
    """How far a document is trusted; `rank` orders the levels."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    GENERATED = "generated"

    @property
    def rank(self) -> int:
        """Return 2 for primary, 1 for secondary, 0 for generated."""
        return {"primary": 2, "secondary": 1, "generated": 0}[self.value]


class ProvenanceKind(StrEnum):
    """The steps a document went through (frozen design section 3.6)."""

    DISCOVERED = "discovered"
    PARSED = "parsed"
    NORMALIZED = "normalized"
    CHUNKED = "chunked"
    OCR_APPLIED = "ocr_applied"
    CAPTION_APPLIED = "caption_applied"
    TRANSCRIBED = "transcribed"
    EMBEDDED = "embedded"
    INDEXED = "indexed"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ProvenanceEvent:
    """One step: when, by which component, and a remark."""

    at: datetime
    agent: str
    kind: ProvenanceKind
    note: str = ""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata from front matter, else derived; unknown front matter keys stay in `user`."""

    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    source_type: SourceType
    trust_level: TrustLevel
    user_id_alias: str | None = None
    user: Mapping[str, Json] = field(default_factory=dict)
