"""Blocks put together: heading paths kept, text cleaned, each line mapped to its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from kb.domain.blocks import BlockKind, Code, Heading, MediaRef, Payload, Prose, Table
from kb.domain.documents import ParsedBlock
from kb.domain.spans import Segment, SourceSpan

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\ufeff\ufffe\uffff\ud800-\udfff]")
_DEEPEST = 6


def clean(text: str) -> str:
    """Return `text` in NFC without control characters and lone surrogates, line ends as line feeds."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", _CONTROL.sub("", text))


class BlockBuilder:
    """Collects the blocks of a document in reading order.

    Texts are cleaned; a block without text is left out. Unless segments are given, the whole text of a block has
    one place.
    """

    def __init__(self) -> None:
        self.blocks: list[ParsedBlock] = []
        self._path: list[tuple[int, str]] = []

    @property
    def heading_path(self) -> tuple[str, ...]:
        """Return the headings that what comes next stands under."""
        return tuple(text for _, text in self._path)

    def heading(self, level: int, text: str, span: SourceSpan, segments: Sequence[Segment] | None = None) -> None:
        """Add a heading of level 1 to 6; it closes those of its level and below."""
        line = clean(text) if segments is not None else " ".join(clean(text).split())
        level = min(max(level, 1), _DEEPEST)
        if not line:
            return
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, line))
        self._add(BlockKind.HEADING, line, span, Heading(level), segments)

    def paragraph(self, text: str, span: SourceSpan, segments: Sequence[Segment] | None = None) -> None:
        """Add a paragraph."""
        self._add(BlockKind.PARAGRAPH, _text(text, segments), span, Prose(), segments)

    def quote(self, text: str, span: SourceSpan) -> None:
        """Add a quotation."""
        self._add(BlockKind.QUOTE, _text(text), span, Prose(), None)

    def listing(self, items: Iterable[str], span: SourceSpan, *, ordered: bool = False) -> None:
        """Add a list, one line an item."""
        words = [" ".join(clean(item).split()) for item in items]
        lines = [f"{number}. {item}" if ordered else f"- {item}" for number, item in enumerate(words, 1) if item]
        self._add(BlockKind.LIST, "\n".join(lines), span, Prose(ordered=ordered), None)

    def outline(self, items: Iterable[tuple[int, str, str]], span: SourceSpan) -> None:
        """Add a list with lists within it: (depth from 0, its mark such as `-` or `2.`, words), one line an item."""
        lines = [(depth, mark, " ".join(clean(words).split())) for depth, mark, words in items]
        text = "\n".join(f"{'  ' * min(depth, 8)}{mark} {words}" for depth, mark, words in lines if words)
        self._add(BlockKind.LIST, text, span, Prose(), None)

    def code(self, text: str, span: SourceSpan, language: str | None = None) -> None:
        """Add program text; its indentation stays."""
        self._add(BlockKind.CODE, clean(text).strip("\n"), span, Code(clean(language) if language else None), None)

    def table(
        self,
        headers: Sequence[str],
        rows: Sequence[Sequence[str]],
        span: SourceSpan,
        row_spans: Sequence[SourceSpan] | None = None,
        *,
        named: bool = False,
    ) -> None:
        """Add a table: the header line, then one line a row.

        A long table is cut between rows and its header line is repeated, so every passage has it.

        Args:
            headers: the first line.
            rows: the others; they may be shorter or longer than the headers.
            span: the place of the whole table.
            row_spans: the place of the header line and of each row, in order; the whole table's when not given.
            named: write cells as `header: value` where a row has few long ones; else `a | b | c`.
        """
        names = tuple(_cell(header) for header in headers)
        body = tuple(tuple(_cell(value) for value in row) for row in rows)
        lines = [" | ".join(names)]
        for row in body:
            if named:
                pairs = [f"{names[i]}: {v}" if i < len(names) and names[i] else v for i, v in enumerate(row) if v]
                lines.append(" | ".join(pairs))
            else:
                lines.append(" | ".join(row))
        places = row_spans if row_spans is not None else [span] * len(lines)
        segments: list[Segment] = []
        kept: list[str] = []
        position = 0
        for line, place in zip(lines, places, strict=True):
            if kept and not line.strip(" |"):
                continue
            position += 1 if kept else 0
            if line:
                segments.append(Segment(position, position + len(line), place))
            kept.append(line)
            position += len(line)
        self._add(BlockKind.TABLE, "\n".join(kept), span, Table(names, body), segments)

    def reference(self, kind: BlockKind, src: str, alt: str, span: SourceSpan) -> None:
        """Add a picture or recording that the document shows; kept even without words."""
        words = " ".join(clean(alt).split())
        segments = (Segment(0, len(words), span),) if words else ()
        self.blocks.append(ParsedBlock(kind, words, span, self.heading_path, MediaRef(clean(src), words), segments))

    def _add(
        self, kind: BlockKind, text: str, span: SourceSpan, payload: Payload, segments: Sequence[Segment] | None
    ) -> None:
        if not text.strip(" \n\t|"):
            return
        places = tuple(segments) if segments is not None else (Segment(0, len(text), span),)
        self.blocks.append(ParsedBlock(kind, text, span, self.heading_path, payload, places))


def _text(text: str, segments: Sequence[Segment] | None = None) -> str:
    # With segments every character has its place already: nothing may be taken out.
    return text if segments is not None else clean(text).strip()


def _cell(value: str) -> str:
    return " ".join(clean(value).split())
