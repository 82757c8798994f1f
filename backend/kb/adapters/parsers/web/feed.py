"""The parser of feeds: RSS, RSS 1.0 and Atom, an entry a section."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from kb.adapters.parsers.shared.building import BlockBuilder, clean
from kb.adapters.parsers.shared.doctype import refuse_entities
from kb.adapters.parsers.shared.html import OnePlace, read_html
from kb.adapters.parsers.shared.html_head import iso_date
from kb.adapters.parsers.shared.xml import local, parsed, words_of
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.ids import Json
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "feed-v1"

_FEEDS = frozenset(("rss", "feed", "RDF"))
_ENTRIES = frozenset(("item", "entry"))
_DATES = ("pubDate", "published", "date", "updated", "lastBuildDate", "modified", "issued")
_AUTHORS = ("creator", "author", "managingEditor")
_TAG = re.compile(r"<[^<>]{1,2000}>")
_MARKUP = re.compile(r"<[A-Za-z/!]|&[#\w]+;")
_LONGEST_LINE = 2000


class FeedParser:
    """Reads feeds with lxml; their entries' HTML as pages are read."""

    media_types = frozenset({MediaType.FEED})
    version = VERSION

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return what the feed says about itself as section 1, each entry as one more.

        Raises:
            Unreadable: `damaged`, `wrong_type`, `too_many_entries`, `too_complex`, `too_big`.
        """
        tell(0, 0, "section")
        refuse_entities(source.data)
        root = parsed(source.data, doctype=True, forgiving=True)
        if local(root) not in _FEEDS:
            raise Unreadable("this is no feed, though its name says so", reason="wrong_type")
        entries = [element for element in root.iter() if local(element) in _ENTRIES]
        if len(entries) > limits.entries:
            raise Unreadable(f"the feed has more than {limits.entries} entries", reason="too_many_entries")
        about = next((element for element in root if local(element) == "channel"), root)
        builder = BlockBuilder()
        reading = _Entries(builder, limits)
        facts = _facts(about)
        reading.about(facts)
        for number, entry in enumerate(entries):
            tell(number, len(entries), "section")
            reading.take(entry)
        return ParsedDocument(blocks=tuple(builder.blocks), front_matter=facts, coverage=tuple(reading.units))


class _Entries:
    """Adds entries one after the other."""

    def __init__(self, builder: BlockBuilder, limits: ReadingLimits) -> None:
        self.units: list[CoverageUnit] = []
        self._builder, self._limits = builder, limits
        self._number = 0
        self._characters = 0

    def about(self, facts: dict[str, Json]) -> None:
        title, description = str(facts.get("title") or ""), str(facts.get("description") or "")
        if title or description:
            span = self._next()
            self._builder.heading(1, title, span)
            self._builder.paragraph(description, span)
            self._account(blank=False)

    def take(self, entry: Any) -> None:  # noqa: ANN401 - lxml has no types
        span = self._next()
        before = len(self._builder.blocks)
        title = _line(_child(entry, "title"))
        date, author, link = _date(entry), _author(entry), _link(entry)
        self._builder.heading(2, title or date[:10] or link or f"({self._number})", span)
        self._builder.paragraph("\n".join(filter(None, (date.replace("T", " "), author, link))), span)
        page = _content(entry)
        self._characters += len(page)
        if self._characters > self._limits.characters:
            raise Unreadable("the feed has more text than the limit allows", reason="too_big")
        if _MARKUP.search(page):
            read_html(page, self._builder, OnePlace(span), self._limits, deepen=2)
        else:
            for paragraph in re.split(r"\n\s*\n", page):
                self._builder.paragraph(paragraph, span)
        self._account(blank=len(self._builder.blocks) == before)

    def _next(self) -> PartSpan:
        self._number += 1
        return PartSpan("section", self._number)

    def _account(self, *, blank: bool) -> None:
        state = "blank" if blank else "text"
        last = self.units[-1] if self.units else None
        if last and last.state == state:
            self.units[-1] = CoverageUnit("section", last.start, self._number, last.state)
        else:
            self.units.append(CoverageUnit("section", self._number, self._number, "blank" if blank else "text"))


def _facts(about: Any) -> dict[str, Json]:  # noqa: ANN401
    found = {
        "title": _line(_child(about, "title")),
        "description": _line(_child(about, "description")) or _line(_child(about, "subtitle")),
        "lang": _line(_child(about, "language")) or str(about.get("{http://www.w3.org/XML/1998/namespace}lang") or ""),
        "url": _link(about),
        "author": _author(about),
        "modified": _date(about),
    }
    return {key: value for key, value in found.items() if value}


def _children(element: Any, name: str) -> Iterator[Any]:  # noqa: ANN401
    return (child for child in element if local(child) == name)


def _child(element: Any, name: str) -> Any:  # noqa: ANN401
    return next(_children(element, name), None)


def _line(element: Any) -> str:  # noqa: ANN401
    """Return an element's words on one line; many feeds write HTML into titles."""
    if element is None:
        return ""
    words = words_of(element)
    if _MARKUP.search(words):
        words = html.unescape(_TAG.sub(" ", words))
    return " ".join(clean(words).split())[:_LONGEST_LINE]


def _date(element: Any) -> str:  # noqa: ANN401
    said = (_line(_child(element, name)) for name in _DATES)
    return next((found for found in (iso_date(words) for words in said if words) if found), "")


def _author(element: Any) -> str:  # noqa: ANN401
    for name in _AUTHORS:
        child = _child(element, name)
        if child is not None:
            named = _child(child, "name")
            words = _line(child if named is None else named)
            if words:
                return words
    return ""


def _link(element: Any) -> str:  # noqa: ANN401
    """Return the address of the page, in RSS the element's words, in Atom an attribute of the plain link."""
    for link in _children(element, "link"):
        if link.get("rel", "alternate") == "alternate":
            address = _line(link) or str(link.get("href") or "")
            if address:
                return address[:_LONGEST_LINE]
    return ""


def _content(entry: Any) -> str:  # noqa: ANN401
    """Return the fullest text an entry has, as HTML or plain text."""
    versions = [
        _markup(child) for name in ("encoded", "content", "description", "summary") for child in _children(entry, name)
    ]
    return max(versions, key=len, default="")


def _markup(element: Any) -> str:  # noqa: ANN401
    from lxml import etree

    if (element.get("type") or "") == "xhtml":
        pieces = (etree.tostring(child, method="html", encoding="unicode", with_tail=True) for child in element)
        return "".join(str(piece) for piece in pieces)
    return words_of(element)
