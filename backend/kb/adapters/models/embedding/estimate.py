"""`EstimatingTokenizer`: tokens of a text by its characters, where the model's own tokenizer is not at hand."""

from __future__ import annotations

import unicodedata

_LONG_WORD = 16
"""Longer runs of Latin letters and digits are seldom words: file names, hashes, addresses in pieces of two or less."""
_HANGUL = range(0xAC00, 0xD7A4)
_ASCII = 0x80
_LATIN = 0x250
_BMP = 0x10000


class EstimatingTokenizer:
    """The `Tokenizer` port by rules that give more than the tokenizers of common embedding models do.

    A token each: two letters of a Latin word (three on average are more usual), one letter or digit of a long or
    mixed run, every sign, every letter of other alphabets; two for a Han character or kana (byte pairs need up to
    two, seldom three), three for a Hangul syllable (BERT takes its letters apart), four for what lies beyond the
    basic plane, such as emoji (their bytes). Spaces are part of the word after them.
    """

    def count(self, text: str) -> int:
        """Return the tokens of `text`, without special tokens; rather too many."""
        return self._measure(text, None)[0]

    def fitting_prefix(self, text: str, max_tokens: int) -> int:
        """Return how many characters of `text` fit into `max_tokens`, at least 1."""
        return max(1, self._measure(text, max(1, max_tokens))[1])

    @staticmethod
    def _measure(text: str, limit: int | None) -> tuple[int, int]:
        """Return the tokens of `text`, and how many characters make at most `limit`."""
        total = position = 0
        while position < len(text):
            end = position
            while end < len(text) and _in_word(text[end]):
                end += 1
            if end == position:
                step, pieces = 1, [_cost(text[position])]
            else:
                step, pieces = end - position, _word(text[position:end])
            for cost, width in zip(pieces, _widths(step, len(pieces)), strict=True):
                if limit is not None and total + cost > limit:
                    return total, position
                total += cost
                position += width
        return total, position


def _in_word(letter: str) -> bool:
    return ord(letter) < _LATIN and letter.isalnum()


def _word(word: str) -> list[int]:
    """Return the tokens of a Latin word as ones."""
    is_plain = len(word) <= _LONG_WORD and word.isalpha()
    return [1] * ((len(word) + 1) // 2 if is_plain else len(word))


def _widths(characters: int, pieces: int) -> list[int]:
    if pieces == characters:
        return [1] * pieces
    return [2] * (pieces - 1) + [characters - 2 * (pieces - 1)]


def _cost(letter: str) -> int:
    code = ord(letter)
    if letter.isspace():
        # A line end is a token of its own to some.
        return 0 if letter == " " else 1
    if code >= _BMP:
        return 4
    if code in _HANGUL:
        return 3
    if code < _ASCII or unicodedata.east_asian_width(letter) not in "WF":
        return 1 if code < _LATIN or letter.isalpha() else 3
    return 2
