"""`EmbedderTokenizer`: counts tokens as the embedding model does, without loading the model."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from kb.adapters.models.embedding.folder import unavailable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_HEAD = 8
"""Characters a token looked at first: more than text usually has, so that one look is enough."""


def sound(text: str) -> str:
    """Return `text`, of the same length, without halves of surrogate pairs, which the Rust side refuses."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


class EmbedderTokenizer:
    """The `Tokenizer` port over a model folder's `tokenizer.json`. May be used from several threads."""

    def __init__(self, model_folder: Path) -> None:
        self._folder = model_folder
        self._lock = threading.Lock()
        self._tokenizer: Tokenizer | None = None

    def count(self, text: str) -> int:
        """Return the tokens of `text`, without special tokens.

        Raises:
            ModelUnavailable: `tokenizer.json` is missing or damaged.
        """
        return len(self._loaded().encode(sound(text), add_special_tokens=False).ids)

    def fitting_prefix(self, text: str, max_tokens: int) -> int:
        """Return how many characters of `text` fit into `max_tokens`, at least 1."""
        tokenizer = self._loaded()
        size = max(1, max_tokens) * _HEAD
        while True:
            # Only the head is looked at: a line of 50 MB would else be encoded once for every chunk cut off it.
            encoding = tokenizer.encode(sound(text[:size]), add_special_tokens=False)
            if len(encoding.ids) > max_tokens or size >= len(text):
                break
            size *= 2
        if len(encoding.ids) <= max_tokens:
            return max(1, len(text))
        end = encoding.offsets[max_tokens][0]
        # A cut can change how the last word falls into tokens.
        while end > 1 and self.count(text[:end]) > max_tokens:
            end -= 1
        return max(1, end)

    def _loaded(self) -> Tokenizer:
        if self._tokenizer is None:
            with self._lock:
                if self._tokenizer is None:
                    self._tokenizer = self._load()
        return self._tokenizer

    def _load(self) -> Tokenizer:
        from tokenizers import Tokenizer

        path = self._folder / "tokenizer.json"
        if not path.is_file():
            raise unavailable(f"the tokenizer of the embedding model {self._folder.name} is missing")
        try:
            tokenizer = Tokenizer.from_file(str(path))
        # The library raises bare Exceptions.
        except Exception as error:
            raise unavailable(f"the tokenizer of the embedding model {self._folder.name} is damaged") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer
