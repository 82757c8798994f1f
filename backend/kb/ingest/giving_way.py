"""Safe points of a long run: what is urgent goes first, and what it handled is left alone from then on."""

from __future__ import annotations

from collections.abc import Callable, Collection

from kb.domain.paths import WorkspacePath
from kb.ingest.following import lies_in

# To give way costs a disk flush, since what was read until then is written first.
_EVERY_SECONDS = 0.05


class GivingWay:
    """Lets others run now and then, and remembers which files and folders they handled.

    Args:
        let_others: lets what is urgent run; returns what it handled, None when nothing ran.
        wanted: whether anybody waits to be let by; asked often.
        now: a clock in seconds that never goes back.
    """

    def __init__(
        self,
        let_others: Callable[[], Collection[WorkspacePath] | None],
        wanted: Callable[[], bool],
        now: Callable[[], float],
    ) -> None:
        self.times = 0
        self._let_others = let_others
        self._wanted = wanted
        self._now = now
        self._last = now()
        self._handled: set[str] = set()

    def is_due(self) -> bool:
        """Return whether somebody waits, and it is time again."""
        return self._now() - self._last >= _EVERY_SECONDS and self._wanted()

    def give_way(self) -> bool:
        """Let others run if it is time; return whether they handled anything."""
        if not self.is_due():
            return False
        handled = self._let_others()
        self._last = self._now()
        if handled:
            self.times += 1
            self._handled.update(handled)
        return bool(handled)

    def covers(self, path: str) -> bool:
        """Return whether others handled a file, or a folder or file that it lies in."""
        return bool(self._handled) and lies_in(self._handled, path)
