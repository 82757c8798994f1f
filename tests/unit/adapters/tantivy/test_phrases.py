"""Phrases and words left out: exactly what a look at every text would give."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kb.adapters.tantivy.index import TantivyTextIndex
from kb.domain.embeddings import ChunkKey
from kb.domain.search import SearchFilters
from kb.domain.text import CJK
from tests.contracts.text_search import entry, found, snapshot

_WORDS = (
    "red",
    "Red",
    "house",
    "c++",
    "c",
    "naïve",
    "дом",
    "悬空",
    "懸空",
    "空引",
    "引用",
    "학교",
    "학교에서",
    "교에",
    "ｈｏｕｓｅ",
)
_JOINTS = (" ", ", ", "", "\n", "。")
_LETTERS = {"懸": "悬"}


def _texts() -> dict[int, str]:
    made = (
        a + joint + b + joint + c
        for joint in _JOINTS
        for a, b, c in itertools.permutations(_WORDS[::2] + _WORDS[3:9:2], 3)
    )
    return dict(enumerate(itertools.islice(made, 0, None, 7)))


_TEXTS = _texts()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TantivyTextIndex]:
    made = TantivyTextIndex(tmp_path_factory.mktemp("library") / "tantivy", "library")
    made.rebuild(snapshot(1, *(entry(key, f"{text} all") for key, text in _TEXTS.items())))
    yield made
    made.close()


def stands_in(phrase: str, text: str) -> bool:
    """The reference, made another way: letters and words with one space between, a bar at the end of each CJK run."""
    wanted, whole = _spelled(phrase), _spelled(text)
    return bool(wanted) and f" {wanted.removesuffix(' |').removesuffix('|')} ".replace("  ", " ") in f" {whole} "


def _spelled(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    for old, new in _LETTERS.items():
        plain = plain.replace(old, new)
    plain = re.sub(rf"([{CJK}]+)", lambda run: " " + " ".join(run[1]) + " | ", plain)
    return " ".join(re.sub(r"\b([a-z]{1,2})\+\+(?!\w)|[^\w|]", lambda m: f"{m[1]}++" if m[1] else " ", plain).split())


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=3), st.sampled_from(_JOINTS))
@example(["悬", "空"], "")
@example(["서"], "")
@example(["c"], "")
def test_a_phrase_finds_exactly_the_texts_that_hold_it(index: TantivyTextIndex, words: list[str], joint: str) -> None:
    phrase = joint.join(words)
    right = [key for key, text in _TEXTS.items() if stands_in(phrase, f"{text} all")]
    assert list(index.holding(phrase)) == right
    assert sorted(found(index, "all", SearchFilters(phrases=(phrase,)), len(_TEXTS))) == right
    others = sorted(found(index, "all", SearchFilters(excluded=(phrase,)), len(_TEXTS)))
    assert others == [key for key in _TEXTS if key not in set(right)]


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("資料庫的設計", "资料库的设计"),
        (unicodedata.normalize("NFD", "한글 정규화"), "한글 정규화를"),
        ("ﾃﾞｰﾀ", "データの"),
        ("ＡＢＣ　１２３", "abc 123"),
        ("Straße", "STRASSE 5"),
        ("C++", "uses C++ here"),
        ("gen-itgc", "gen itgc"),
    ],
)
def test_widths_composed_forms_case_and_chinese_variants_are_one(tmp_path: Path, phrase: str, text: str) -> None:
    made = TantivyTextIndex(tmp_path / "tantivy", "library")
    made.rebuild(snapshot(1, entry(1, text), entry(2, "something else")))
    assert made.holding(phrase) == [1]


def test_one_letter_of_a_name_with_marks_is_not_the_name(tmp_path: Path) -> None:
    made = TantivyTextIndex(tmp_path / "tantivy", "library")
    made.rebuild(snapshot(1, entry(1, "uses C++ here"), entry(2, "the letter C here")))
    assert made.holding("C") == [2]
    assert found(made, "here", SearchFilters(excluded=("c++",))) == [2]


@pytest.mark.parametrize("share", [1, 30, 60, 300, 900])
def test_words_that_keep_to_what_is_not_allowed_hide_nothing(tmp_path: Path, share: int) -> None:
    made = TantivyTextIndex(tmp_path / "tantivy", "library")
    made.rebuild(
        snapshot(1, *(entry(key, "rare rare rare" if key >= share else f"rare {'other ' * 40}") for key in range(1000)))
    )
    allowed = [ChunkKey(key) for key in range(share)]
    assert [c.key for c in made.search("rare", SearchFilters(), 5, allowed).candidates] == list(range(min(share, 5)))
