"""Text of a page put together into blocks: which list, table or quotation it stands in, and when that ends."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from kb.adapters.parsers.shared.building import BlockBuilder
from kb.adapters.parsers.shared.html_tables import Grid, TableInWork
from kb.domain.blocks import BlockKind
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from kb.domain.spans import SourceSpan

_AROUND_BREAK = re.compile(r" *\n *")
_SPACES = re.compile(r" {2,}")
_LONGEST_HEADING = 1000
_DEEPEST = 60


class Places(Protocol):
    """Says where text stands: one numbering for a whole file, however many pages of HTML it holds."""

    def heading(self) -> SourceSpan:
        """Return the place of a heading that comes now."""

    def here(self) -> SourceSpan:
        """Return the place of other text that comes now."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture the page shows."""

    src: str
    alt: str


class _List:
    """A list in work with the lists in it; `loose`: what its open item holds is read as ordinary text."""

    def __init__(self) -> None:
        self.items: list[tuple[int, str, list[str]]] = []
        self.loose = False
        self._inner: list[tuple[bool, int]] = []

    @property
    def depth(self) -> int:
        return len(self._inner)

    def enter(self, *, ordered: bool, start: int) -> None:
        self._inner.append((ordered, start - 1))

    def leave(self) -> None:
        self._inner.pop()

    def begin_item(self) -> None:
        self.loose = False
        ordered, number = self._inner[-1]
        self._inner[-1] = (ordered, number + 1)
        self.items.append((len(self._inner) - 1, f"{number + 1}." if ordered else "-", []))

    def take(self, text: str) -> None:
        if not self.items:
            self.begin_item()
        self.items[-1][2].append(text)


