"""Collections: named sets of items, filled by hand and by rules, with settings of their own."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from kb.domain.errors import InvalidInput
from kb.domain.globs import glob_pattern
from kb.domain.metadata import formats_of

Settings: TypeAlias = Mapping[str, str | int | float | bool]

MOST_COLLECTIONS = 1_000
MOST_RULES = 50
_LONGEST_NAME = 200
_LONGEST_VALUE = 1_000
_WILD = frozenset("*?[")
_MODES = ("fixed", "structure", "parent-child")
# PRD section 8.1: range and default.
_CHUNKING = {
    "target_characters": (400, 8_000, 1_600),
    "overlap_characters": (0, 3_200, 160),
    "parent_characters": (1_600, 16_000, 4_800),
    "child_characters": (300, 4_000, 900),
}
# PRD section 7.3.
_WHOLE = {
    "top_k": (1, 20),
    "candidate_multiplier": (2, 10),
    "context_max_characters": (2_000, 48_000),
    "adjacent_chunk_count": (0, 2),
}
_SHARES = {
    "minimum_vector_similarity": (0.0, 1.0),
    "fts_weight": (0.0, 2.0),
    "vector_weight": (0.0, 2.0),
    "graph_weight": (0.0, 2.0),
}
_WORDS = {"rerank": ("off", "local", "model"), "fusion": ("score", "rrf")}
_WEIGHTS = ("fts_weight", "vector_weight", "graph_weight")


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


def checked_chunking(given: Mapping[str, object]) -> Settings:
    """Return all five chunking settings; those not given have the defaults of PRD section 8.1.

    Raises:
        InvalidInput: one is unknown, of the wrong kind or out of its range.
    """
    _refuse_unknown(given, ("mode", *_CHUNKING))
    mode = given.get("mode", "structure")
    if not isinstance(mode, str) or mode not in _MODES:
        raise InvalidInput("mode is not a chunking mode", hint=f"use one of {', '.join(_MODES)}")
    settings: dict[str, str | int | float | bool] = {"mode": mode}
    for name, (least, most, default) in _CHUNKING.items():
        settings[name] = _whole(name, given.get(name, default), least, most)
    limit = int(settings["target_characters"]) * 2 // 5
    if int(settings["overlap_characters"]) > limit:
        raise InvalidInput(
            "overlap_characters is more than 40 % of target_characters", hint=f"it is at most {limit:,} here"
        )
    return settings


def checked_retrieval(given: Mapping[str, object]) -> Settings:
    """Return those retrieval settings that are given.

    Raises:
        InvalidInput: one is unknown, of the wrong kind or out of its range (PRD section 7.3).
    """
    _refuse_unknown(given, (*_WHOLE, *_SHARES, *_WORDS))
    settings: dict[str, str | int | float | bool] = {}
    for name, value in given.items():
        if name in _WHOLE:
            settings[name] = _whole(name, value, *_WHOLE[name])
        elif name in _SHARES:
            settings[name] = _share(name, value, *_SHARES[name])
        elif isinstance(value, str) and value in _WORDS[name]:
            settings[name] = value
        else:
            raise InvalidInput(f"{name} is none of its words", hint=f"use one of {', '.join(_WORDS[name])}")
    if all(settings.get(name) == 0 for name in _WEIGHTS):
        raise InvalidInput("all channels have the weight 0", hint="give at least one a weight above 0")
    return settings


def _refuse_unknown(given: Mapping[str, object], known: Sequence[str]) -> None:
    unknown = sorted(set(given).difference(known))
    if unknown:
        raise InvalidInput(f"there is no setting {unknown[0][:64]!r}", hint=f"there are {', '.join(known)}")


def _whole(name: str, value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidInput(f"{name} is out of its range", hint=f"it is a whole number from {least:,} to {most:,}")
    return value


def _share(name: str, value: object, least: float, most: float) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidInput(f"{name} is out of its range", hint=f"it is a number from {least:g} to {most:g}")
    return float(value)
