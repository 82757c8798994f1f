"""Markdown-it's block tokens to our blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token

from kb.adapters.parsers.markdown.html import visible_lines
from kb.adapters.parsers.markdown.inline import InlineReader, Media
from kb.adapters.parsers.markdown.rules import MAX_NESTING
from kb.domain.blocks import BlockKind, Code, Heading, MediaRef, Payload, Prose, Table
from kb.domain.documents import ParsedBlock, ParseWarning
from kb.domain.lines import LinedText, line_span
from kb.domain.spans import Segment

# `{#anchor}` of VitePress and Pandoc, `{/*anchor*/}` of MDX
_ANCHOR = re.compile(r"\s*\{(?:#[^{}\s]*|/\*.*?\*/)\}\s*\Z")
_DELIMITER_ROW = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$", re.MULTILINE)
_CONTAINER_MARKS = re.compile(r"^[\s>]*")
_MARKS = " \t>-*+"
_DEEPEST = MAX_NESTING - 1
_LISTS = {"bullet_list_open": "bullet_list_close", "ordered_list_open": "ordered_list_close"}


class BlockReader:
    """Turns the tokens of one document into blocks, in order."""

    def __init__(self, source: str, inline: InlineReader) -> None:
        self._lines = source.split("\n")
        self._inline = inline
        self._path: tuple[str, ...] = ()
        self._levels: list[int] = []
        self._names: list[str] = []
        self._rows_read: list[tuple[str, ...]] = []
        self.blocks: list[ParsedBlock] = []
        self.warnings: list[ParseWarning] = []

    def read(self, tokens: Sequence[Token]) -> None:
        """Append a block for each structural piece of `tokens`."""
        index, count = 0, len(tokens)
        while index < count:
            token = tokens[index]
            kind = token.type
            if kind == "paragraph_open":
                self._paragraph(tokens[index + 1])
                index += 3
            elif kind == "heading_open":
                self._heading(tokens[index + 1], int(token.tag[1]), token)
                index += 3
            elif kind in {"fence", "code_block"}:
                self._code(token)
                index += 1
            elif kind == "html_block":
                self._html(token)
                index += 1
            elif token.nesting > 0 and kind != "footnote_reference_open":
                end = _closing(tokens, index)
                self._container(tokens, index, end)
                index = end + 1
            else:
                index += 1

    def _paragraph(self, inline: Token) -> None:
        text = LinedText()
        first = _first_line(inline)
        if "|" in inline.content and _DELIMITER_ROW.search(inline.content):
            self._warn_table(first, "its header and its rule have different numbers of cells; read as text")
            for number, line in enumerate(inline.content.split("\n"), first):
                _new_line(text, "")
                self._inline.read(line.strip(), number, text)
        else:
            self._inline.read(inline.content, first, text)
        lines = (first, first + inline.content.count("\n"))
        self._add(BlockKind.PARAGRAPH, text, lines, Prose(tuple(self._inline.inlines)))

    def _heading(self, inline: Token, level: int, opening: Token) -> None:
        content = inline.content
        if content.endswith("}"):
            content = _ANCHOR.sub("", content)
        text = LinedText()
        self._inline.read(content, _first_line(inline), text)
        title = " ".join(text.text().split())
        while self._levels and self._levels[-1] >= level:
            self._levels.pop()
            self._names.pop()
        if title:
            self._levels.append(level)
            self._names.append(title)
        self._path = tuple(self._names)
        self._add(BlockKind.HEADING, text, self._extent(opening), Heading(level))

    def _code(self, token: Token) -> None:
        first, last = self._extent(token)
        if token.type == "fence":
            language = token.info.strip().split(maxsplit=1)
            payload = Code(language[0] if language else None)
        else:
            payload = Code()
        text = LinedText()
        _add_code(token, text)
        self._add(BlockKind.CODE, text, (first, last), payload)

    def _html(self, token: Token) -> None:
        text = LinedText()
        _add_html(token, text)
        self._add(BlockKind.PARAGRAPH, text, self._extent(token), Prose())

    def _container(self, tokens: Sequence[Token], start: int, end: int) -> None:
        opening = tokens[start]
        text = LinedText()
        self._flatten(tokens, start, end, text)
        lines = self._extent(opening)
        inlines = tuple(self._inline.inlines)
        if opening.type == "table_open":
            self._add(BlockKind.TABLE, text, lines, Table(self._rows_read[0], tuple(self._rows_read[1:])))
        elif opening.type == "blockquote_open":
            self._add(BlockKind.QUOTE, text, lines, Prose(inlines))
        else:
            ordered = opening.type == "ordered_list_open"
            self._add(BlockKind.LIST, text, lines, Prose(inlines, ordered=ordered))

    def _flatten(self, tokens: Sequence[Token], start: int, end: int, text: LinedText) -> None:
        """Write everything between two tokens as lines: items, rows and paragraphs each on their own."""
        depth = -1
        numbers: list[int | None] = []
        prefix = ""
        index = start
        while index <= end:
            token = tokens[index]
            kind = token.type
            if kind in _LISTS:
                depth += 1
                numbers.append(int(token.attrs.get("start", 1)) if kind == "ordered_list_open" else None)
            elif kind in _LISTS.values():
                depth -= 1
                numbers.pop()
            elif kind == "list_item_open":
                number = numbers[-1]
                prefix = "" if number is None else f"{number}. "
                numbers[-1] = None if number is None else number + 1
            elif kind == "table_open":
                index = self._rows(tokens, index, text)
            elif token.nesting == 0 and kind != "hr":
                _new_line(text, "  " * max(0, depth) + prefix)
                prefix = ""
                self._leaf(token, text)
            if token.nesting > 0 and token.level >= _DEEPEST and tokens[index + 1].nesting < 0:
                self._too_deep(token, text)
            index += 1

    def _too_deep(self, token: Token, text: LinedText) -> None:
        """Keep the words of a container so deep inside others that markdown-it did not look into it."""
        if not token.map:
            return
        for number in range(token.map[0], token.map[1]):
            words = self._lines[number].strip(_MARKS)
            if words:
                _new_line(text, "")
                text.add(words, number + 1)

    def _leaf(self, token: Token, text: LinedText) -> None:
        if token.type == "inline":
            self._inline.read(token.content, _first_line(token), text)
        elif token.type == "html_block":
            _add_html(token, text)
        else:
            _add_code(token, text)

    def _rows(self, tokens: Sequence[Token], start: int, text: LinedText) -> int:
        """Write a table, one `a | b | c` line a row; return the index of its last token."""
        rows: list[tuple[str, ...]] = []
        width = 0
        cells: list[str] = []
        index = start + 1
        while tokens[index].type != "table_close":
            token = tokens[index]
            if token.type == "tr_open":
                cells = []
                _new_line(text, "")
            elif token.type == "inline":
                if cells:
                    text.own(" | ")
                part = len(text.parts)
                self._inline.read(token.content, _first_line(token), text)
                cells.append(text.text(part))
            elif token.type == "tr_close":
                width = width or len(cells)
                self._surplus(tokens[index - 2], width, cells, text)
                rows.append(tuple(cells))
            index += 1
        self._rows_read = rows
        return index

    def _surplus(self, inline: Token, width: int, cells: list[str], text: LinedText) -> None:
        """Add the cells beyond the header's, which markdown-it leaves out."""
        if not inline.map:
            return
        number = inline.map[0]
        line = self._lines[number]
        if line.count("|") <= width:
            return
        found = escapedSplit(_CONTAINER_MARKS.sub("", line).rstrip())
        if found and not found[0]:
            found.pop(0)
        if found and not found[-1]:
            found.pop()
        for cell in found[width:]:
            text.own(" | ")
            part = len(text.parts)
            self._inline.read(cell.strip(), number + 1, text)
            cells.append(text.text(part))
        if len(found) > width:
            self._warn_table(number + 1, "this row has more cells than the header; all are kept")

    def _warn_table(self, line: int, note: str) -> None:
        if len(self.warnings) < 20:  # noqa: PLR2004 - a person reads a few, not thousands
            self.warnings.append(ParseWarning("malformed_table", f"line {line}: {note}"))

    def _extent(self, token: Token) -> tuple[int, int]:
        start, end = token.map or (0, 1)
        while end > start + 1 and not self._lines[end - 1].strip():
            end -= 1
        return start + 1, end

    def _add(self, kind: BlockKind, text: LinedText, lines: tuple[int, int], payload: Payload) -> None:
        inline = self._inline
        words, segments = text.finish()
        media = inline.media
        alone = media and kind is BlockKind.PARAGRAPH and len("".join(words.split())) <= inline.media_characters
        if words.strip() and not alone:
            span = line_span(*lines)
            self.blocks.append(ParsedBlock(kind, words, span, self._path, payload, segments))
        if media:
            for item in media:
                self.blocks.append(self._reference(item, "" if alone else words))
            inline.media = []
            inline.media_characters = 0
        if inline.inlines:
            inline.inlines = []

    def _reference(self, item: Media, words: str) -> ParsedBlock:
        """A picture or recording; its words stand here unless the text around it holds them already."""
        span = line_span(item.line, item.last_line)
        text = "" if item.alt in words else item.alt
        segments = (Segment(0, len(text), span),) if text else ()
        return ParsedBlock(item.kind, text, span, self._path, MediaRef(item.src, item.alt), segments)


def _closing(tokens: Sequence[Token], start: int) -> int:
    level = tokens[start].level
    index = start + 1
    while tokens[index].level > level or tokens[index].nesting >= 0:
        index += 1
    return index


def _first_line(token: Token) -> int:
    return (token.map[0] if token.map else 0) + 1


def _new_line(text: LinedText, prefix: str) -> None:
    if len(text):
        text.own("\n" + prefix)
    elif prefix:
        text.own(prefix)


def _add_code(token: Token, text: LinedText) -> None:
    first = _first_line(token) + (1 if token.type == "fence" else 0)
    text.add_lines((line.rstrip() for line in token.content.removesuffix("\n").split("\n")), first)


def _add_html(token: Token, text: LinedText) -> None:
    started = False
    for number, line in enumerate(visible_lines(token.content), _first_line(token)):
        if line:
            if started:
                text.own("\n")
            text.add(line, number)
            started = True
