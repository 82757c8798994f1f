"""The language of each stretch, decided steadily."""

from __future__ import annotations

from typing import Any

import pytest

from kb.adapters.speech.languages import Listener, code_of

PREVIOUS, MANDARIN = 7, [21, 22]


class FakeTokenizer:
    def token_to_id(self, token: str) -> int | None:
        return PREVIOUS if token == "<|startofprev|>" else None

    def encode(self, text: str, *, add_special_tokens: bool) -> Any:
        return type("Encoded", (), {"ids": MANDARIN})


class FakeModel:
    is_multilingual = True

    def __init__(self, guesses: list[dict[str, float]]) -> None:
        self.guesses = iter(guesses)
        self.prompts: list[list[list[int]]] = []

    def detect_language(self, encoded: object) -> list[list[tuple[str, float]]]:
        ranked = sorted(next(self.guesses).items(), key=lambda guess: -guess[1])
        return [[(f"<|{language}|>", chance) for language, chance in ranked]]

    def generate(self, encoded: object, prompts: list[list[int]], **options: object) -> str:
        self.prompts.append(prompts)
        return "heard"


def decided(*guesses: dict[str, float], before: str | None = None) -> list[str]:
    listener = Listener(FakeModel(list(guesses)), FakeTokenizer())
    listener.begin(before)
    return [listener.detect_language(None)[0][0][0][2:-2] for _ in guesses]


def test_a_sure_change_of_language_is_followed() -> None:
    assert decided({"en": 0.97, "de": 0.01}, {"de": 0.9, "en": 0.05}) == ["en", "de"]


def test_a_doubtful_stretch_stays_in_the_language_before() -> None:
    assert decided({"en": 0.97, "cy": 0.01}, {"cy": 0.5, "en": 0.3}, {"cy": 0.7, "en": 0.25}) == ["en", "en", "en"]


def test_what_earlier_pieces_were_in_counts() -> None:
    assert decided({"nn": 0.45, "ko": 0.3}, before="ko") == ["ko"]


def test_an_unsure_beginning_binds_nobody() -> None:
    assert decided({"ja": 0.3, "ko": 0.25}, {"ko": 0.55, "ja": 0.4}) == ["ja", "ko"]


@pytest.mark.parametrize(("language", "prompt"), [("zh", [PREVIOUS, *MANDARIN, 1, 2]), ("en", [1, 2])])
def test_mandarin_alone_is_prompted(language: str, prompt: list[int]) -> None:
    model = FakeModel([{language: 0.99}])
    listener = Listener(model, FakeTokenizer())
    listener.begin(None)
    listener.detect_language(None)
    assert listener.generate(None, [[1, 2]]) == "heard"
    assert model.prompts == [[prompt]]


def test_everything_else_is_the_models_own() -> None:
    assert Listener(FakeModel([]), FakeTokenizer()).is_multilingual


def test_codes_are_those_of_iso_639() -> None:
    assert [code_of(code) for code in ("jw", "yue", "ko")] == ["jv", "zh", "ko"]
