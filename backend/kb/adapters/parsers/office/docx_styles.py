"""What styles and numberings of a text document say: heading of which level, item of which list."""

from __future__ import annotations

import re

from kb.adapters.parsers.office.elements import attribute, below, child, whole
from kb.adapters.parsers.shared.xml import Element

_HEADING = re.compile(r"heading\s*(\d)", re.IGNORECASE)
_DEEPEST_CHAIN = 12
_BODY_LEVEL = 9


class Styles:
    """Paragraph styles by id, with what they inherit; and the forms of numberings."""

    def __init__(self, styles: Element, numberings: Element) -> None:
        self._levels: dict[str, int] = {}
        self._lists: dict[str, tuple[str, int]] = {}
        self._bullets: set[tuple[str, int]] = set()
        self._known: set[str] = set()
        if numberings is not None:
            self._read_numberings(numberings)
        if styles is not None:
            self._read_styles(styles)

    def heading_level(self, paragraph: Element) -> int | None:
        """Return 1 to 9 when a paragraph is a heading: by its own outline level, else by its style."""
        properties = child(paragraph, "pPr")
        if properties is None:
            return None
        own = _number(child(properties, "outlineLvl"))
        if own is not None:
            return own + 1 if own < _BODY_LEVEL else None
        return self._levels.get(_value(child(properties, "pStyle")))

    def list_item(self, paragraph: Element) -> tuple[str, int] | None:
        """Return (numbering, level from 0) when a paragraph is an item of a list."""
        properties = child(paragraph, "pPr")
        if properties is None:
            return None
        own = child(properties, "numPr")
        inherited = self._lists.get(_value(child(properties, "pStyle")))
        if own is None:
            return inherited
        number = _value(child(own, "numId")) or (inherited[0] if inherited else "")
        level = _number(child(own, "ilvl")) or 0
        return (number, level) if number in self._known else None

    def is_bullet(self, item: tuple[str, int]) -> bool:
        """Return whether items of that list and level have a mark instead of a number."""
        return item in self._bullets

    def _read_numberings(self, root: Element) -> None:
        marks: dict[str, set[int]] = {}
        for element in below(root, "abstractNum"):
            levels = {
                _attribute_number(level, "ilvl") or 0
                for level in below(element, "lvl")
                if _value(child(level, "numFmt")) in {"bullet", "none"}
            }
            marks[attribute(element, "abstractNumId") or ""] = levels
        for element in root:
            number = attribute(element, "numId")
            if number is not None and number != "0":
                self._known.add(number)
                self._bullets |= {(number, level) for level in marks.get(_value(child(element, "abstractNumId")), ())}

    def _read_styles(self, root: Element) -> None:
        styles = {attribute(style, "styleId") or "": style for style in below(root, "style")}
        for identity, style in styles.items():
            chain = _chain(style, styles)
            level = next((level for one in chain if (level := _style_level(one)) is not None), None)
            if level is not None and 1 <= level <= _BODY_LEVEL:
                self._levels[identity] = level
            for one in chain:
                properties = child(one, "pPr")
                numbering = child(properties, "numPr") if properties is not None else None
                number = _value(child(numbering, "numId")) if numbering is not None else ""
                if number:
                    if number in self._known and identity not in self._levels:
                        self._lists[identity] = (number, _number(child(numbering, "ilvl")) or 0)
                    break


def _chain(style: Element, styles: dict[str, Element]) -> list[Element]:
    chain = [style]
    while len(chain) < _DEEPEST_CHAIN:
        parent = styles.get(_value(child(chain[-1], "basedOn")))
        if parent is None or parent in chain:
            break
        chain.append(parent)
    return chain


def _style_level(style: Element) -> int | None:
    """Return the level a style itself gives; 10 where it says that it is none."""
    name = _value(child(style, "name")).strip().lower()
    found = _HEADING.fullmatch(name)
    if found:
        return int(found[1])
    if name == "title":
        return 1
    properties = child(style, "pPr")
    level = _number(child(properties, "outlineLvl")) if properties is not None else None
    return None if level is None else level + 1


def _value(element: Element) -> str:
    return (attribute(element, "val") or "") if element is not None else ""


def _number(element: Element) -> int | None:
    return whole(_value(element))


def _attribute_number(element: Element, name: str) -> int | None:
    return whole(attribute(element, name))
