from __future__ import annotations

import pytest

from kb.answering.phrases import PHRASES, may_become_insufficient, phrases, says_insufficient, tongue
from kb.domain.answers import RefusalReason


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is chunking?", "en"),
        ("Markdown chunking 규칙은?", "ko"),
        ("什么是分块？", "zh"),
        ("Kubernetes 的默认端口是多少", "zh"),
        ("バックアップはいつですか", "en"),
        ("Who wrote 論語 and when was it first printed in Europe?", "en"),
        ("¿Cuándo?", "en"),
        ("", "en"),
    ],
)
def test_the_language_follows_the_script_of_the_question(question: str, language: str) -> None:
    assert tongue(question) == language


@pytest.mark.parametrize("language", ["en", "ko", "zh"])
def test_every_language_has_words_for_every_refusal(language: str) -> None:
    entry = PHRASES[language]  # type: ignore[index]
    assert set(entry.refusals) == set(RefusalReason)
    assert len(set(entry.refusals.values())) == len(RefusalReason)
    assert "{insufficient}" in entry.rules


@pytest.mark.parametrize("entry", PHRASES.values())
def test_a_refusal_is_known_in_any_language_and_spelling(entry: object) -> None:
    sentence = entry.insufficient  # type: ignore[attr-defined]
    assert says_insufficient(sentence)
    assert says_insufficient(f"  **{sentence.upper()}**\n because …")
    assert not says_insufficient(f"Yes. {sentence}")


def test_text_is_held_back_only_while_it_can_become_a_refusal() -> None:
    assert may_become_insufficient("")
    assert may_become_insufficient("The evidence is")
    assert may_become_insufficient(" 근거가")
    assert not may_become_insufficient("The evidence says")


def test_refusals_speak_the_language_of_the_question() -> None:
    assert "근거 부족" in phrases("회사 매출은?").refusals[RefusalReason.SCORE_GATE]
