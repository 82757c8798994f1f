"""Finding one's way in XML whose namespaces differ between forms of one format: by local names alone."""

from __future__ import annotations

from collections.abc import Iterator

from kb.adapters.parsers.shared.xml import Element, local

_DIGITS = 10


def first(element: Element, name: str) -> Element:
    """Return the first element of that name below, None when there is none."""
    return next(below(element, name), None)


def below(element: Element, *names: str) -> Iterator[Element]:
    """Yield all elements of these names below, in order."""
    return (found for found in element.iter() if local(found) in names)


def child(element: Element, name: str) -> Element:
    """Return the first child of that name, None when there is none."""
    return next((found for found in element if local(found) == name), None)


def attribute(element: Element, name: str) -> str | None:
    """Return an attribute by its name, whatever its namespace: the strict and the transitional form differ in it."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), None)


def whole(value: str | None) -> int | None:
    """Return a whole number of up to nine digits, None for anything else."""
    return int(value) if value and len(value) < _DIGITS and value.isascii() and value.isdigit() else None


def relation_id(element: Element, name: str = "id") -> str:
    """Return the attribute that points to another part; beside it there may be a plain one of the same name."""
    return next((v for k, v in element.attrib.items() if k.endswith("}" + name)), "") or (element.get(name) or "")
