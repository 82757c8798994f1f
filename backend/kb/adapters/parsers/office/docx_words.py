"""The words of one paragraph of a text document, and what hangs on it: notes, comments, boxes, pictures, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kb.adapters.parsers.office.drawing import formula
from kb.adapters.parsers.office.elements import attribute, below, child, first, relation_id
from kb.adapters.parsers.office.media import alt_text
from kb.adapters.parsers.office.package import Relation
from kb.adapters.parsers.shared.xml import Element, local
from kb.domain.inlines import Inline, Link

# Deleted and moved-away text, properties, codes of fields, and what is only shown while editing.
_PASSED_OVER = frozenset(
    (
        "del",
        "moveFrom",
        "rPr",
        "pPr",
        "sdtPr",
        "sdtEndPr",
        "instrText",
        "delText",
        "delInstrText",
        "rt",
        "fldData",
        "proofErr",
    )
)
_PRIVATE = range(0xE000, 0xF900)


@dataclass(slots=True)
class Words:
    """What a paragraph holds; the lists are in reading order.

    Attributes:
        notes: (`footnote` or `endnote`, id).
        comments: ids.
        boxes: elements whose children are blocks of their own.
        pictures: (relation id, words that describe it).
        graphics: relation ids of charts and diagrams.
        files: relation ids of embedded files.
    """

    pieces: list[str] = field(default_factory=list)
    inlines: list[Inline] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)
    graphics: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the text."""
        return "".join(self.pieces).strip()


def words_in(paragraph: Element, relations: Mapping[str, Relation]) -> Words:
    """Return the words of a paragraph as it reads with all changes accepted."""
    words = Words()
    _walk(paragraph, relations, words)
    return words


def _walk(element: Element, relations: Mapping[str, Relation], words: Words) -> None:
    for node in element:
        name = local(node)
        if not name or name in _PASSED_OVER:
            continue
        if name in _SAID:
            words.pieces.append(_SAID[name](node))
        elif name == "hyperlink":
            _link(node, relations, words)
        elif name.endswith("Reference"):
            _reference(name.removesuffix("Reference"), attribute(node, "id") or "", words)
        elif name == "AlternateContent":
            # The same thing twice, for newer and older programs.
            choice = child(node, "Choice")
            _walk(choice if choice is not None else node, relations, words)
        elif name in {"drawing", "pict", "object"}:
            _shapes(node, words)
        else:
            _walk(node, relations, words)


def _reference(kind: str, identity: str, words: Words) -> None:
    if kind in {"footnote", "endnote"}:
        words.notes.append((kind, identity))
    elif kind == "comment":
        words.comments.append(identity)


def _link(node: Element, relations: Mapping[str, Relation], words: Words) -> None:
    position = len(words.pieces)
    _walk(node, relations, words)
    relation = relations.get(relation_id(node))
    text = "".join(words.pieces[position:]).strip()
    if relation is not None and relation.is_external and text:
        words.inlines.append(Link(text, relation.target))


def _shapes(node: Element, words: Words) -> None:
    words.boxes += [box for box in below(node, "txbxContent") if not _nested(box, node)]
    alt = alt_text(first(node, "docPr"))
    for picture in below(node, "blip", "imagedata"):
        target = attribute(picture, "embed") or attribute(picture, "link") or relation_id(picture)
        words.pictures.append((target, alt or picture.get("title") or ""))
    if alt and not any(True for _ in below(node, "blip", "imagedata")):
        words.pictures.append(("", alt))
    for graphic in below(node, "chart", "relIds"):
        words.graphics.append(attribute(graphic, "dm") or relation_id(graphic))
    words.files += [relation_id(found) for found in below(node, "OLEObject")]


def _nested(box: Element, top: Element) -> bool:
    """Return whether a text box lies in another one, or is the older twin of a newer one."""
    parent = box.getparent()
    while parent is not None and parent is not top:
        if local(parent) in {"txbxContent", "Fallback"}:
            return True
        parent = parent.getparent()
    return False


def _symbol(node: Element) -> str:
    code = attribute(node, "char") or ""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    # Fonts of symbols keep theirs in the private area: which sign it is only the font knows.
    return "" if number in _PRIVATE or number > 0xFFFF else chr(number)  # noqa: PLR2004


_SAID: Mapping[str, Callable[[Element], str]] = {
    "t": lambda node: node.text or "",
    "tab": lambda _: "\t",
    "ptab": lambda _: "\t",
    "br": lambda _: "\n",
    "cr": lambda _: "\n",
    "noBreakHyphen": lambda _: "-",
    "sym": _symbol,
    "oMath": formula,
}
