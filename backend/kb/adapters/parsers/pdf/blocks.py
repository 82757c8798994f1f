"""Blocks of a whole document from the lines of its pages, with every character in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kb.adapters.parsers.pdf.furniture import demote
from kb.adapters.parsers.pdf.grouping import Group, grouped, link, looks_of
from kb.adapters.parsers.pdf.lines import Line
from kb.adapters.parsers.pdf.pages import PageContent
from kb.adapters.parsers.pdf.writing import PageWriter, compounds, joint
from kb.adapters.parsers.shared.building import BlockBuilder
from kb.domain.blocks import BlockKind, Code, Payload, Prose, Table
from kb.domain.documents import ParsedBlock
from kb.domain.pages import PageText
from kb.domain.spans import PageSpan, Segment

_CELLS = " | "
_KINDS = {"list": BlockKind.LIST, "code": BlockKind.CODE}


def build(
    contents: list[PageContent], titles: Mapping[int, Sequence[tuple[str, int]]]
) -> tuple[list[ParsedBlock], list[PageText]]:
    """Return blocks and pages; empties `contents` while doing so, since a book held twice is a lot.

    Args:
        contents: the pages in order.
        titles: bookmarks by page.
    """
    demote(contents)
    looks = looks_of(line for content in contents for line in content.lines)
    known = compounds(line for content in contents for line in content.lines)
    builder = _Builder(known)
    contents.reverse()
    waiting: tuple[PageContent, list[Group]] | None = None
    while contents:
        content = contents.pop()
        groups = grouped(content.lines, looks, titles.get(content.number, ()))
        content.lines = []
        if waiting is not None:
            adjacent = waiting[0].number + 1 == content.number
            if adjacent:
                link(waiting[1], groups)
            builder.page(*waiting, groups[0].lines[0] if adjacent and groups and groups[0].continues else None)
        waiting = (content, groups)
    if waiting is not None:
        builder.page(*waiting, None)
    builder.finish()
    return builder.blocks, builder.pages


@dataclass(slots=True)
class _Draft:
    """A block that may go on on the next page."""

    kind: BlockKind
    payload: Payload
    heading_path: tuple[str, ...]
    text: str = ""
    segments: list[Segment] = field(default_factory=list)

    def add(self, glue: str, text: str, page: int, start: int) -> None:
        if self.segments:
            self.text += glue
        position = len(self.text)
        self.text += text
        self.segments.append(Segment(position, len(self.text), PageSpan(page, start, start + len(text))))


class _Builder:
    def __init__(self, known: frozenset[str]) -> None:
        self.pages: list[PageText] = []
        self._known = known
        self._builder = BlockBuilder()
        self._open: _Draft | None = None
        self._glue = ""
        self._additions: list[_Draft] = []

    @property
    def blocks(self) -> list[ParsedBlock]:
        return self._builder.blocks

    def page(self, content: PageContent, groups: Sequence[Group], following: Line | None) -> None:
        """Write a page; `following` is the line of the next page that its last paragraph goes on with."""
        writer = PageWriter(content)
        flow = [group for group in groups if group.kind != "plain"]
        for group in groups:
            writer.begin()
            if group.kind == "table":
                self._close()
                self._table(writer, content.number, group.lines[0])
                continue
            start = writer.position
            text, glue = self._run(writer, group.lines, following if flow and group is flow[-1] else None)
            if group.kind == "plain":
                self._addition(text, content.number, start)
            elif group.continues and self._open is not None:
                self._open.add(self._glue, text, content.number, start)
            else:
                self._block(group, text, content.number, start)
            if flow and group is flow[-1]:
                self._glue = glue
        if groups:
            self.pages.append(writer.page())
        if following is None:
            self._close()

    def finish(self) -> None:
        """Close what is open."""
        self._close()

    def _run(self, writer: PageWriter, lines: Sequence[Line], following: Line | None) -> tuple[str, str]:
        pieces: list[str] = []
        glue = ""
        for number, line in enumerate(lines):
            after = lines[number + 1] if number + 1 < len(lines) else following
            drop, glue = joint(line, after, self._known) if after is not None else (0, "")
            pieces.append(writer.line(line, drop))
            if number + 1 < len(lines):
                writer.write(glue)
                pieces.append(glue)
        return "".join(pieces), glue

    def _block(self, group: Group, text: str, page: int, start: int) -> None:
        self._close()
        if group.kind == "heading":
            span = PageSpan(page, start, start + len(text))
            self._builder.heading(group.level, text, span, (Segment(0, len(text), span),))
            return
        payload: Payload = Code() if group.kind == "code" else Prose(ordered=group.ordered)
        self._open = _Draft(_KINDS.get(group.kind, BlockKind.PARAGRAPH), payload, self._builder.heading_path)
        self._open.add("", text, page, start)

    def _addition(self, text: str, page: int, start: int) -> None:
        draft = _Draft(BlockKind.PARAGRAPH, Prose(), self._builder.heading_path)
        draft.add("", text, page, start)
        self._additions.append(draft)

    def _table(self, writer: PageWriter, page: int, line: Line) -> None:
        draft = _Draft(BlockKind.TABLE, Prose(), self._builder.heading_path)
        values: list[tuple[str, ...]] = []
        for number, row in enumerate(line.cells or ()):
            if number:
                writer.write("\n")
            start = writer.position
            texts: list[str] = []
            for column, cell in enumerate(row):
                if column:
                    writer.write(_CELLS)
                texts.append(self._run(writer, cell, None)[0])
            values.append(tuple(texts))
            draft.add("\n", _CELLS.join(texts), page, start)
        draft.payload = Table(values[0], tuple(values[1:]))
        self._append(draft)

    def _close(self) -> None:
        drafts = [self._open] if self._open is not None else []
        self._open = None
        drafts += self._additions
        self._additions = []
        for draft in drafts:
            self._append(draft)

    def _append(self, draft: _Draft) -> None:
        if draft.text.strip(" |\n"):
            first, last = draft.segments[0].span, draft.segments[-1].span
            span = first
            if isinstance(first, PageSpan) and isinstance(last, PageSpan) and first.page == last.page:
                span = PageSpan(first.page, first.char_start, last.char_end)
            self._builder.blocks.append(
                ParsedBlock(draft.kind, draft.text, span, draft.heading_path, draft.payload, tuple(draft.segments))
            )
