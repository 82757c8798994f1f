"""Front matter and its like: nested values, searched as lines `key: value`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kb.domain.ids import Json

_WHERE = {"title": "title", "tags": "tag", "tag": "tag"}


class Line(NamedTuple):
    """A value with its key, searched as `key: value`: the key up to `key_end`, the value from `offset` on."""

    text: str
    key_end: int
    offset: int
    where: str


class Change(NamedTuple):
    """What key and value become; a value of None stays what it is."""

    key: str
    value: str | None


def lines_of(values: Mapping[str, Json]) -> list[Line]:
    """Return each key and value in order; `rebuilt` takes them in the same order."""
    return list(_lines(values, "", ""))


def rebuilt(values: Mapping[str, Json], changed: Callable[[int], Change | None]) -> dict[str, Json]:
    """Return the values with lines changed.

    Args:
        values: as given to `lines_of`.
        changed: for the number of a line what key and value become; None when it stays.
    """
    return _Rebuilder(changed).mapping(values)


def _lines(value: Json, key: str, where: str) -> Iterator[Line]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            place = where or _WHERE.get(str(name).strip().lower(), "front_matter")
            if _is_branch(inner):
                yield Line(str(name), len(str(name)), len(str(name)), place)
            yield from _lines(inner, str(name), place)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from _lines(inner, key, where)
    else:
        text = "" if value is None or isinstance(value, bool) else str(value)
        yield Line(f"{key}: {text}", len(key), len(key) + 2, where or "front_matter")


def _is_branch(value: Json) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str))


class _Rebuilder:
    def __init__(self, changed: Callable[[int], Change | None]) -> None:
        self._changed = changed
        self._number = -1

    def mapping(self, values: Mapping[str, Json]) -> dict[str, Json]:
        result: dict[str, Json] = {}
        for name, inner in values.items():
            if _is_branch(inner):
                change = self._next()
                result[change.key if change else name] = self._branch(inner)
            else:
                change = self._next()
                result[change.key if change else name] = _after(change, inner)
        return result

    def _branch(self, value: Json) -> Json:
        if isinstance(value, Mapping):
            return self.mapping(value)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [self._branch(inner) for inner in value]
        return _after(self._next(), value)

    def _next(self) -> Change | None:
        self._number += 1
        return self._changed(self._number)


def _after(change: Change | None, value: Json) -> Json:
    return value if change is None or change.value is None else change.value
