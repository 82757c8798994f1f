"""Cutting one text that is too long: at the best borders its kind has, else anywhere but inside a character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kb.domain.blocks import BlockKind
from kb.domain.text import sentences
from kb.ingest.chunk_sizes import Measure, Room

Borders = Callable[[str], Iterator[int]]

_CODE_BORDER = re.compile(r"\n[ \t]*\n(?=[^\s)\]}])")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_ITEM = re.compile(r"\n(?! )")
_LINE = re.compile(r"\n")
_WORD_START = re.compile(r"(?<=\s)\S")
_SPACE = re.compile(r"\s(?=\S*\Z)")
_LAST_SPACE_WITHIN = 0.8
_SMALLEST_SHARE = 3


@dataclass(frozen=True, slots=True)
class Part:
    """Characters `start` to `end` of a text; `lead` repeats earlier text before them; `tokens` of both."""

    start: int
    end: int
    lead: str
    tokens: int


def split_text(text: str, kind: BlockKind, rooms: tuple[Room, Room], overlap: int, measure: Measure) -> list[Part]:
    """Cut `text` into parts that follow each other and leave out nothing but white space between them.

    Args:
        text: what to cut.
        kind: decides where it is best cut, and what is repeated: the header of a table, else up to
            `overlap` characters of what came before.
        rooms: what the first part may hold, and what every further one may, its lead included.
        overlap: characters.
        measure: counts tokens.
    """
    first, room = rooms
    header = text.partition("\n")[0] + "\n" if kind is BlockKind.TABLE and "\n" in text else ""
    if header and not room.less(0, 0).holds(len(header) * _SMALLEST_SHARE, measure.count(header) * _SMALLEST_SHARE):
        header = ""
    return list(_pack(Cutter(text, kind, measure), first, room, header, overlap if kind is not BlockKind.TABLE else 0))


def _pack(cutter: Cutter, first: Room, room: Room, header: str, overlap: int) -> Iterator[Part]:
    text, measure = cutter.text, cutter.measure
    # a cut inside a word may make a token more than the pieces counted
    safe = Room(room.characters, None if room.tokens is None else room.tokens - room.tokens // 50)
    lead, led = "", 0
    left = Room(first.characters, None if first.tokens is None else first.tokens - first.tokens // 50)
    smallest = _smaller(left, _beside_lead(safe, header, overlap, measure))
    start, end, tokens = 0, 0, 0
    for piece_end, count in cutter.pieces(0, len(text), smallest, 0):
        if end > start and not left.holds(piece_end - start, tokens + count):
            yield from _part(text, (start, end), lead, led + tokens)
            lead = header or tail(text, start, end, overlap)
            led = measure.count(lead) if lead else 0
            left = safe.less(len(lead), led)
            if not left.holds(piece_end - end, count):
                lead, led, left = "", 0, safe
            start, tokens = end, 0
        end = piece_end
        tokens += count
    yield from _part(text, (start, end), lead, led + tokens)


def _smaller(one: Room, other: Room) -> Room:
    tokens = None if one.tokens is None or other.tokens is None else min(one.tokens, other.tokens)
    return Room(min(one.characters, other.characters), tokens)


def _beside_lead(room: Room, header: str, overlap: int, measure: Measure) -> Room:
    if header:
        return room.less(len(header), measure.count(header))
    return Room(max(1, room.characters - overlap - 1), room.tokens)


def _part(text: str, extent: tuple[int, int], lead: str, tokens: int) -> Iterator[Part]:
    start, end = extent
    while start < end and text[start] == "\n":
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if text[start:end].strip():
        yield Part(start, end, lead, tokens)


def tail(text: str, start: int, end: int, overlap: int) -> str:
    """Return the last sentences, else words, of a part, at most `overlap` characters, and a line end."""
    if overlap <= 0:
        return ""
    region = text[max(start, end - overlap) : end]
    if end - overlap > start:
        at = next((border for border in _sentence_borders(region) if border > 0), None)
        if at is None:
            word = _WORD_START.search(region)
            at = word.start() if word else _safe_cut(region, 1) if len(region) > 1 else 0
        region = region[at:]
    region = region.strip()
    return region + "\n" if region else ""


class Cutter:
    """Walks a text in pieces that fit, as coarse as they can be."""

    def __init__(self, text: str, kind: BlockKind, measure: Measure) -> None:
        self.text = text
        self.measure = measure
        self._levels = _LEVELS.get(kind, _PROSE)

    def pieces(self, start: int, end: int, room: Room, level: int) -> Iterator[tuple[int, int]]:
        """Yield (end, tokens) of each piece between `start` and `end`."""
        if level == len(self._levels):
            yield from self._hard(start, end, room)
            return
        text = self.text[start:end]
        before = 0
        for border in (*self._levels[level](text), len(text)):
            if border <= before:
                continue
            piece = text[before:border]
            # what is far too long in characters need not be counted
            count = self.measure.count(piece) if len(piece) <= room.characters else 0
            if room.holds(len(piece), count):
                yield start + border, count
            else:
                yield from self.pieces(start + before, start + border, room, level + 1)
            before = border

    def _hard(self, start: int, end: int, room: Room) -> Iterator[tuple[int, int]]:
        while start < end:
            window = self.text[start : min(end, start + max(1, room.characters) + 1)]
            fits = self.measure.prefix(window, room)
            if fits < len(window) or start + len(window) < end:
                space = _SPACE.search(window[:fits])
                at_space = space.end() if space else 0
                fits = at_space if at_space >= fits * _LAST_SPACE_WITHIN else _safe_cut(window, fits)
            piece = window[:fits]
            start += fits
            yield start, self.measure.count(piece)


def _safe_cut(text: str, position: int) -> int:
    """Return the nearest position at or before `position` that is not inside a grapheme; at least 1."""
    if position >= len(text):
        return len(text)
    cut = position
    while cut > 0 and not _breaks(text, cut):
        cut -= 1
    return cut or position


def _breaks(text: str, position: int) -> bool:
    """Return whether a grapheme cluster may end before `position` (the main rules of Unicode UAX 29)."""
    after, before = text[position], text[position - 1]
    if after < "\u0300":
        return not (before == "\r" and after == "\n")
    if after in "\u200d\ufe0e\ufe0f" or before == "\u200d" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return False
    if "\U0001f1e6" <= after <= "\U0001f1ff":
        run = len(text[:position]) - len(text[:position].rstrip("".join(map(chr, range(0x1F1E6, 0x1F200)))))
        return run % 2 == 0
    if "\u1160" <= after <= "\u11ff" or "\U000e0020" <= after <= "\U000e007f":
        return False
    return unicodedata.category(after)[0] != "M"


def _borders(pattern: re.Pattern[str]) -> Borders:
    return lambda text: (found.end() for found in pattern.finditer(text))


def _sentence_borders(text: str) -> Iterator[int]:
    return (start for start, _ in sentences(text))


_PROSE: tuple[Borders, ...] = (_borders(_BLANK_LINE), _sentence_borders)
_LEVELS: dict[BlockKind, tuple[Borders, ...]] = {
    BlockKind.CODE: (_borders(_CODE_BORDER), _borders(_BLANK_LINE), _borders(_LINE)),
    BlockKind.LIST: (_borders(_ITEM), _borders(_LINE), _sentence_borders),
    BlockKind.TABLE: (_borders(_LINE), _sentence_borders),
}
