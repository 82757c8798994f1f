"""Which language each stretch of a recording is in: Whisper's own guess, made steady."""

from __future__ import annotations

from typing import Any

_SURE = 0.6
_MUCH_MORE_LIKELY = 4.0
# Without it Mandarin comes out in Traditional characters, or without punctuation, by chance.
_MANDARIN_PROMPT = " 以下是普通话的句子。"
_CODES = {"jw": "jv", "yue": "zh"}


class Listener:
    """Stands for the engine's model: follows the language, prompts for Mandarin, passes on everything else.

    faster-whisper guesses the language of every 30 seconds when asked to, and a noisy stretch of English becomes Welsh
    for it. A new language is taken only when it is sure and far likelier than the one before.

    Args:
        model: the CTranslate2 model.
        tokenizer: the model's `tokenizers.Tokenizer`.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:  # noqa: ANN401 - ships no types
        self._model = model
        self._previous: int | None = tokenizer.token_to_id("<|startofprev|>")
        self._mandarin: list[int] = tokenizer.encode(_MANDARIN_PROMPT, add_special_tokens=False).ids
        self.language: str | None = None
        self._steady = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - ships no types
        return getattr(self._model, name)

    def begin(self, language: str | None) -> None:
        """Forget what was heard; `language` is what came before, None when nothing did."""
        self.language = language
        self._steady = language is not None

    def detect_language(self, encoded: Any) -> list[list[tuple[str, float]]]:  # noqa: ANN401 - ships no types
        """Return the engine's guesses, the language decided on first."""
        guesses = [(str(token), float(chance)) for token, chance in self._model.detect_language(encoded)[0]]
        self._decide({token[2:-2]: chance for token, chance in guesses})
        return [sorted(guesses, key=lambda guess: guess[0] != f"<|{self.language}|>")]

    def generate(self, encoded: Any, prompts: list[list[int]], **options: Any) -> Any:  # noqa: ANN401 - ships no types
        """Write down what is heard; Mandarin with a prompt in Simplified Chinese."""
        if self.language == "zh" and self._previous is not None:
            prompts = [
                prompt if self._previous in prompt else [self._previous, *self._mandarin, *prompt] for prompt in prompts
            ]
        return self._model.generate(encoded, prompts, **options)

    def _decide(self, chances: dict[str, float]) -> None:
        best = max(chances, key=lambda language: chances[language])
        known = chances.get(self.language, 0.0) if self.language and self._steady else None
        if known is None or (chances[best] >= _SURE and chances[best] >= _MUCH_MORE_LIKELY * known):
            self.language = best
        self._steady = self._steady or chances[best] >= _SURE


def code_of(language: str) -> str:
    """Return the ISO 639-1 code of one of Whisper's languages."""
    return _CODES.get(language, language)
