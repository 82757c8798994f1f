"""What stands in a secret's place: its kind and a number, the same for equal secrets of a document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from kb.governance.found import Found

_LEAST_TELLING = 8
_MOST_SOUGHT = 64
_PLAIN_WORD = re.compile(r"[^\W\d_]+\Z|[0-9]{1,11}\Z")
_RUN = re.compile(r"[^\s|,;\"'`<>()\[\]]+")


class Placeholders:
    """Numbers the secrets of one document, kind by kind, in the order in which they are asked for."""

    def __init__(self) -> None:
        self._made: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def of(self, one: Found) -> str:
        """Return the placeholder of a secret: nothing of the secret can be told from it."""
        made = self._made.get(one.value)
        if made is None:
            self._counts[one.kind] += 1
            made = self._made[one.value] = f"[masked:{one.kind}-{self._counts[one.kind]}]"
        return made


class KnownSecrets:
    """Secrets found somewhere in a document, to be found where nothing beside them tells what they are.

    Words and short values are left out unless `every` is asked for: they stand elsewhere in their own right.
    """

    def __init__(self, found: Iterable[Found], *, every: bool = False) -> None:
        self._kinds: dict[str, str] = {}
        for one in found:
            telling = len(one.value) >= _LEAST_TELLING and not _PLAIN_WORD.match(one.value)
            if telling or (every and len(one.value) >= _LEAST_TELLING // 2):
                self._kinds.setdefault(one.value, one.kind)

    def __bool__(self) -> bool:
        return bool(self._kinds)

    def find(self, text: str) -> list[Found]:
        """Return where the secrets stand in a text, each as a whole."""
        if len(self._kinds) > _MOST_SOUGHT:
            return self._among_runs(text)
        found: list[Found] = []
        for value, kind in self._kinds.items():
            at = text.find(value)
            while at >= 0:
                end = at + len(value)
                if _stands_alone(text, at, end):
                    found.append(Found(at, end, kind, value))
                at = text.find(value, end)
        return found

    def _among_runs(self, text: str) -> list[Found]:
        """As `find` for many secrets, in the time of one pass."""
        found = []
        for run in _RUN.finditer(text):
            for start in (run.start(), *(run.start() + mark + 1 for mark in _inner_marks(run[0]))):
                value = text[start : run.end()].rstrip(".:!?")
                kind = self._kinds.get(value)
                if kind:
                    found.append(Found(start, start + len(value), kind, value))
                    break
        return found


def _inner_marks(run: str) -> list[int]:
    """Return where a value may begin within a run: behind its first `=` and `:`."""
    return [mark for mark in (run.find("="), run.find(":")) if mark >= 0]


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() and before.isascii() and text[start].isalnum()) and not (
        after.isalnum() and after.isascii() and text[end - 1].isalnum()
    )
