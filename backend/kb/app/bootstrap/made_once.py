"""Parts that are made when first asked for, once."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")


class made_once(cached_property[T]):  # noqa: N801 - used as the decorator it stands for
    """A part made once, whichever threads ask first: a second Chroma or Tantivy would work against the first.

    Python 3.12 took the lock out of `cached_property`.
    """

    @overload
    def __get__(self, parts: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, parts: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, parts: Any, owner: type[Any] | None = None) -> Self | T:
        if parts is None:
            return self
        with parts.making:
            made: T = super().__get__(parts, owner)
            return made
