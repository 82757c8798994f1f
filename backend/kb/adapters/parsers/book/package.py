"""What an EPUB says about itself: its metadata, its files in reading order, its table of contents, its locks."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from kb.adapters.parsers.shared.archive import Zip, damaged
from kb.adapters.parsers.shared.building import clean
from kb.adapters.parsers.shared.doctype import refuse_entities
from kb.adapters.parsers.shared.html_head import iso_date
from kb.adapters.parsers.shared.names import clean_name
from kb.adapters.parsers.shared.xml import local, parsed, words_of
from kb.domain.errors import Unreadable
from kb.domain.ids import Json

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
# Fonts made unreadable to keep them from being copied; the text is not touched.
_FONTS_ONLY = frozenset(("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"))
_PAGES = frozenset(("application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml"))
_FACTS: Mapping[str, str] = {
    "title": "title",
    "creator": "author",
    "language": "lang",
    "description": "description",
    "publisher": "publisher",
    "identifier": "identifier",
}
_TAG = re.compile(r"<[^<>]*>")
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Part:
    """A file of the reading order; `name` is empty when the book does not hold it."""

    name: str
    is_page: bool
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Package:
    """A book's parts in reading order.

    Attributes:
        titles: of the table of contents, by the name of the file they lead to; the first one that does.
        pictures: names of the pictures the book lists.
    """

    parts: tuple[Part, ...]
    facts: Mapping[str, Json]
    titles: Mapping[str, str]
    pictures: tuple[str, ...]


def read_package(book: Zip) -> Package:
    """Read the package document.

    Raises:
        Unreadable: `damaged`, `locked` (every part of the text is encrypted), `too_complex`, `too_big`.
    """
    folder, root = _root(book)
    items: dict[str, _Item] = {}
    for element in _all(root, "item"):
        name = _resolved(folder, element.get("href") or "")
        items[element.get("id") or ""] = _Item(
            name if name in book else "", element.get("media-type") or "", (element.get("properties") or "").split()
        )
    locked = _locked(book)
    parts = [_part(items.get(reference.get("idref") or ""), locked) for reference in _all(root, "itemref")]
    if not parts:
        raise damaged("the book has no reading order")
    if all(part.locked for part in parts if part.is_page and part.name) and any(part.locked for part in parts):
        raise Unreadable(
            "the book is locked by its seller",
            hint="only the seller's own programs can open it",
            reason="locked",
        )
    pictures = tuple(item.name for item in items.values() if item.name and item.media_type.startswith("image/"))
    return Package(tuple(parts), _facts(root), _titles(book, root, items), pictures)


@dataclass(frozen=True, slots=True)
class _Item:
    name: str
    media_type: str
    properties: list[str]


def resolved(page: str, reference: str) -> str:
    """Return the name in the book of what a page of it refers to."""
    return _resolved(posixpath.dirname(page), reference)


def _part(item: _Item | None, locked: frozenset[str]) -> Part:
    if item is None:
        return Part("", is_page=True)
    is_page = item.media_type in _PAGES or item.name.lower().endswith((".xhtml", ".html", ".htm"))
    return Part(item.name, is_page, item.name in locked)


def _root(book: Zip) -> tuple[str, Any]:
    name = ""
    if _CONTAINER in book:
        files = _all(parsed(book.read(_CONTAINER), doctype=True, forgiving=True), "rootfile")
        name = next((clean_name(unquote(file.get("full-path") or "")) for file in files), "")
    if name not in book:
        # Without its container file, the package is the one file of its kind.
        name = next((entry for entry in book.names if entry.lower().endswith(".opf")), "")
    if not name:
        raise damaged("there is no book in it")
    data = book.read(name)
    refuse_entities(data)
    return posixpath.dirname(name), parsed(data, doctype=True, forgiving=True)


def _resolved(folder: str, reference: str) -> str:
    try:
        path = unquote(urlsplit(reference).path)
    except ValueError:
        return ""
    # Names that climb out of the book are cleaned as those in the container are, and so name nothing outside it.
    return clean_name(posixpath.normpath(posixpath.join(folder, path))) if path else ""


def _locked(book: Zip) -> frozenset[str]:
    if _ENCRYPTION not in book:
        return frozenset()
    names: set[str] = set()
    for data in _all(parsed(book.read(_ENCRYPTION), doctype=True, forgiving=True), "EncryptedData"):
        methods = {method.get("Algorithm") for method in _all(data, "EncryptionMethod")}
        if not methods <= _FONTS_ONLY:
            names |= {clean_name(unquote(one.get("URI") or "")) for one in _all(data, "CipherReference")}
    return frozenset(names)


def _facts(root: Any) -> dict[str, Json]:  # noqa: ANN401 - lxml has no types
    facts: dict[str, list[str]] = {}
    for element in root.iter():
        name = local(element)
        words = " ".join(clean(_TAG.sub(" ", words_of(element))).split())[:_LONGEST] if name else ""
        if not words:
            continue
        if name in _FACTS:
            facts.setdefault(_FACTS[name], []).append(words)
        elif name == "subject":
            facts.setdefault("subjects", []).append(words)
        elif name == "date":
            facts.setdefault("created", []).append(iso_date(words) or words)
        elif name == "meta" and element.get("property") == "dcterms:modified":
            facts.setdefault("modified", []).append(iso_date(words) or words)
    joined = ("author", "subjects")
    return {key: ", ".join(dict.fromkeys(values)) if key in joined else values[0] for key, values in facts.items()}


def _titles(book: Zip, root: Any, items: Mapping[str, _Item]) -> dict[str, str]:  # noqa: ANN401
    """Return the titles of the contents: those of the navigation page, else of the older NCX file."""
    titles: dict[str, str] = {}
    page = next((item.name for item in items.values() if item.name and "nav" in item.properties), "")
    if page:
        for element in _all(_tolerant(book, page), "nav"):
            kind = next((value for key, value in element.attrib.items() if str(key).endswith("type")), "toc")
            if "toc" in str(kind):
                for link in _all(element, "a"):
                    _entitle(titles, resolved(page, link.get("href") or ""), words_of(link))
    spine = next(_all(root, "spine"), None)
    listed = items.get(spine.get("toc") or "") if spine is not None else None
    listed = listed or next((one for one in items.values() if one.media_type == "application/x-dtbncx+xml"), None)
    if not titles and listed is not None and listed.name:
        for point in _all(_tolerant(book, listed.name), "navPoint"):
            label, content = next(_all(point, "navLabel"), None), next(_all(point, "content"), None)
            if label is not None and content is not None:
                _entitle(titles, resolved(listed.name, content.get("src") or ""), words_of(label))
    return titles


def _entitle(titles: dict[str, str], name: str, words: str) -> None:
    words = " ".join(clean(words).split())[:300]
    if name and words:
        titles.setdefault(name, words)


def _tolerant(book: Zip, name: str) -> Any:  # noqa: ANN401
    """Return a table of contents; one that is broken costs the titles only."""
    try:
        return parsed(book.read(name), doctype=True, forgiving=True)
    except Unreadable:
        return None


def _all(root: Any, name: str) -> Iterator[Any]:  # noqa: ANN401
    return (element for element in (() if root is None else root.iter()) if local(element) == name)
