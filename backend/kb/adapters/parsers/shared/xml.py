"""XML as strangers send it: no entity is expanded, nothing is fetched, no tree grows without bound."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, TypeAlias

from kb.domain.errors import Unreadable

Element: TypeAlias = Any
"""An lxml element: the library has no types."""

LARGEST = 64 << 20
"""Bytes of one XML part that is read as a tree, which takes about ten times as much memory."""

_PROLOG_STEP = 1 << 12
_PROLOG = 1 << 16


def parsed(
    data: bytes, *, doctype: bool = False, forgiving: bool = False, dropped: list[Element] | None = None
) -> Element:
    """Return the root element (lxml) of an XML text.

    Entities that the text declares are never expanded: a reference to one stands for nothing.

    Args:
        data: the whole text; its encoding is in it.
        doctype: allow a document type declaration, as in XHTML; else it is refused.
        forgiving: mend what is not well-formed, where that can be done.
        dropped: takes the elements that lost a reference to an entity.

    Raises:
        Unreadable: `damaged`, `too_big` or `too_complex` (declares entities, nests too deep).
    """
    from lxml import etree

    if len(data) > LARGEST:
        raise Unreadable(f"a part of it is longer than {LARGEST >> 20} MB", hint="split the document", reason="too_big")
    if not doctype:
        refuse_doctype(data)
    parser = etree.XMLParser(recover=forgiving, remove_comments=True, remove_pis=True, **_SAFE)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise _unreadable(error) from error
    except ValueError as error:
        raise Unreadable("a part of it is no XML", reason="damaged") from error
    if root is None:
        raise Unreadable("a part of it is no XML", reason="damaged")
    lost = _drop_entities(root, etree.Entity)
    if dropped is not None:
        dropped += lost
    return root


def refuse_doctype(data: bytes) -> None:
    """Refuse XML that declares a document type, read only as far as its first element.

    Office formats have none; with one, a kilobyte can stand for a gigabyte, or for a file of this computer.

    Raises:
        Unreadable: `too_complex`, or `damaged` when there is no first element.
    """
    from lxml import etree

    parser = etree.XMLPullParser(events=("start",), **_SAFE)
    try:
        for position in range(0, min(len(data), _PROLOG), _PROLOG_STEP):
            parser.feed(data[position : position + _PROLOG_STEP])
            for _, element in parser.read_events():
                if element.getroottree().docinfo.internalDTD is not None:
                    raise Unreadable(
                        "a part of it defines what its own words mean, which documents never need",
                        hint="open it in the program it comes from and save it again",
                        reason="too_complex",
                    )
                return
    except etree.XMLSyntaxError as error:
        raise _unreadable(error) from error
    raise Unreadable("a part of it is no XML", reason="damaged")


def local(element: Element) -> str:
    """Return the name of an element without its namespace; empty for comments and the like."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def words_of(element: Element) -> str:
    """Return all text below an element."""
    return "".join(_pieces(element))


_EXCESSES = frozenset((89, 109, 110, 116, 117))
_SAFE: dict[str, bool] = {
    "resolve_entities": False,
    "load_dtd": False,
    "dtd_validation": False,
    "attribute_defaults": False,
    "no_network": True,
    "huge_tree": False,
}


def _pieces(element: Element) -> Iterator[str]:
    for piece in element.itertext():
        yield str(piece)


def _drop_entities(root: Element, entity: Element) -> list[Element]:
    """Remove references to entities; return the elements they stood in."""
    lost = []
    for node in list(root.iter(entity)):
        parent, tail = node.getparent(), node.tail or ""
        before = node.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + tail
        else:
            parent.text = (parent.text or "") + tail
        parent.remove(node)
        lost.append(parent)
    return lost


def _unreadable(error: Element) -> Unreadable:
    # libxml2's codes: an entity loop, too long a name or text, too deep or too big a tree; older ones say it in words
    said = str(error.msg or "")
    if error.code in _EXCESSES or any(word in said for word in ("limit", "depth", "amplification", "huge", "loop")):
        return Unreadable("a part of it is nested or repeated beyond reason", reason="too_complex")
    return Unreadable("a part of it is no well-formed XML", reason="damaged")


def elements(data: bytes, *names: str) -> Iterator[Element]:
    """Yield the elements of these names as they end, each emptied after use: for parts too long for a tree.

    An element inside another yielded one must not be asked for.

    Raises:
        Unreadable: as `parsed`.
    """
    from lxml import etree

    refuse_doctype(data)
    tags = [f"{{*}}{name}" for name in names]
    try:
        for _, element in etree.iterparse(io.BytesIO(data), events=("end",), tag=tags, remove_comments=True, **_SAFE):
            yield element
            element.clear(keep_tail=False)
            # Emptied siblings would still pile up before it.
            while (before := element.getprevious()) is not None:
                element.getparent().remove(before)
    except etree.XMLSyntaxError as error:
        raise _unreadable(error) from error
