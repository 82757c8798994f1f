"""How long a child may take over a file."""

from __future__ import annotations

_LONGEST_STEP = 1.0


class Patience:
    """Counts seconds since the last sign of life, and in all.

    Seconds in which nobody looked are not the child's: a computer that slept, a program that was stopped.
    """

    def __init__(self, quiet_seconds: float, total_seconds: float, now: float) -> None:
        self._quiet_seconds = quiet_seconds
        self._total_seconds = total_seconds
        self._looked = now
        self._quiet = 0.0
        self._total = 0.0

    def encouraged(self) -> None:
        """Take a sign of life."""
        self._quiet = 0.0

    def verdict(self, now: float) -> str:
        """Look at the clock; return what is exceeded, `quiet` or `total`, empty when nothing is."""
        step = min(max(now - self._looked, 0.0), _LONGEST_STEP)
        self._looked = now
        self._quiet += step
        self._total += step
        if self._quiet > self._quiet_seconds:
            return "quiet"
        return "total" if self._total > self._total_seconds else ""
