"""Markdown in cells: rendered, then read as the page a reader would see."""

from __future__ import annotations

from kb.adapters.parsers.shared.building import BlockBuilder
from kb.adapters.parsers.shared.html import OnePlace, read_html
from kb.domain.limits import ReadingLimits
from kb.domain.spans import SourceSpan

_LONGEST = 1 << 20


def add_markdown(text: str, builder: BlockBuilder, span: SourceSpan, limits: ReadingLimits) -> None:
    """Add the blocks of a Markdown cell; one longer than a megabyte is added as it is.

    Raises:
        Unreadable: as `read_html`.
    """
    if len(text) > _LONGEST:
        builder.paragraph(text, span)
        return
    from markdown_it import MarkdownIt

    # Cells may hold HTML, tables above all; nothing is shown to anybody here, only its words are taken.
    page = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    read_html(page, builder, OnePlace(span), limits)
