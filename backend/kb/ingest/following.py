"""Changes of the workspace as they are told: gathered until they are over, put together, many at once for all."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

QUIET_S = 0.15
"""So long nothing may happen to a path before it is read: editors save in several steps."""
AT_MOST_S = 1.5
"""So long a path that never comes to rest waits."""
BURST_PATHS = 500
BURST_EVENTS = 4096
_FOLDERS = 50
"""Far below what the system queues: past it some may be lost, so that everything is compared."""


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be read now: `paths`, newest first and none below another; with `everything` the whole workspace.

    Of everything, `paths` are the last ones in each folder, a few: whoever saves a note while thousands of files are
    being copied elsewhere need not wait for them.
    """

    paths: tuple[str, ...] = ()
    everything: bool = False


@dataclass(slots=True)
class _Change:
    first: float
    last: float


class Debouncer:
    """Gathers changes of paths. Safe to tell from one thread and to ask from another; times in seconds of one clock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changes: dict[str, _Change] = {}
        self._events = 0
        self._everything: _Change | None = None
        self._last: dict[str, str] = {}

    def changed(self, paths: Iterable[str], now: float) -> None:
        """Take in that something happened to paths: made, changed, moved or removed."""
        with self._lock:
            for path in paths:
                self._events += 1
                if self._everything is not None:
                    self._everything.last = now
                    self._remember(path)
                    continue
                known = self._changes.get(path)
                if known is None:
                    self._changes[path] = _Change(now, now)
                else:
                    known.last = now
            if len(self._changes) > BURST_PATHS or self._events > BURST_EVENTS:
                self._gather_all(now)

    def lost(self, now: float) -> None:
        """Take in that changes may have been missed: everything is to be compared."""
        with self._lock:
            self._gather_all(now)

    def due(self, now: float) -> Due | None:
        """Return what has come to rest, and forget it; None when there is nothing yet."""
        with self._lock:
            if self._everything is not None:
                if not _is_due(self._everything, now):
                    return None
                last, self._last = self._last, {}
                self._everything, self._events = None, 0
                return Due(outermost(tuple(reversed(last.values()))), everything=True)
            ripe = {path: change.last for path, change in self._changes.items() if _is_due(change, now)}
            for path in ripe:
                del self._changes[path]
            if not self._changes:
                self._events = 0
            return Due(outermost(sorted(ripe, key=lambda path: (-ripe[path], path)))) if ripe else None

    def next_at(self) -> float | None:
        """Return when something comes to rest if nothing more happens."""
        with self._lock:
            waiting = [self._everything] if self._everything else self._changes.values()
            return min((_due_at(change) for change in waiting), default=None)

    def waiting(self) -> int:
        """Return how many paths have not come to rest."""
        with self._lock:
            return len(self._changes) + (self._everything is not None)

    def _remember(self, path: str) -> None:
        """Keep a path as the last of its folder, of a few folders."""
        folder = path.rpartition("/")[0]
        self._last.pop(folder, None)
        self._last[folder] = path
        if len(self._last) > _FOLDERS:
            del self._last[next(iter(self._last))]

    def _gather_all(self, now: float) -> None:
        first = min((change.first for change in self._changes.values()), default=now)
        for path in sorted(self._changes, key=lambda path: self._changes[path].last):
            self._remember(path)
        self._changes.clear()
        if self._everything is None:
            self._everything = _Change(first, now)
        self._everything.last = now


def outermost(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the paths less those that lie in another of them, each once and in their order."""
    known = frozenset(paths)
    return tuple(path for path in dict.fromkeys(paths) if not lies_in(known, path, itself=False))


def lies_in(folders: Collection[str], path: str, *, itself: bool = True) -> bool:
    """Return whether a path is one of `folders` (a set) or lies in one; a file inside a file lies in that file."""
    if itself and path in folders:
        return True
    end = path.rfind("/")
    while end > 0:
        if path[:end] in folders or (path[end - 1] == "!" and path[: end - 1] in folders):
            return True
        end = path.rfind("/", 0, end)
    return False


def _due_at(change: _Change) -> float:
    return min(change.last + QUIET_S, change.first + AT_MOST_S)


def _is_due(change: _Change, now: float) -> bool:
    return now >= _due_at(change)
