"""What people look for in Tantivy's index, in several languages, and the promise of one order."""

from __future__ import annotations

import math
import re
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
import tantivy
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kb.adapters.tantivy import query as queries
from kb.adapters.tantivy.index import TantivyTextIndex
from kb.domain.embeddings import ChunkKey
from kb.domain.globs import glob_pattern
from kb.domain.search import SearchFilters
from tests.contracts.text_search import ANY, changes, entry, found, snapshot

_TEXTS = {
    1: "학교에서는 자연을 배우고 저장소를 만든다",
    2: "步2 重跑gen-itgc后50条悬空引用清零",
    3: "コードはサンドボックスの中で動く",
    4: "This uses parse_query_lenient and getUserName on Python 3.11",
    5: "資料庫的設計與實作",
    6: "write to ann@example.org or see docs/setup/linux.md",
    7: "model ABC123 in the naïve café",
    8: "C++ devices with a usb-c adapter",
    9: unicodedata.normalize("NFD", "한글 정규화"),
    10: "止损点设在昨天的低点",
    11: "猫",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TantivyTextIndex]:
    made = TantivyTextIndex(tmp_path_factory.mktemp("library") / "tantivy", "library")
    filler = (entry(100 + key, f"other words {key} 다른 문장 其他句子") for key in range(30))
    made.rebuild(snapshot(1, *(entry(key, text) for key, text in _TEXTS.items()), *filler))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("학교", 1), ("학교를", 1), ("자연", 1), ("저장소", 1), ("자연은", 1),
        ("悬空", 2), ("itgc", 2), ("gen", 2), ("gen-itgc", 2), ("50", 2), ("步", 2), ("懸空引用", 2),
        ("サンドボックス", 3), ("ｻﾝﾄﾞﾎﾞｯｸｽ", 3),
        ("query lenient", 4), ("parse_query_lenient", 4), ("user name", 4), ("getUserName", 4), ("getusername", 4),
        ("3.11", 4),
        ("资料库", 5), ("資料", 5), ("设计", 5),
        ("ann@example.org", 6), ("docs/setup/linux.md", 6), ("linux.md", 6),
        ("ＡＢＣ１２３", 7), ("abc123", 7), ("naive cafe", 7), (unicodedata.normalize("NFD", "café"), 7),
        ("C++ (", 8), ('devices usb-c adapter""', 8), ("usb", 8), ("device", 8),
        ("한글", 9), ("정규화", 9),
        ("止损", 10), ("止損", 10),
        ("猫", 11),
    ],
)  # fmt: skip
def test_it_is_found_first(index: TantivyTextIndex, query: str, right: int) -> None:
    assert found(index, query)[:1] == [right]


@pytest.mark.parametrize("particle", ["가", "는", "를", "에", "에서", "에서는", "로", "의", "까지", "라고는"])
def test_a_korean_noun_is_found_with_any_particle(index: TantivyTextIndex, particle: str) -> None:
    assert found(index, f"학교{particle}")[:1] == [1]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec=None), max_size=4000), st.none() | st.text(max_size=40))
@example("\ud800 AND (", "[\ud800")
@example('a:(^ "', "**/{*.[")
def test_any_text_and_any_glob_gives_an_answer(index: TantivyTextIndex, text: str, glob: str | None) -> None:
    reply = index.search(text, SearchFilters(path_glob=glob, tags_any=(text[:10],) if glob else ()), 5)
    assert 0 <= reply.seen <= 1


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="*?/[]!ab.한(+\\", max_size=12))
@example("notes/**/[!1]*.md")
def test_a_glob_filter_means_what_globs_mean_everywhere(index: TantivyTextIndex, glob: str) -> None:
    right = {key for key in (*_TEXTS, *range(100, 130)) if glob_pattern(glob).match(f"notes/{key}.md")}
    assert set(found(index, "other words 猫 C++", SearchFilters(path_glob=glob), 99)) <= right
    paths = [f"notes/{key}.md" for key in range(1, 12)] + ["a", "b/a.한", "a/b/a", "ab(+", "a\\b"]
    assert {p for p in paths if re.fullmatch(queries._rust_pattern(glob), p)} == {
        p for p in paths if glob_pattern(glob).match(p)
    } or "[" in glob


