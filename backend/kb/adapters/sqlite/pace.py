"""How often what grows with the library is counted anew while the library changes all the while."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_CHEAP_S = 0.02
_SHARE = 10


class Pace:
    """Lets cheap work be done anew each time, and dear work take a tenth of the time at most.

    Cost is CPU time of the thread that works: on a busy machine the wall clock would call cheap work dear.

    Args:
        now: a clock in seconds that never goes back.
        spent: CPU seconds of this thread.
    """

    def __init__(
        self, now: Callable[[], float] = time.monotonic, spent: Callable[[], float] = time.thread_time
    ) -> None:
        self._now = now
        self._spent = spent
        self._rests_until = 0.0

    def is_due(self) -> bool:
        """Return whether it may be done anew."""
        return self._now() >= self._rests_until

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Do it."""
        begun = self._spent()
        yield
        cost = self._spent() - begun
        self._rests_until = self._now() + _SHARE * cost if cost > _CHEAP_S else 0.0
