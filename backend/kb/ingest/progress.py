"""Progress of a run: at most ten reports a second, never backwards, 100 only when all is committed."""

from __future__ import annotations

import time
from collections.abc import Callable

from kb.domain.jobs import Progress

_PAUSE_S = 0.1
_MOST = 99


class ProgressMeter:
    """Turns steps into `Progress`, each stage filling its own share of the hundred."""

    def __init__(self, report: Callable[[Progress], object], now: Callable[[], float] = time.monotonic) -> None:
        self._report = report
        self._now = now
        self._stage = ""
        self._start = 0
        self._end = 0
        self._percent = 0
        self._last = -_PAUSE_S

    def begin(self, stage: str, start: int, end: int) -> None:
        """Enter a stage that runs from `start` to `end` per cent."""
        self._stage, self._start, self._end = stage, start, end
        self._send(Progress(stage, percent=self._raised(start)))

    def step(self, done: int, total: int, note: str = "") -> None:
        """Report `done` of `total` (0 when unknown), unless the last report was just now."""
        if self._now() - self._last < _PAUSE_S:
            return
        share = min(done / total, 1.0) if total else 0.0
        percent = self._raised(int(self._start + (self._end - self._start) * share))
        self._send(Progress(self._stage, done, total, percent, note))

    def _raised(self, percent: int) -> int:
        self._percent = max(self._percent, min(percent, _MOST))
        return self._percent

    def _send(self, progress: Progress) -> None:
        self._last = self._now()
        self._report(progress)
