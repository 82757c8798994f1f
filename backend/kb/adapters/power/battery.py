"""The battery, as the operating system tells of it."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil

_KEPT_S = 5.0


class PsutilPower:
    """Wraps psutil. Asked often, it looks every five seconds: some systems take milliseconds to tell.

    Args:
        now: a clock in seconds that never goes back.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._looked = -_KEPT_S
        self._found = False

    def on_battery(self) -> bool:
        """Return whether the computer runs on its battery; False where that cannot be known."""
        if self._now() - self._looked >= _KEPT_S:
            self._looked = self._now()
            self._found = _on_battery()
        return self._found


def _on_battery() -> bool:
    try:
        # Not on every system; None without a battery.
        battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    except (OSError, RuntimeError, ValueError, psutil.Error):
        # Drivers of batteries say odd things: no reason to stand still.
        return False
    return battery is not None and battery.power_plugged is False
