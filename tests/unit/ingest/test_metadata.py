"""Metadata: front matter first, then what text, path and file tell."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from kb.domain.ids import Json
from kb.domain.metadata import SourceType, TrustLevel
from kb.domain.paths import WorkspacePath
from kb.ingest.metadata import Described, describe
from tests.fakes.parsing import NOON, parsed


def describing(
    front: Mapping[str, Json] | None = None, *pieces: tuple[str, str], path: str = "notes/a file.md"
) -> Described:
    return describe(front or {}, parsed(*pieces).blocks, WorkspacePath(path), NOON)


def test_front_matter_speaks_first_and_the_rest_is_kept() -> None:
    front: dict[str, Json] = {
        "Title": "  The\n title ",
        "lang": "zh-TW",
        "tags": ["a", "#b", "a", 3],
        "aliases": "one, two",
        "created": "2024-05-01",
        "updated_at": "2024-06-01T12:00:00+09:00",
        "source_type": "Paper",
        "trust_level": "secondary",
        "user_id_alias": "me",
        "mood": {"calm": True},
    }
    found = describing(front, ("h1", "Other"))
    assert (found.title, found.lang) == ("The title", "zh-Hant")
    data = found.metadata
    assert data.tags == ("a", "b", "3")
    assert data.aliases == ("one", "two")
    assert data.created_at == datetime(2024, 5, 1, tzinfo=UTC)
    assert data.updated_at == datetime(2024, 6, 1, 3, tzinfo=UTC)
    assert (data.source_type, data.trust_level, data.user_id_alias) == (SourceType.PAPER, TrustLevel.SECONDARY, "me")
    assert data.user == {"mood": {"calm": True}}


def test_without_front_matter_everything_is_derived() -> None:
    found = describing(None, ("h2", "Not this"), ("h1", "The  first\none"), ("h1", "Second"))
    assert found.title == "The first one"
    assert found.lang is None
    assert found.metadata.created_at == found.metadata.updated_at == NOON
    assert found.metadata.trust_level is TrustLevel.PRIMARY
    assert describing(None, ("paragraph", "x")).title == "a file"


@pytest.mark.parametrize(
    ("path", "source_type"),
    [
        ("inbox/a.md", SourceType.INBOX),
        ("work/Notes/a.md", SourceType.NOTE),
        ("papers/2024/a.md", SourceType.PAPER),
        ("references/a.md", SourceType.REFERENCE),
        ("a.md", SourceType.MARKDOWN),
        ("other/notes.md", SourceType.MARKDOWN),
    ],
)
def test_the_folder_tells_the_source_type(path: str, source_type: SourceType) -> None:
    assert describing(path=path).metadata.source_type is source_type


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("title", ["x"]),
        ("title", True),
        ("lang", "not a language"),
        ("date", "yesterday"),
        ("date", "0000-00-00"),
        ("source_type", "dream"),
        ("trust_level", 3),
        ("tags", {"a": 1}),
    ],
)
def test_a_value_that_cannot_be_used_is_kept_like_an_unknown_one(key: str, value: Json) -> None:
    found = describing({key: value}, ("h1", "A"))
    assert found.metadata.user == {key: value}
    assert (found.title, found.lang, found.metadata.created_at) == ("A", None, NOON)


@pytest.mark.parametrize(
    ("value", "lang"), [("KO", "ko"), ("en_US", "en"), (False, "no"), ("zh", "zh-Hans"), ("zh-Hant-HK", "zh-Hant")]
)
def test_languages_are_written_one_way(value: Json, lang: str) -> None:
    assert describing({"lang": value}).lang == lang


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2024-05-01", 1),
        ("2024/05/02", 2),
        ("2024.05.03", 3),
        (20240504, 4),
        ("2024-05-05 10:30", 5),
        ("2024-05-06T09:00", 6),
    ],
)
def test_dates_are_read_as_people_write_them(value: Json, day: int) -> None:
    created = describing({"date": value}).metadata.created_at
    assert (created.date().isoformat(), created.tzinfo) == (f"2024-05-{day:02}", UTC)


def test_tags_of_the_text_are_found_outside_code_headings_and_colours() -> None:
    found = describing(
        {"tags": "first second"},
        ("h1", "About #heading"),
        ("paragraph", "A #project/plan and (#한국어) but not #123, #fff, #a1b2c3, a#b or http://x/#y."),
        ("list", "one #todo\ntwo #first"),
        ("code", "#include <x>"),
        ("quote", "#quoted-tag."),
    )
    assert found.metadata.tags == ("first", "second", "project/plan", "한국어", "todo", "quoted-tag")


def test_a_tag_in_a_code_span_is_code() -> None:
    from kb.adapters.parsers.markdown.parser import MarkdownItParser
    from tests.fakes.parsing import Utf8Decoder

    blocks = MarkdownItParser(Utf8Decoder()).parse(b"Mount `#app` on #real", WorkspacePath("a.md")).blocks
    assert describe({}, blocks, WorkspacePath("a.md"), NOON).metadata.tags == ("real",)


def test_tags_that_yaml_takes_for_other_things_are_words() -> None:
    described = describing({"tags": [True, 7, 2.5, None, "a b"]})
    assert described.metadata.tags == ("true", "7", "2.5", "a b")
