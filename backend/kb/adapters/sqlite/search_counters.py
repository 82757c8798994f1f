"""Searches in numbers: gathered in memory, written rarely, gone after 90 days. No question, text or path."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta

from kb.adapters.sqlite.connection import Library
from kb.domain.counters import Counted
from kb.domain.failures import StorageFailed

KEPT_DAYS = 90
_MOST_SEARCHES = 500
_SECONDS = 600.0

_KEEP = (
    "INSERT INTO search_counters (day, mode, measure, count, total, most) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (day, mode, measure) DO UPDATE SET count = count + excluded.count,"
    " total = total + excluded.total, most = max(most, excluded.most)"
)
_REBUILDS = (
    "SELECT substr(finished_at, 1, 10), kind || '.' || status, count(*) FROM jobs"
    " WHERE kind IN ('rebuild', 'generation', 'reprocess', 'compact', 'repair')"
    " AND status IN ('succeeded', 'failed', 'canceled') AND finished_at >= ? GROUP BY 1, 2"
)


class SqliteSearchCounters:
    """Wraps the library file. A search costs no commit: what was counted is written after 500 searches or ten minutes.

    A kill loses what was counted since.

    Args:
        library: the file.
        today: the day as people have it.
        clock_s: a monotonic clock in seconds.
    """

    def __init__(
        self, library: Library, *, today: Callable[[], date], clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._library = library
        self._today = today
        self._clock = clock_s
        self._lock = threading.Lock()
        self._waiting: dict[tuple[str, str, str], tuple[int, float, float]] = {}
        self._searches = 0
        self._since: float | None = None

    def count(self, mode: str, measures: Mapping[str, float]) -> None:
        """Count one search; never fails: a search is worth more than its count."""
        day = self._today().isoformat()
        with self._lock:
            for measure, value in measures.items():
                count, total, most = self._waiting.get((day, mode, measure), (0, 0.0, value))
                self._waiting[day, mode, measure] = count + 1, total + value, max(most, value)
            self._searches += 1
            now = self._clock()
            self._since = now if self._since is None else self._since
            is_due = self._searches >= _MOST_SEARCHES or now - self._since >= _SECONDS
        if is_due:
            with contextlib.suppress(StorageFailed):
                self.flush()

    def flush(self) -> None:
        """Write what was counted, and let go of what is older than 90 days.

        Raises:
            StorageFailed: SQLite refused; what was counted waits for the next time.
        """
        with self._lock:
            waiting, self._waiting = self._waiting, {}
            self._searches, self._since = 0, None
        if not waiting:
            return
        rows = [(*key, *value) for key, value in waiting.items()]
        try:
            with self._library.transaction() as connection:
                connection.executemany(_KEEP, rows)
                connection.execute("DELETE FROM search_counters WHERE day < ?", (self._day_before(KEPT_DAYS),))
        except StorageFailed:
            with self._lock:
                self._waiting = _merged([*waiting.items(), *self._waiting.items()])
            raise

    def counted(self, days: int) -> Sequence[Counted]:
        """Return the counts of the last days, today included, with those not yet written; newest day first."""
        first = self._day_before(days - 1)
        rows = self._library.rows(
            "SELECT day, mode, measure, count, total, most FROM search_counters WHERE day >= ?", (first,)
        )
        rebuilds = [
            ((day, "rebuild", measure), (count, float(count), 1.0))
            for day, measure, count in self._library.rows(_REBUILDS, (first,))
        ]
        with self._lock:
            waiting = [(key, value) for key, value in self._waiting.items() if key[0] >= first]
        merged = _merged([*(((d, m, n), (c, t, b)) for d, m, n, c, t, b in rows), *waiting, *rebuilds])
        found = [Counted(*key, *value) for key, value in merged.items()]
        found.sort(key=lambda one: (one.mode, one.measure))
        return sorted(found, key=lambda one: one.day, reverse=True)

    def close(self) -> None:
        """Write what was counted, if that is possible."""
        with contextlib.suppress(StorageFailed):
            self.flush()

    def _day_before(self, days: int) -> str:
        return (self._today() - timedelta(days=days)).isoformat()


_Entry = tuple[tuple[str, str, str], tuple[int, float, float]]


def _merged(entries: Sequence[_Entry]) -> dict[tuple[str, str, str], tuple[int, float, float]]:
    merged: dict[tuple[str, str, str], tuple[int, float, float]] = {}
    for key, (count, total, most) in entries:
        known = merged.get(key, (0, 0.0, most))
        merged[key] = known[0] + count, known[1] + total, max(known[2], most)
    return merged
