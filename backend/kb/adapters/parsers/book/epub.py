"""The parser of EPUB books: its pages in reading order, in numbered sections."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.adapters.parsers.book.package import Package, Part, read_package, resolved
from kb.adapters.parsers.shared.archive import Zip, open_zip
from kb.adapters.parsers.shared.building import BlockBuilder
from kb.adapters.parsers.shared.html import Sections, decode_html, read_html
from kb.adapters.parsers.shared.pictures import worth_reading
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import Member, ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "epub-v1"

_HEADING = re.compile(r"<h[1-6]\b", re.IGNORECASE)


class EpubParser:
    """Reads EPUB 2 and 3 with our own reading of the package: a page that is missing must be told, not skipped."""

    media_types = frozenset({MediaType.EPUB})
    version = VERSION

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return the pages of a book; pictures that are big are members.

        A section is a heading and what follows it; no section runs over from one file of the book into the next.

        Raises:
            Unreadable: `damaged`, `locked`, `too_many_entries`, `expands_too_much`, `too_big`, `too_complex`.
        """
        tell(0, 0, "section")
        book = open_zip(source.data, limits, password=source.password)
        package = read_package(book)
        reading = _Reading(book, package, limits)
        for number, part in enumerate(package.parts):
            tell(number, len(package.parts), "section")
            reading.take(part)
        return ParsedDocument(
            blocks=tuple(reading.builder.blocks),
            front_matter=package.facts,
            coverage=reading.finish(),
            members=_pictures(book, package, reading.shown),
        )


class _Reading:
    """Goes through the parts of a book."""

    def __init__(self, book: Zip, package: Package, limits: ReadingLimits) -> None:
        self.builder = BlockBuilder()
        self.units: list[CoverageUnit] = []
        self.shown: set[str] = set()
        self._book, self._package, self._limits = book, package, limits
        self._sections = Sections()
        self._characters = 0
        self._left_out = False

    def take(self, part: Part) -> None:
        first = self._sections.part() if self.units else 1
        if part.locked:
            self.units.append(CoverageUnit("section", first, first, "skipped", reason="encrypted"))
        elif not part.name:
            self.units.append(CoverageUnit("section", first, first, "failed", reason="missing"))
        elif not part.is_page:
            # A picture or a drawing in place of a page; if it is big enough it is an item of its own.
            self.shown.add(part.name)
            self.units.append(CoverageUnit("section", first, first, "skipped", reason="not_text"))
        else:
            self._page(part, first)

    def finish(self) -> tuple[CoverageUnit, ...]:
        """Return the ledger; what was left out of pages as navigation is its last unit."""
        if self._left_out:
            last = self._sections.number + 1
            self.units.append(CoverageUnit("section", last, last, "skipped", reason="navigation"))
        return _merged(self.units)

    def _page(self, part: Part, first: int) -> None:
        before = len(self.builder.blocks)
        text = decode_html(self._book.read(part.name), None).text
        title = self._package.titles.get(part.name, "")
        if title and not _HEADING.search(text):
            # Chapters whose title stands only in the table of contents.
            self.builder.heading(1, title, self._sections.heading())
        facts = read_html(text, self.builder, self._sections, self._limits)
        self._characters += facts.characters
        if self._characters > self._limits.characters:
            raise Unreadable("the book has more text than the limit allows", reason="too_big")
        self.shown |= {resolved(part.name, picture) for picture in facts.pictures}
        self._left_out = self._left_out or facts.left_out
        found = {span.number for b in self.builder.blocks[before:] if b.text and isinstance(span := b.span, PartSpan)}
        for number in range(first, self._sections.number + 1):
            self.units.append(CoverageUnit("section", number, number, "text" if number in found else "blank"))


def _pictures(book: Zip, package: Package, shown: set[str]) -> tuple[Member, ...]:
    modified = {entry.name: entry.modified_ns for entry in book.entries}
    found = []
    for name in package.pictures:
        data = book.read(name) if name in shown else b""
        if worth_reading(data):
            found.append(Member(name, data, modified.get(name)))
    return tuple(found)


def _merged(units: Sequence[CoverageUnit]) -> tuple[CoverageUnit, ...]:
    ranges: list[CoverageUnit] = []
    for unit in units:
        last = ranges[-1] if ranges else None
        if last and (last.state, last.reason) == (unit.state, unit.reason):
            ranges[-1] = CoverageUnit("section", last.start, unit.end, unit.state, reason=unit.reason)
        else:
            ranges.append(unit)
    return tuple(ranges)
