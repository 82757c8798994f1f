"""Progress of a run: at most ten reports a second, never backwards, 100 only when all is committed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from kb.domain.jobs import Progress

_PAUSE_S = 0.1
_MOST = 99
# Long enough that one large file does not make the rate jump, short enough to follow what changes.
_WINDOW_S = 20.0
_SAMPLE_S = 0.5
_LEAST_S = 2.0


class ProgressMeter:
    """Turns steps into `Progress`, each stage filling its own share of the hundred.

    The rate is that of the last twenty seconds, the time left that of the stage.
    """

    def __init__(self, report: Callable[[Progress], object], now: Callable[[], float] = time.monotonic) -> None:
        self._report = report
        self._now = now
        self._stage = ""
        self._start = 0
        self._end = 0
        self._percent = 0
        self._last = -_PAUSE_S
        self._samples: deque[tuple[float, int]] = deque()
        self._files = (0, 0)
        self._pages = 0
        self._sound_seconds = 0.0

    def begin(self, stage: str, start: int, end: int) -> None:
        """Enter a stage that runs from `start` to `end` per cent."""
        self._stage, self._start, self._end = stage, start, end
        self._samples.clear()
        self._send(self._so_far(0, 0, self._raised(start)))

    def step(self, done: int, total: int, note: str = "") -> None:
        """Report `done` of `total` (0 when unknown), unless the last report was just now."""
        now = self._now()
        self._sample(now, done)
        if now - self._last < _PAUSE_S:
            return
        share = min(done / total, 1.0) if total else 0.0
        percent = self._raised(int(self._start + (self._end - self._start) * share))
        self._send(self._so_far(done, total, percent, note, self._rate(now, done)))

    def files(self, done: int, total: int) -> None:
        """Say how many files are done, to be told with the next step and kept over all stages."""
        self._files = done, total

    def read(self, pages: int, sound_seconds: float) -> None:
        """Add what was read of one file, to be told with the next step."""
        self._pages += pages
        self._sound_seconds += sound_seconds

    def _so_far(self, done: int, total: int, percent: int, note: str = "", rate: float | None = None) -> Progress:
        return Progress(
            self._stage,
            done,
            total,
            percent,
            note,
            files=self._files[0],
            files_total=self._files[1],
            pages=self._pages,
            sound_seconds=round(self._sound_seconds, 1),
            rate=None if rate is None else round(rate, 2),
            seconds_left=round((total - done) / rate, 1) if rate and total >= done else None,
        )

    def _sample(self, now: float, done: int) -> None:
        if not self._samples or now - self._samples[-1][0] >= _SAMPLE_S:
            self._samples.append((now, done))
        while now - self._samples[0][0] > _WINDOW_S and len(self._samples) > 1:
            self._samples.popleft()

    def _rate(self, now: float, done: int) -> float | None:
        """Return what was done a second; None too early to say."""
        began, first = self._samples[0]
        return (done - first) / (now - began) if now - began >= _LEAST_S and done >= first else None

    def _raised(self, percent: int) -> int:
        self._percent = max(self._percent, min(percent, _MOST))
        return self._percent

    def _send(self, progress: Progress) -> None:
        self._last = self._now()
        self._report(progress)