def test_the_longest_questions_are_answered_quickly(index: TantivyTextIndex) -> None:
    for text in ("word " * 800, "한" * 4000, "a_b." * 1000, "".join(chr(0x4E00 + i) for i in range(4000))):
        start = time.process_time()
        index.search(text, ANY, 24)
        assert time.process_time() - start < 0.1


def test_the_ceiling_is_the_score_of_a_short_text_that_repeats_every_word(tmp_path: Path) -> None:
    made = TantivyTextIndex(tmp_path / "tantivy", "library")
    made.rebuild(
        snapshot(1, entry(1, "zebra crossing " * 300), *(entry(key, f"filler {key} " * 400) for key in range(2, 40)))
    )
    reply = made.search("zebra crossing", ANY, 5)
    assert reply.ceiling * 0.95 < reply.candidates[0].score <= reply.ceiling
    assert reply.seen == 1


def test_deleted_texts_are_counted_as_tantivy_counts_them(tmp_path: Path) -> None:
    made = TantivyTextIndex(tmp_path / "tantivy", "library")
    made.rebuild(snapshot(1, *(entry(key, f"word text{key} " * 500) for key in range(20))))
    made.apply(changes(2, remove=tuple(f"doc-{key}" for key in range(5))))
    reply = made.search("text7", ANY, 5)
    # 20, not 15: BM25 knows of deletions only after a merge.
    alone = 2.2 * math.log(1 + (20 - 1 + 0.5) / 1.5)
    assert reply.ceiling == pytest.approx(2 * alone) or reply.ceiling == pytest.approx(alone)
    assert reply.candidates[0].score <= reply.ceiling


def test_the_order_does_not_depend_on_how_the_texts_came(tmp_path: Path) -> None:
    entries = [entry(key, f"word {'more ' * (key % 3)} text{key % 4}") for key in range(60)]
    whole = TantivyTextIndex(tmp_path / "whole", "library")
    whole.rebuild(snapshot(1, *entries))
    grown = TantivyTextIndex(tmp_path / "grown", "library")
    grown.rebuild(snapshot(1, *reversed(entries[40:])))
    for step in range(5):
        grown.apply(changes(step + 2, add=tuple(reversed(entries[step * 8 : step * 8 + 8]))))
    assert len(list((tmp_path / "grown").glob("*.term"))) > 1
    for text in ("word more text1", "text3", "more"):
        assert grown.search(text, ANY, 20) == whole.search(text, ANY, 20)


def test_a_thousand_times_the_same_question_is_a_thousand_times_the_same_answer(tmp_path: Path) -> None:
    made = TantivyTextIndex(tmp_path / "tantivy", "library")
    made.rebuild(snapshot(1, *(entry(key, f"word 단어 text{key % 4}") for key in range(200))))
    for step in range(4):
        made.apply(changes(step + 2, remove=(f"doc-{step}",), add=(entry(300 + step, "word 단어 text1"),)))
    first = made.search("word 단어 text1", ANY, 24)
    assert all(made.search("word 단어 text1", ANY, 24) == first for _ in range(1000))


def test_more_ties_than_asked_for_are_cut_in_key_order(tmp_path: Path) -> None:
    made = TantivyTextIndex(tmp_path / "tantivy", "library")
    made.rebuild(snapshot(1, *(entry(key, "tied words") for key in range(500, 0, -1))))
    assert found(made, "tied words", limit=3) == [1, 2, 3]


def test_a_filter_finds_what_is_rare_among_many(tmp_path: Path) -> None:
    made = TantivyTextIndex(tmp_path / "tantivy", "library")
    many = [entry(key, "common word", path=f"many/{key}.md") for key in range(3000)]
    made.rebuild(snapshot(1, *many, entry(5000, "a much longer text with a common word in it", path="few/x/y.md")))
    for glob in ("few/**", "few/*/[xy].md"):
        assert found(made, "common word", SearchFilters(path_glob=glob), 3) == [5000]


def test_a_path_filter_that_no_automaton_can_hold_is_still_exact(
    index: TantivyTextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tantivy.Query

    class NoRegex:
        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

        def regex_query(self, *_: object) -> None:
            raise ValueError("too large")

    monkeypatch.setattr(tantivy, "Query", NoRegex())
    assert found(index, "猫", SearchFilters(path_glob="notes/1?.md")) == [ChunkKey(11)]
