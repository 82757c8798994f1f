"""How big a chunk may be, in characters and tokens, and how big a text is."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from kb.ingest.ports import Tokenizer


@dataclass(frozen=True, slots=True)
class Room:
    """What a chunk may hold: `characters` is the wish, `tokens` the cap (None: no cap)."""

    characters: int
    tokens: int | None

    def less(self, characters: int, tokens: int) -> Room:
        """Return the room left beside a text of that size."""
        left = None if self.tokens is None else self.tokens - tokens
        return Room(self.characters - characters, left)

    def holds(self, characters: int, tokens: int) -> bool:
        """Return whether a text of that size fits."""
        return characters <= self.characters and (self.tokens is None or tokens <= self.tokens)


class Measure:
    """Counts tokens, by the embedder's tokenizer where there is one."""

    __slots__ = ("_tokenizer",)

    def __init__(self, tokenizer: Tokenizer | None) -> None:
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        """Return the tokens of `text`; without a tokenizer the usual estimate."""
        return self._tokenizer.count(text) if self._tokenizer else estimate(text)

    def prefix(self, text: str, room: Room) -> int:
        """Return how many characters of `text` fit into `room`, at least 1."""
        limit = min(len(text), max(1, room.characters))
        if self._tokenizer is None or room.tokens is None:
            return limit
        return max(1, self._tokenizer.fitting_prefix(text[:limit], max(1, room.tokens)))

    def surely_fits(self, text: str, room: Room) -> bool:
        """Return whether `text` fits by its length alone, without counting.

        A token covers at least a byte of the text as the tokenizer normalises it (NFKC), and every
        word may add one for the space before it.
        """
        if len(text) > room.characters:
            return False
        if room.tokens is None or self._tokenizer is None:
            return True
        words = len(text) // 2 + 2
        if text.isascii():
            return len(text) + words <= room.tokens
        if len(text) + words > room.tokens:  # spares the encoding
            return False
        return len(text.encode()) + words <= room.tokens and unicodedata.is_normalized("NFKC", text)


def estimate(text: str) -> int:
    """Return about how many tokens a text has: 4 characters each, 1.5 outside ASCII; at least 1."""
    length = len(text)
    if text.isascii():
        return length // 4 + 1
    # letters of 3 bytes (Han, Kana, Hangul) are about 1.5 to a token, those of 2 bytes about 3
    return (length + 2 * (len(text.encode()) - length)) // 6 + 1
