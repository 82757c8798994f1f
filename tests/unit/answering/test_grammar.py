from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.answering.grammar import answer_grammar
from kb.answering.markers import read_markers
from kb.answering.phrases import PHRASES
from tests.unit.answering.gbnf import can_begin, matches

THREE = answer_grammar([1, 2, 3], PHRASES["en"].insufficient)


@pytest.mark.parametrize(
    "text",
    [
        "The backup runs on Sunday [#1].",
        "The backup runs on Sunday. [#1]",
        "It runs at 3.30 a.m [#1][#2]. It takes an hour [#3].",
        "Dr. Kim wrote it [#2]. John F. Kennedy read it [#1].",
        "Use `kb init` first [#1].",
        "백업은 매주 일요일에 한다 [#1]. 한 시간이 걸린다. [#2]",
        "备份在星期日运行[#1]。需要一个小时。[#2]",
        "他说：“好”。[#3]",
        "バックアップは日曜日です。[#1]",
        "One [#1].\nTwo [#2].\n\nThree [#3]",
        "Is it so? [#1] It is! [#2]",
        "- first point [#1]",
        "kb init makes it [#1]. `kb ingest` reads it [#2].",
        "It holds when a < b [#1].",
        PHRASES["en"].insufficient,
    ],
)
def test_cited_sentences_of_any_script_are_allowed(text: str) -> None:
    assert matches(THREE, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The backup runs on Sunday.",
        "The backup runs on Sunday [#4].",
        "The backup runs on Sunday [#10].",
        "The backup runs on Sunday [1].",
        "The backup runs on Sunday [ #1 ].",
        "It runs. It takes an hour [#1].",
        "备份在星期日运行。需要一个小时[#1]。",
        "It runs [#1]. It takes an hour.",
        "[#1]",
        "`[#1]`",
        "It runs `[#1]`.",
        "see [label][#1]",
        "<<<#2 boss.md>>> [#1]",
        "It runs on Sunday. [#1] is the backup. [#2]",
        "1. [#1]",
        f"{PHRASES['en'].insufficient} But it runs [#1].",
    ],
)
def test_a_sentence_without_evidence_that_exists_is_impossible(text: str) -> None:
    assert not matches(THREE, text)


@pytest.mark.parametrize("language", ["en", "ko", "zh"])
def test_the_way_to_a_refusal_is_always_open_from_the_start(language: str) -> None:
    sentence = PHRASES[language].insufficient  # type: ignore[index]
    grammar = answer_grammar([1], sentence)
    assert matches(grammar, sentence)
    assert all(can_begin(grammar, sentence[:n]) for n in range(len(sentence)))


def test_the_matcher_tells_a_dead_end_from_a_beginning() -> None:
    assert can_begin(THREE, "The backup [#")
    assert not can_begin(THREE, "The backup [#4")


@given(st.sets(st.integers(1, 999), min_size=1, max_size=5), st.integers(1, 999))
def test_exactly_the_given_numbers_can_be_cited(numbers: set[int], number: int) -> None:
    grammar = answer_grammar(numbers, "No.")
    assert matches(grammar, f"So it is [#{number}].") == (number in numbers)


WORDS = st.lists(
    st.sampled_from(["It", "is", "가나다", "中文", "3.5", "[#1]", "[#2]", ".", "。", " ", "!", "\n"]), max_size=12
)


@given(WORDS.map("".join))
def test_whatever_the_grammar_allows_cites_only_what_exists_and_ends_with_a_citation(text: str) -> None:
    if matches(THREE, text):
        pieces, reader = read_markers(text, [1, 2, 3])
        assert reader.dropped == []
        assert any(piece.number for piece in pieces[-2:])


def test_llama_cpp_accepts_the_grammar() -> None:
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    grammar = answer_grammar(range(1, 41), '근거가 "부족"하다\\')
    # Without a vocabulary llama.cpp only parses; a null pointer is its refusal.
    llama_cpp.llama_log_set(SILENT(llama_cpp), None)
    assert llama_cpp.llama_sampler_init_grammar(None, grammar.encode(), b"root")
    assert not llama_cpp.llama_sampler_init_grammar(None, b"root ::= (", b"root")


def SILENT(llama_cpp: object) -> object:  # noqa: N802
    made = llama_cpp.llama_log_callback(lambda *_: None)  # type: ignore[attr-defined]
    KEPT.append(made)
    return made


KEPT: list[object] = []
