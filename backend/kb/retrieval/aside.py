"""One step beside another, on a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Aside(Generic[T]):
    """Begins a step at once; `result` waits for it, and raises what it raised."""

    def __init__(self, step: Callable[[], T]) -> None:
        self._step = step
        self._made: list[T] = []
        self._failure: BaseException | None = None
        # A daemon: a search that hangs keeps nobody from leaving.
        self._thread = threading.Thread(target=self._run, name="aside", daemon=True)
        self._thread.start()

    def result(self) -> T:
        """Return what the step made."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self._made[0]

    def _run(self) -> None:
        try:
            self._made.append(self._step())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._failure = error
