"""What the gate lets through on the sample: twenty-odd passages in three languages (ADR 0008)."""

from __future__ import annotations

import pytest

from kb.contract.answers import Answer
from tests.homes import Home, needs_embedder

pytestmark = needs_embedder

OFF_TOPIC = [
    "What is the capital of France?",
    "How do I train a puppy?",
    "When did the Roman Empire fall?",
    "프랑스의 수도는 어디인가요?",
    "햄릿은 누가 썼나요?",
    "팬케이크를 만드는 방법은 무엇인가요?",
    "法国的首都是哪里?",
    "哈姆雷特是谁写的?",
    "如何申报个人所得税?",
]
ON_TOPIC = [
    ("Where are the spare shackles?", "notes/en/2025-09-winter-check.md"),
    ("Which station needs a second anchor?", "reference/stations.md"),
    ("다음 점검은 언제 하나요?", "notes/ko/2025-10-현장-점검.md"),
    ("보정 전 자료를 밖으로 보내도 되나요?", "notes/ko/자료-제공-기준.md"),
    ("接地电阻必须小于多少?", "notes/zh/网关维护.md"),
    ("残差超过多少要更换传感器?", "notes/zh/盐度校准.md"),
]


@pytest.mark.parametrize("question", OFF_TOPIC)
def test_a_question_about_something_else_is_refused_in_every_language(sample: Home, question: str) -> None:
    ran = sample.kb("ask", "--json", question)
    answer = Answer.read(ran.out)
    assert (ran.code, answer.grounded, answer.refusal_reason) == (1, False, "score_gate")


@pytest.mark.parametrize("question", ["a", "a b", "the", "的"])
def test_letters_and_words_that_stand_everywhere_are_no_question(sample: Home, question: str) -> None:
    assert sample.kb("ask", question).code == 1


@pytest.mark.parametrize(("question", "path"), ON_TOPIC)
def test_a_question_about_the_sample_passes_with_the_right_file(sample: Home, question: str, path: str) -> None:
    ran = sample.kb("ask", "--json", question)
    answer = Answer.read(ran.out)
    assert ran.code == 0
    assert path in {source.citation.path for source in answer.citations}


@pytest.mark.parametrize("word", ["battery", "배터리", "网关"])
def test_one_telling_word_is_a_question(sample: Home, word: str) -> None:
    assert sample.kb("ask", word).code == 0
