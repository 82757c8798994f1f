"""HTML as blocks: what a reader of the page would see, in order, with places of the caller's choice."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kb.adapters.parsers.shared.building import BlockBuilder
from kb.adapters.parsers.shared.html_blocks import BlockFlow, Places
from kb.adapters.parsers.shared.html_flow import HtmlFlow
from kb.domain.coverage import CoverageUnit
from kb.domain.errors import Unreadable
from kb.domain.ids import Json
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan, SourceSpan
from kb.ingest.ports import DecodedText, TextDecoder

_PIECE = 1 << 18
_PRESCAN = 4096
_DECLARED = re.compile(rb"""<meta\b[^<>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_DECLARED_XML = re.compile(rb"""^\s*<\?xml\b[^<>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']""")
# Browsers read these names as their supersets, and so were the pages written (WHATWG Encoding Standard, "Names").
_MEANT: Mapping[str, str] = {
    "iso8859-1": "cp1252",
    "ascii": "",  # of bytes beyond it, it says nothing
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    **dict.fromkeys(("euc_kr", "johab"), "cp949"),
    "shift_jis": "cp932",
    "big5": "big5hkscs",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    # A page whose declaration can be read byte by byte is not UTF-16.
    **dict.fromkeys(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7"), "utf-8"),
}
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NOT_TEXT = frozenset(("base64", "hex", "quopri", "uu", "zlib", "bz2", "rot13", "punycode", "idna", "undefined"))
_XHTML = re.compile(r"\s*(?:<\?xml\b|<!DOCTYPE[^>]{0,100}XHTML)|<html\b[^<>]{0,300}1999/xhtml", re.IGNORECASE)
# In XHTML an element may end where it begins; in HTML these would swallow all that follows.
_ENDED = re.compile(
    r"<(script|style|title|textarea|iframe|noscript|template|xmp|p|div|span|a|td|li)\b([^<>]*)/>", re.IGNORECASE
)
_DOCTYPE = re.compile(r"<!DOCTYPE", re.IGNORECASE)
_SUBSET = re.compile(r"<!DOCTYPE[^>\[]{0,300}\[.{0,100000}?\]\s*>", re.DOTALL | re.IGNORECASE)
_HEAD = 4096


@dataclass(frozen=True, slots=True)
class HtmlFacts:
    """What was found beside the blocks.

    Attributes:
        front_matter: title, author, created, modified, lang, description ... as far as the page says them.
        characters: of visible text.
        pictures: sources of the pictures shown, in order, as written.
        left_out: whether words of navigation were left out.
    """

    front_matter: Mapping[str, Json]
    characters: int
    pictures: tuple[str, ...]
    left_out: bool


class Sections:
    """Numbers the heading sections of a file in reading order, from 1.

    Text before the first heading belongs to the section of that heading. A file of several pages (a book) calls
    `part` before each; no section runs over from one into the next.
    """

    def __init__(self) -> None:
        self.number = 1
        self._titled = False

    def part(self) -> int:
        """Begin the next page of several; return the number of its first section."""
        self.number += 1
        self._titled = False
        return self.number

    def heading(self) -> SourceSpan:
        """Return the place of a heading, which begins a section."""
        if self._titled:
            self.number += 1
        self._titled = True
        return PartSpan("section", self.number)

    def here(self) -> SourceSpan:
        """Return the place of what stands in the current section."""
        return PartSpan("section", self.number)


class OnePlace:
    """Everything stands in one place, such as a message."""

    def __init__(self, span: SourceSpan) -> None:
        self._span = span

    def heading(self) -> SourceSpan:
        """Return the place."""
        return self._span

    def here(self) -> SourceSpan:
        """Return the place."""
        return self._span


def read_html(
    text: str,
    builder: BlockBuilder,
    places: Places,
    limits: ReadingLimits,
    *,
    deepen: int = 0,
    tell: Callable[[int, int], None] | None = None,
) -> HtmlFacts:
    """Read a page or a piece of one; scripts, styles and what is hidden are not seen.

    Navigation is left out, unless the page has no other words.

    Args:
        text: the page.
        builder: takes the blocks.
        places: says where they stand.
        limits: `characters` and `cells` count.
        deepen: added to the levels of headings, for pages within a document.
        tell: takes characters read and characters in all.

    Raises:
        Unreadable: `too_big` or `too_complex`.
    """
    text = _as_html(text)
    before = len(builder.blocks)
    page = _run(text, builder, places, limits, deepen=deepen, tell=tell, keep_navigation=False)
    if page.left_out and len(builder.blocks) == before:
        page = _run(text, builder, places, limits, deepen=deepen, tell=tell, keep_navigation=True)
    return page


def decode_html(data: bytes, decoder: TextDecoder | None, declared: str = "") -> DecodedText:
    """Return a page as text: by its mark, as UTF-8 if it is that, as it or `declared` says, else by a guess.

    Without a decoder the guess is Windows' Western European.

    Raises:
        Unreadable: the bytes are not text (reason `binary`).
    """
    head = data[:_PRESCAN]
    if not data.startswith(_MARKS) and not (decoder is not None and b"\0" in head):
        labels = (declared.encode("ascii", errors="ignore"), *_DECLARED.findall(head), *_DECLARED_XML.findall(head))
        named = [encoding for label in labels if (encoding := meant(label.decode("ascii")))]
        if named and named[0].startswith("iso2022") and b"\x1b" in data:  # its bytes would pass as UTF-8
            return DecodedText(data.decode(named[0], errors="replace"), named[0], f"not UTF-8; read as {named[0]}")
        try:
            return DecodedText(data.decode("utf-8"))
        except UnicodeDecodeError:
            pass
        for encoding in named:
            text = _decoded(data, encoding)
            if text is not None:
                return DecodedText(text, encoding, f"not UTF-8; read as {encoding}")
    if decoder is not None:
        return decoder.decode(data)
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"), (b"", "cp1252")):
        if data.startswith(mark):
            return DecodedText(data.decode(encoding, errors="replace"), encoding, f"not UTF-8; read as {encoding}")
    raise Unreadable("this is not text", reason="binary")


def meant(label: str) -> str:
    """Return the codec that a name of an encoding stands for in practice, empty when there is none."""
    try:
        name = codecs.lookup(label.strip()).name
    except (LookupError, ValueError):
        return ""
    return "" if name in _NOT_TEXT else _MEANT.get(name, name)


def section_coverage(blocks_until: int, text_sections: set[int], *, left_out: bool) -> tuple[CoverageUnit, ...]:
    """Return the ledger of a file of heading sections: those with text, blank ones, and navigation as a last one."""
    units: list[CoverageUnit] = []
    for number in range(1, blocks_until + 1):
        state = "text" if number in text_sections else "blank"
        if units and units[-1].state == state:
            units[-1] = CoverageUnit("section", units[-1].start, number, units[-1].state)
        else:
            units.append(CoverageUnit("section", number, number, "text" if state == "text" else "blank"))
    if left_out:
        units.append(CoverageUnit("section", blocks_until + 1, blocks_until + 1, "skipped", reason="navigation"))
    return tuple(units)


def _run(
    text: str,
    builder: BlockBuilder,
    places: Places,
    limits: ReadingLimits,
    *,
    deepen: int,
    tell: Callable[[int, int], None] | None,
    keep_navigation: bool,
) -> HtmlFacts:
    from lxml import etree

    target = HtmlFlow(BlockFlow(builder, places, limits, deepen), limits.characters, keep_navigation=keep_navigation)
    # `huge_tree` lifts limits that are meant for trees; here none grows, and our own limits count.
    parser = etree.HTMLParser(target=target, huge_tree=True, encoding="utf-8", no_network=True)
    for position in range(0, len(text), _PIECE):
        parser.feed(text[position : position + _PIECE].encode("utf-8", errors="replace"))
        if tell is not None:
            tell(min(position + _PIECE, len(text)), len(text))
    try:
        parser.close()
    except etree.XMLSyntaxError:  # there is no element in it at all
        target.close()
    return HtmlFacts(target.head.front_matter(), target.characters, tuple(target.pictures), target.left_out)


def _as_html(text: str) -> str:
    if not _XHTML.search(text[:_HEAD]):
        return text
    doctype = _DOCTYPE.search(text, 0, _HEAD)
    subset = _SUBSET.match(text, doctype.start()) if doctype else None
    if subset:
        text = text[: subset.start()] + text[subset.end() :]
    return _ENDED.sub(r"<\1\2></\1>", _without_sections(text))


def _without_sections(text: str) -> str:
    """Return XHTML with its CDATA sections, which HTML does not know, written as ordinary text."""
    kept: list[str] = []
    position = 0
    while (start := text.find("<![CDATA[", position)) >= 0 and (end := text.find("]]>", start)) >= 0:
        words = text[start + len("<![CDATA[") : end]
        kept += [text[position:start], words.replace("&", "&amp;").replace("<", "&lt;")]
        position = end + len("]]>")
    return "".join((*kept, text[position:]))


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, errors="replace")
    except (ValueError, LookupError):
        return None
    # A few damaged bytes do not make a declaration wrong.
    return text if text.count("\ufffd") * 100 <= len(text) else None