class BlockFlow:
    """Takes pieces of text and the starts and ends of what holds them, in order, and calls the builder."""

    def __init__(self, builder: BlockBuilder, places: Places, limits: ReadingLimits, deepen: int) -> None:
        self._builder, self._places, self._limits, self._deepen = builder, places, limits, deepen
        self.pieces: list[str | Shown] = []
        self.quotes = 0
        self.figures = 0
        self.heading = 0
        self._sinks: list[_List | TableInWork] = []
        self._term = ""
        self._cells = 0

    def flush(self) -> None:
        """End a block of text; within a heading only a word ends."""
        if self.heading:
            self.pieces.append(" ")
            return
        pieces, self.pieces = self.pieces, []
        text = words_of(pieces)
        if text:
            self._take(text)
            return
        for shown in pieces:
            if isinstance(shown, Shown) and (shown.alt or self.figures):
                self._show(shown)

    def finish(self) -> None:
        """End everything that is still open."""
        self.end_heading()
        self.flush()
        while self._sinks:
            self.end_table() if isinstance(self._sinks[-1], TableInWork) else self.end_list()
        self._flush_term()

    def begin_heading(self, level: int) -> bool:
        """Begin a heading; return False where there can be none, as in a cell of a table."""
        self.end_heading()
        self.flush()
        if not self.stand_alone():
            return False
        self.heading = level
        return True

    def end_heading(self) -> None:
        """End the heading, if one is open."""
        level, self.heading = self.heading, 0
        if not level:
            return
        pieces, self.pieces = self.pieces, []
        text = " ".join(words_of(pieces).split()).removesuffix("\u00b6").rstrip()
        text = text or " ".join(piece.alt for piece in pieces if isinstance(piece, Shown)).strip()
        if len(text) > _LONGEST_HEADING:
            self._paragraph(text)
        elif text:
            self._builder.heading(level + self._deepen, text, self._places.heading())

    def code(self, text: str, language: str | None) -> None:
        """Add program text, which `stand_alone` has made room for."""
        self._builder.code(text, self._places.here(), language)

    def term(self) -> None:
        """End the name in a list of definitions; it goes before the text that comes next."""
        if self._sinks and self._takes(self._sinks[-1]):
            self.flush()
            return
        pieces, self.pieces = self.pieces, []
        self._flush_term()
        self._term = words_of(pieces)

    def begin_list(self, *, ordered: bool, start: int = 1) -> bool:
        """Begin a list, one within the open item if there is one; return whether it is to be ended."""
        sink = self._sinks[-1] if self._sinks else None
        if isinstance(sink, _List) and not sink.loose:
            sink.enter(ordered=ordered, start=start)
            return True
        if len(self._sinks) >= _DEEPEST or (isinstance(sink, TableInWork) and not sink.layout):
            return False
        self._flush_term()
        inner = _List()
        inner.enter(ordered=ordered, start=start)
        self._sinks.append(inner)
        return True

    def begin_item(self) -> None:
        """Begin an item of the innermost list."""
        if self._sinks and isinstance(sink := self._sinks[-1], _List):
            sink.begin_item()

    def end_list(self) -> None:
        """End the innermost list."""
        self.flush()
        if not self._sinks or not isinstance(sink := self._sinks[-1], _List):
            return
        sink.leave()
        if not sink.depth:
            self._sinks.pop()
            self._emit(sink)

    def end_terms(self) -> None:
        """End a list of definitions."""
        self.flush()
        self._flush_term()

    def begin_table(self, *, layout: bool) -> bool:
        """Begin a table, one within a cell of a real table as words of that cell; return whether it is to be ended."""
        if len(self._sinks) >= _DEEPEST:  # nobody lays out a page like that
            return False
        inline = not self.stand_alone()
        self._sinks.append(TableInWork(layout=layout and not inline, inline=inline))
        return True

    @property
    def table(self) -> TableInWork | None:
        """Return the innermost table if nothing else has begun in it."""
        sink = self._sinks[-1] if self._sinks else None
        return sink if isinstance(sink, TableInWork) else None

    def end_table(self) -> None:
        """End the innermost table."""
        self.flush()
        table = self.table
        if table is None:
            return
        self._sinks.pop()
        if table.inline:
            words = ": ".join(filter(None, (table.caption, table.words())))
            if words:
                self._take(words)
            return
        made = table.grid(self._limits.cells - self._cells)
        if made is None:
            raise Unreadable("its tables have more cells than the limit allows", reason="too_complex")
        self._cells += table.size
        if table.caption:
            self._paragraph(table.caption)
        if isinstance(made, Grid):
            self._flush_term()
            self._builder.table(made.headers, made.rows, self._places.here(), named=made.named)
        else:
            self._paragraphs(made)

    def caption(self) -> None:
        """End the caption of a table; it goes before the table."""
        table = self.table
        if table is None or table.layout or self.heading:
            self.flush()
            return
        pieces, self.pieces = self.pieces, []
        table.caption = words_of(pieces)

    def stand_alone(self) -> bool:
        """Make room for a block that is no plain text; return False where it can only be words of a cell."""
        tables = [sink for sink in self._sinks if isinstance(sink, TableInWork) and not sink.layout]
        if any(table.inline or table.has_headers for table in tables):
            return False
        for sink in self._sinks:
            if isinstance(sink, _List):
                self._emit(sink)
                sink.loose = True
            elif not sink.layout:
                sink.layout = True
                self._paragraphs(sink.parts())
        self._flush_term()
        return True

    def _show(self, shown: Shown) -> None:
        if self._sinks and self._takes(self._sinks[-1]):
            if shown.alt:
                self._take(shown.alt)
            return
        self._flush_term()
        self._builder.reference(BlockKind.IMAGE_REF, shown.src, shown.alt, self._places.here())

    @staticmethod
    def _takes(sink: _List | TableInWork) -> bool:
        return not sink.layout if isinstance(sink, TableInWork) else not sink.loose

    def _take(self, text: str) -> None:
        if self._sinks and self._takes(self._sinks[-1]):
            self._sinks[-1].take(text)
        else:
            self._paragraph(text)

    def _paragraph(self, text: str) -> None:
        if self.quotes:
            self._flush_term()
            self._builder.quote(text, self._places.here())
            return
        term, self._term = self._term, ""
        self._builder.paragraph(f"{term}: {text}" if term else text, self._places.here())

    def _paragraphs(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._paragraph(text)

    def _flush_term(self) -> None:
        term, self._term = self._term, ""
        if term:
            self._builder.paragraph(term, self._places.here())

    def _emit(self, sink: _List) -> None:
        items, sink.items = sink.items, []
        if any(parts for _, _, parts in items):
            lines = ((depth, mark, " ".join(parts)) for depth, mark, parts in items)
            self._builder.outline(lines, self._places.here())


def words_of(pieces: Iterable[str | Shown]) -> str:
    """Return the text of a block: one space between words, line feeds where the page breaks lines.

    Pictures among words stand for their own words; pictures alone give none.
    """
    kept = list(pieces)
    if not any(isinstance(piece, str) and not piece.isspace() and piece for piece in kept):
        return ""
    text = "".join(piece if isinstance(piece, str) else piece.alt for piece in kept)
    return _AROUND_BREAK.sub("\n", _SPACES.sub(" ", text)).strip()
