"""SVG: what it says in words. Nothing of it is drawn, run or fetched."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator

from kb.adapters.parsers.shared.building import BlockBuilder, clean
from kb.adapters.parsers.shared.xml import Element, local, parsed
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import ParsedDocument, ParseWarning
from kb.domain.errors import Unreadable
from kb.domain.ids import Json
from kb.domain.limits import ReadingLimits
from kb.domain.spans import RegionSpan

_SKIPPED = frozenset(("script", "style", "metadata"))
_LINES = frozenset(("text", "desc", "title", "p", "div", "li"))
_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)(?:px)?\s*\Z")
_USUAL_SIZE = (300, 150)
_GZIP = b"\x1f\x8b"
_STEP = 1 << 16


def is_vector(data: bytes) -> bool:
    """Say whether bytes are an SVG, packed or not."""
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    return data.startswith(_GZIP) or (head.startswith(b"<") and b"<svg" in head) or head.startswith(b"<?xml")


def read_vector(data: bytes, limits: ReadingLimits) -> ParsedDocument:
    """Return one paragraph for each text of the drawing, in the order of the file.

    Words that stand for others (entities) are left out, and the drawing counts as failed, `too_complex`.

    Raises:
        Unreadable: `damaged`, `too_big`, `too_complex`, `expands_too_much`, `wrong_type`.
    """
    dropped: list[Element] = []
    root = parsed(_unpacked(data, limits), doctype=True, dropped=dropped)
    if local(root) != "svg":
        raise Unreadable("it is XML, but no SVG", reason="wrong_type")
    span = RegionSpan(0, 0, *_size(root))
    builder = BlockBuilder()
    front: dict[str, Json] = {}
    length = 0
    for name, text in _texts(root):
        length += len(text)
        if length > limits.characters:
            raise Unreadable("it has too much text", hint="split it", reason="too_big")
        if name == "title" and "title" not in front:
            front["title"] = text
        builder.paragraph(text, span)
    unit = CoverageUnit("image", 1, 1, "text" if builder.blocks else "blank")
    warnings: tuple[ParseWarning, ...] = ()
    if any(_is_shown(element) for element in dropped):
        unit = CoverageUnit("image", 1, 1, "failed", reason="too_complex")
        warnings = (ParseWarning("extract_failed", "words that the drawing defines elsewhere were left out"),)
    return ParsedDocument(tuple(builder.blocks), front, warnings=warnings, coverage=(unit,))


def _is_shown(element: Element) -> bool:
    """Say whether words in an element would be text of the drawing."""
    around = [local(element), *map(local, element.iterancestors())]
    return _SKIPPED.isdisjoint(around) and not _LINES.isdisjoint(around)


def _unpacked(data: bytes, limits: ReadingLimits) -> bytes:
    if not data.startswith(_GZIP):
        return data
    most = limits.expanded_mb << 20
    whole = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            while piece := packed.read(_STEP):
                whole += piece
                is_bomb = len(whole) > 1 << 20 and len(whole) > len(data) * limits.expansion_ratio
                if len(whole) > most or is_bomb:
                    raise Unreadable("it unpacks to far more than it holds", reason="expands_too_much")
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable("the packed drawing is damaged", reason="damaged") from error
    return bytes(whole)


def _texts(root: Element) -> Iterator[tuple[str, str]]:
    """Walk without recursion: drawings nest deep."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        name = local(element)
        if name in _SKIPPED:
            continue
        if name in _LINES:
            text = " ".join(clean("".join(_inner(element))).split())
            if text:
                yield name, text
            continue
        waiting += reversed(element)


def _inner(element: Element) -> Iterator[str]:
    yield element.text or ""
    for part in element:
        if local(part) not in _SKIPPED:
            # A part with a place of its own is a line of its own.
            yield " " if local(part) != "tspan" or any(part.get(key) for key in ("x", "y", "dy")) else ""
            yield from _inner(part)
        yield part.tail or ""


def _size(root: Element) -> tuple[int, int]:
    """Return width and height in whole pixels, from attributes or view box, else those of CSS 2.1."""
    box = (root.get("viewBox") or "").replace(",", " ").split()
    sides = [root.get("width") or "", root.get("height") or ""]
    given = [_NUMBER.match(side) for side in sides]
    if not all(given) and len(box) == 4:  # noqa: PLR2004 - x, y, width, height
        given = [_NUMBER.match(side) for side in box[2:]]
    width, height = (
        max(round(float(side[1])), 1) if side else usual for side, usual in zip(given, _USUAL_SIZE, strict=True)
    )
    return width, height
