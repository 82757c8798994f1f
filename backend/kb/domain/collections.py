"""Collections: named sets of items, filled by hand and by rules, with settings of their own."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kb.domain.collection_settings import Settings
from kb.domain.errors import InvalidInput
from kb.domain.globs import glob_pattern
from kb.domain.metadata import formats_of

MOST_COLLECTIONS = 1_000
MOST_RULES = 50
_LONGEST_NAME = 200
_LONGEST_VALUE = 1_000
_WILD = frozenset("*?[")


class RuleKind(StrEnum):
    """What a rule looks at: where the file is, a tag of its document, what it is."""

    FOLDER = "folder"
    TAG = "tag"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class CollectionRule:
    """Files that belong by themselves.

    Attributes:
        value: a folder or glob over workspace paths, a tag, or a type as filters take it (`note`, `pdf`, `office`).

    Raises:
        InvalidInput: the value is empty, too long or holds control characters.
    """

    kind: RuleKind
    value: str

    def __post_init__(self) -> None:
        """Check the value."""
        if not self.value.strip() or len(self.value) > _LONGEST_VALUE or not self.value.isprintable():
            raise InvalidInput(
                f"a rule of kind {self.kind.value} has no usable value",
                hint=f"give 1 to {_LONGEST_VALUE:,} letters without line breaks, such as `--folder 'notes/**'`",
            )

    @property
    def glob(self) -> str:
        """Return the glob of a folder rule; a plain folder means everything below it."""
        value = unicodedata.normalize("NFC", self.value).strip("/")
        if value in {"", "."}:
            return "**"
        return value if _WILD.intersection(value) else f"{value}/**"

    @property
    def folder(self) -> str | None:
        """Return the start of all paths of the rule, `notes/`, where that says all of it; None for other globs."""
        start = self.glob.removesuffix("**")
        plain = start.endswith("/") and start != self.glob and not _WILD.intersection(start)
        return start if plain else None

    def matches(self, facts: ItemFacts) -> bool:
        """Return whether an item belongs by this rule."""
        match self.kind:
            case RuleKind.FOLDER:
                return glob_pattern(self.glob).match(facts.path) is not None
            case RuleKind.TAG:
                return self.value in facts.tags
            case RuleKind.TYPE:
                named = self.value == facts.source_type and self.value != "markdown"
                return named or bool(facts.media_types.intersection(formats_of((self.value,))))


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """What rules look at of one item: its path, and the types and tags of the document it shows."""

    path: str
    media_types: frozenset[str] = frozenset()
    source_type: str | None = None
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of items.

    Attributes:
        revision: rises with every change; a change says which one it was made for.
        position: where it stands among the others, from 0.
        chunking: how its items are cut, all five settings; None is as the workspace has it.
        retrieval: settings of searches in it alone; what is absent is as the workspace has it.
        problems: what of it could not be read and is left out, in words.
    """

    collection_id: str
    name: str
    position: int
    revision: int
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None = None
    rules: tuple[CollectionRule, ...] = ()
    chunking: Settings | None = None
    retrieval: Settings | None = None
    problems: tuple[str, ...] = ()

    def fills_itself_with(self, facts: ItemFacts) -> bool:
        """Return whether any rule matches an item."""
        return any(rule.matches(facts) for rule in self.rules)


@dataclass(frozen=True, slots=True)
class CollectionItem:
    """An item of a collection; `is_added` when a person put it in, else a rule did."""

    item_id: str
    path: str
    state: str
    is_added: bool


def checked_name(name: str) -> str:
    """Return a name in NFC without spaces around it.

    Raises:
        InvalidInput: it is empty, too long or holds control characters.
    """
    plain = unicodedata.normalize("NFC", name).strip()
    if not plain or len(plain) > _LONGEST_NAME or not plain.isprintable():
        raise InvalidInput("that cannot be a name", hint=f"use 1 to {_LONGEST_NAME} letters without line breaks")
    return plain


def name_key(name: str) -> str:
    """Return what two names have in common that people would take for the same: NFKC, without case."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()
