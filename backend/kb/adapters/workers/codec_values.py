"""Values in a message, each checked for what it should be: a child may send anything."""

from __future__ import annotations

from typing import Any


class Damaged(Exception):
    """These bytes are no parsed document."""


def text(value: Any) -> str:  # noqa: ANN401
    """Return a string as it is."""
    if type(value) is not str:
        raise Damaged("no text where one belongs")
    return value


def text_or_none(value: Any) -> str | None:  # noqa: ANN401
    """Return a string or None as it is."""
    return None if value is None else text(value)


def whole(value: Any) -> int:  # noqa: ANN401
    """Return a whole number as it is; true and false are none."""
    if type(value) is not int:
        raise Damaged("no whole number where one belongs")
    return value


def number(value: Any) -> float:  # noqa: ANN401
    """Return a number as it is."""
    if type(value) is not float and type(value) is not int:
        raise Damaged("no number where one belongs")
    return value


def number_or_none(value: Any) -> float | None:  # noqa: ANN401
    """Return a number or None as it is."""
    return None if value is None else number(value)


def items(value: Any, count: int | None = None) -> list[Any]:  # noqa: ANN401
    """Return a list as it is, of `count` entries if that is given."""
    if type(value) is not list or (count is not None and len(value) != count):
        raise Damaged("no list where one belongs")
    return value


def one_of(value: Any, words: frozenset[str]) -> Any:  # noqa: ANN401 - the words of a Literal
    """Return one of the words as it is."""
    if text(value) not in words:
        raise Damaged("an unknown word")
    return value
