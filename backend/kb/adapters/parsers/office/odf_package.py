"""OpenDocument packages (ISO/IEC 26300): parts, metadata, and the words of a paragraph with what hangs on it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from kb.adapters.parsers.office.elements import attribute, below, child, whole
from kb.adapters.parsers.shared.archive import Zip, open_zip
from kb.adapters.parsers.shared.xml import Element, local, parsed, words_of
from kb.domain.errors import Unreadable
from kb.domain.ids import Json
from kb.domain.inlines import Inline, Link
from kb.domain.limits import ReadingLimits

_ENCRYPTION = re.compile(rb"<(?:\w+:)?encryption-data\b")
_PROPERTIES = {
    "title": "title",
    "initial-creator": "author",
    "creator": "author",
    "creation-date": "created",
    "date": "updated",
    "language": "lang",
    "subject": "subject",
    "description": "description",
}
_MOST_SPACES = 200
_BODIES = frozenset(("text", "spreadsheet", "presentation"))
_PASSED_OVER = frozenset(("tracked-changes", "ruby-text", "title", "desc", "event-listeners"))


class OdfPackage:
    """An OpenDocument file; parts that it lacks are None."""

    def __init__(self, container: Zip) -> None:
        self._zip = container

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all parts."""
        return self._zip.names

    def bytes_of(self, part: str) -> bytes | None:
        """Return a part's bytes."""
        return self._zip.read(part) if part in self._zip else None

    def root(self, part: str) -> Element | None:
        """Return a part's root element."""
        data = self.bytes_of(part)
        return None if data is None else parsed(data)

    def body(self) -> tuple[str, Element, Element]:
        """Return the kind of document (`text`, `spreadsheet`, `presentation`), its body, and the root of the content.

        Raises:
            Unreadable: `wrong_type`.
        """
        root = self.root("content.xml")
        body = child(root, "body") if root is not None else None
        for element in body if body is not None else ():
            if local(element) in _BODIES:
                return local(element), element, root
        raise Unreadable("it is no text, sheet or presentation", reason="wrong_type")

    def front_matter(self) -> dict[str, Json]:
        """Return title, author, dates, language, subject and tags, as the document states them."""
        root = self.root("meta.xml")
        found: dict[str, Json] = {}
        tags: list[Json] = []
        for element in root.iter() if root is not None else ():
            name = local(element)
            value = " ".join(words_of(element).split()) if name == "keyword" or name in _PROPERTIES else ""
            if value and name == "keyword":
                tags += [word.strip() for word in value.split(",") if word.strip()]
            elif value:
                found.setdefault(_PROPERTIES[name], value)
        return found | ({"tags": tags} if tags else {})


def open_odf(data: bytes, limits: ReadingLimits) -> OdfPackage:
    """Open a package; nothing in it is run or fetched.

    Raises:
        Unreadable: `locked`, or as `open_zip`.
    """
    container = open_zip(data, limits, distinct=True)
    manifest = "META-INF/manifest.xml"
    if manifest in container and _ENCRYPTION.search(container.read(manifest)):
        raise Unreadable(
            "it is locked with a password", hint="save it without a password and add it again", reason="locked"
        )
    return OdfPackage(container)


@dataclass(slots=True)
class OdfWords:
    """What a paragraph holds: its text, links, and notes, comments (author, text) and frames in reading order."""

    pieces: list[str] = field(default_factory=list)
    inlines: list[Inline] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    frames: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the text."""
        return "".join(self.pieces).strip()


def odf_words(paragraph: Element) -> OdfWords:
    """Return the words of a `text:p` or `text:h`, white space as the standard collapses it."""
    words = OdfWords()
    _walk(paragraph, words)
    return words


def lines_of(element: Element) -> list[str]:
    """Return the paragraphs below an element, those with words only, without what hangs on them."""
    return [text for paragraph in _paragraphs(element) if (text := odf_words(paragraph).text)]


def repeated(element: Element, name: str) -> int:
    """Return how often a row or cell stands there; 1 when it does not say."""
    return max(1, whole(attribute(element, name)) or 1)


def object_part(href: str) -> str:
    """Return the part a reference inside the package means, empty when it leads out of it."""
    if ":" in href or href.startswith(("/", "#")):
        return ""
    path = posixpath.normpath(unquote(href))
    return "" if path.startswith("..") or path == "." else path


def _paragraphs(element: Element) -> Iterator[Element]:
    """Yield paragraphs, those inside other paragraphs left out."""
    for node in element:
        if local(node) in {"p", "h"}:
            yield node
        elif local(node) not in _PASSED_OVER and local(node) != "annotation":
            yield from _paragraphs(node)


def _walk(element: Element, words: OdfWords) -> None:
    _say(element.text, words)
    for node in element:
        name = local(node)
        if name == "s":
            words.pieces.append(" " * min(repeated(node, "c"), _MOST_SPACES))
        elif name in {"tab", "line-break"}:
            words.pieces.append("\t" if name == "tab" else "\n")
        elif name == "a":
            position = len(words.pieces)
            _walk(node, words)
            text, target = "".join(words.pieces[position:]).strip(), attribute(node, "href") or ""
            if text and not target.startswith("#"):
                words.inlines.append(Link(text, target))
        elif name == "note":
            body = child(node, "note-body")
            words.notes.append("\n".join(lines_of(body)) if body is not None else "")
        elif name == "annotation":
            words.comments.append(annotation(node))
        elif name in {"frame", "custom-shape", "g"}:
            words.frames.append(node)
        elif name and name not in _PASSED_OVER:
            _walk(node, words)
        _say(node.tail, words)


def annotation(node: Element) -> str:
    """Return a comment as `author: text`."""
    author = next((" ".join(words_of(found).split()) for found in below(node, "creator")), "")
    text = "\n".join(lines_of(node))
    return f"{author}: {text}" if author and text else text


def _say(text: str | None, words: OdfWords) -> None:
    if text:
        collapsed = " ".join(text.split()) if text.strip() else ""
        before = " " if text[0].isspace() else ""
        after = " " if text[-1].isspace() and collapsed else ""
        words.pieces.append(f"{before}{collapsed}{after}")
