"""What is known about a document: front matter where it speaks, else derived from text, path and file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from kb.domain.blocks import BlockKind, Heading, Prose
from kb.domain.documents import ParsedBlock
from kb.domain.ids import Json
from kb.domain.inlines import Styled
from kb.domain.metadata import Metadata, SourceType, TrustLevel
from kb.domain.paths import WorkspacePath

_CREATED = ("created_at", "created", "date")
_UPDATED = ("updated_at", "updated", "modified", "lastmod")
_FOLDERS = {
    "inbox": SourceType.INBOX,
    "notes": SourceType.NOTE,
    "note": SourceType.NOTE,
    "journal": SourceType.NOTE,
    "daily": SourceType.NOTE,
    "papers": SourceType.PAPER,
    "paper": SourceType.PAPER,
    "references": SourceType.REFERENCE,
    "reference": SourceType.REFERENCE,
}
_MAX_TITLE = 300
_MAX_TAGS = 200
_TAGGED = frozenset((BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.QUOTE))
# Obsidian's rule: letters, digits, `_`, `-`, `/`, and not digits alone
_TAG = re.compile(r"(?<![^\s(\[])#([\w/-]*[^\W\d][\w/-]*)")
_COLOUR = re.compile(r"(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\Z")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*\Z")
_DATE_FORMATS = ("%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%Y/%m/%d %H:%M", "%Y-%m-%d %H:%M", "%Y-%m")


@dataclass(frozen=True, slots=True)
class Described:
    """Title, metadata, and the language if front matter names it."""

    title: str
    lang: str | None
    metadata: Metadata


def describe(
    front_matter: Mapping[str, Json], blocks: Sequence[ParsedBlock], path: WorkspacePath, modified_at: datetime
) -> Described:
    """Read the known keys of front matter and derive what it leaves out.

    Keys are known in any case; a known key with a value that cannot be used is kept in `user` like
    an unknown one. Tags of the text (`#tag`, outside code and headings) come after those of front matter.
    """
    reader = _Keys(front_matter)
    title = reader.text("title") or _first_title(blocks) or _stem(path)
    lang = reader.language()
    created = reader.moment(_CREATED)
    updated = reader.moment(_UPDATED)
    source = reader.one_of("source_type", SourceType)
    trust = reader.one_of("trust_level", TrustLevel)
    tags = [*reader.words("tags", spaces=True), *reader.words("tag", spaces=True), *_text_tags(blocks)]
    aliases = [*reader.words("aliases"), *reader.words("alias")]
    metadata = Metadata(
        aliases=tuple(dict.fromkeys(aliases)),
        tags=tuple(dict.fromkeys(filter(None, (tag.removeprefix("#") for tag in tags))))[:_MAX_TAGS],
        created_at=created or updated or modified_at,
        updated_at=updated or modified_at,
        source_type=SourceType(source) if source else _by_folder(path),
        trust_level=TrustLevel(trust) if trust else TrustLevel.PRIMARY,
        user_id_alias=reader.text("user_id_alias") or None,
        user=reader.rest(),
    )
    return Described(title[:_MAX_TITLE], lang, metadata)


class _Keys:
    """Front matter that notes which keys were of use."""

    def __init__(self, values: Mapping[str, Json]) -> None:
        self._values = values
        self._names = {key.strip().lower(): key for key in reversed(list(values))}
        self._used: set[str] = set()

    def text(self, name: str) -> str:
        value = self._value(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return ""
        self._use(name)
        return " ".join(str(value).split())

    def language(self) -> str | None:
        for name in ("lang", "language"):
            value = self._value(name)
            if value is False:  # YAML 1.1 reads Norwegian's `no` so
                value = "no"
            if isinstance(value, str) and _LANGUAGE.match(value.strip()):
                self._use(name)
                return _language(value.strip().replace("_", "-"))
        return None

    def moment(self, names: Sequence[str]) -> datetime | None:
        for name in names:
            value = self._value(name)
            moment = _moment(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
            if moment:
                self._use(name)
                return moment
        return None

    def one_of(self, name: str, kind: type[StrEnum]) -> str | None:
        value = self._value(name)
        if isinstance(value, str) and value.strip().lower() in {member.value for member in kind}:
            self._use(name)
            return value.strip().lower()
        return None

    def words(self, name: str, *, spaces: bool = False) -> list[str]:
        value = self._value(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            parts: Iterable[Json] = re.split(r"[,\s]+" if spaces and "," not in str(value) else r",", str(value))
        elif isinstance(value, Sequence) and not isinstance(value, str):
            parts = value
        else:
            return []
        self._use(name)
        return [text for part in parts if isinstance(part, str | int | float) and (text := _word(part))]

    def rest(self) -> dict[str, Json]:
        return {key: value for key, value in self._values.items() if key not in self._used}

    def _value(self, name: str) -> Json:
        return self._values.get(self._names.get(name, name))

    def _use(self, name: str) -> None:
        self._used.add(self._names[name])


def _word(value: str | float) -> str:
    # YAML reads a tag such as `true` as a truth value.
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def _moment(value: str | int) -> datetime | None:
    text = str(value).strip()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        parsed = next(filter(None, (_parsed(text, form) for form in _DATE_FORMATS)), None)
        if parsed is None:
            return None
        moment = parsed
    if not 1 < moment.year < 9999:  # noqa: PLR2004 - a day of zone shift must stay in range
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _parsed(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form).replace(tzinfo=UTC)
    except ValueError:
        return None


def _language(code: str) -> str:
    """Return our form of a language tag: Chinese by its script, others by their first part."""
    first, *rest = code.split("-")
    parts = {part.lower() for part in rest}
    if first.lower() != "zh":
        return first.lower()
    return "zh-Hant" if parts & {"hant", "tw", "hk", "mo"} else "zh-Hans"


def _first_title(blocks: Sequence[ParsedBlock]) -> str:
    for block in blocks:
        if isinstance(block.payload, Heading) and block.payload.level == 1:
            return " ".join(block.text.split())
    return ""


def _stem(path: WorkspacePath) -> str:
    name = path.rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    return unicodedata.normalize("NFC", stem)


def _by_folder(path: WorkspacePath) -> SourceType:
    folders = path.lower().split("/")[:-1]
    return next((_FOLDERS[folder] for folder in folders if folder in _FOLDERS), SourceType.MARKDOWN)


def _text_tags(blocks: Sequence[ParsedBlock]) -> list[str]:
    tags: list[str] = []
    for block in blocks:
        if block.kind not in _TAGGED or "#" not in block.text:
            continue
        inlines = block.payload.inlines if isinstance(block.payload, Prose) else ()
        code = " ".join(i.text for i in inlines if isinstance(i, Styled) and i.style == "code")
        for tag in _TAG.findall(block.text):
            clean = tag.strip("/-")
            if clean and not _COLOUR.match(clean) and f"#{tag}" not in code:
                tags.append(clean)
    return tags
