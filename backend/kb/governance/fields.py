"""Texts searched together: secrets may run from one into the next, and keys may stand in another than their value."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

from kb.governance.finding import find_secrets
from kb.governance.found import Found, Setting

_WINDOW = 1 << 20
_OVERLAP = 1 << 15


class Fields:
    """Some texts in order and the secrets in them; a position counts through all of them, a line feed between two.

    Args:
        texts: blocks, lines or pages.
        settings: of each; prose without.
        goes_on: says whether a text may go on in the next in the middle of a token whose end nothing tells.
    """

    def __init__(
        self,
        texts: Sequence[str],
        settings: Sequence[Setting] | None = None,
        *,
        goes_on: Callable[[int], bool] = lambda _index: False,
    ) -> None:
        self.texts = texts
        self.starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
        self._settings = settings
        self._goes_on = goes_on
        self.found = self._secrets()

    def add(self, more: Iterable[Found]) -> None:
        """Add places found in another way."""
        fresh = list(more)
        if fresh:
            self.found = united(self.found + fresh)

    def _secrets(self) -> list[Found]:
        """Return the secrets, positions counted through.

        Long documents are searched in windows of whole texts that overlap, so that memory does not grow with them.
        """
        found: list[Found] = []
        first = 0
        while first < len(self.texts):
            last = bisect_right(self.starts, self.starts[first] + _WINDOW, lo=first + 1)
            last = min(max(last, first + 1), len(self.texts))
            found += self._in_window(first, last)
            if last == len(self.texts):
                break
            back = bisect_right(self.starts, self.starts[last] - _OVERLAP)
            first = max(first + 1, min(back, last))
        return united(found)

    def parts(self, one: Found) -> Iterator[tuple[int, int, int]]:
        """Yield (index of a text, start and end in it) for each text a found place touches."""
        index = bisect_right(self.starts, one.start) - 1
        while index < len(self.texts) and self.starts[index] < one.end:
            base, length = self.starts[index], len(self.texts[index])
            start, end = max(one.start - base, 0), min(one.end - base, length)
            if start < end:
                yield index, start, end
            index += 1

    def literal(self, values: Callable[[str], list[Found]]) -> list[Found]:
        """Return what `values` finds in each text, positions counted through."""
        found: list[Found] = []
        for base, text in zip(self.starts, self.texts, strict=False):
            found += [Found(base + one.start, base + one.end, one.kind, one.value) for one in values(text)]
        return found

    def _in_window(self, first: int, last: int) -> list[Found]:
        base = self.starts[first]
        text = self.texts[first] if last == first + 1 else "\n".join(self.texts[first:last])
        found = find_secrets(
            text, lambda position: self._setting(base + position), lambda position: self._joins(base + position)
        )
        return [Found(base + one.start, base + one.end, one.kind, one.value) for one in found] if base else found

    def _setting(self, position: int) -> Setting:
        if self._settings is None:
            return Setting.PROSE
        return self._settings[bisect_right(self.starts, position, hi=len(self.texts)) - 1]

    def _joins(self, position: int) -> bool:
        """Return whether a token may go on behind the line feed at a position."""
        index = bisect_right(self.starts, position, hi=len(self.texts)) - 1
        return position < self.starts[index] + len(self.texts[index]) or self._goes_on(index)


def united(found: list[Found]) -> list[Found]:
    """Return found places in order, those that overlap as one with the kind and value of the longest."""
    result: list[Found] = []
    for one in sorted(found, key=lambda f: (f.start, -f.end)):
        last = result[-1] if result else None
        if last is None or one.start >= last.end:
            result.append(one)
        elif one.end > last.end:
            longer = max(last, one, key=lambda f: f.end - f.start)
            result[-1] = Found(last.start, one.end, longer.kind, longer.value)
    return result
