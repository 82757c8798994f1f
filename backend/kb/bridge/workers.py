"""A few threads for work that must go on when its caller has left, and must not delay the end."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TypeVar

_T = TypeVar("_T")
_Task = Callable[[], None]


class Workers:
    """Daemon threads, started as needed up to `size`.

    The standard executor waits for its threads when Python ends; a slow answer must not hold up a stop.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self._idle = 0
        self._lock = Lock()

    def submit(self, function: Callable[[], _T]) -> Future[_T]:
        """Run `function` soon; the future tells its result."""
        future: Future[_T] = Future()

        def task() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function())
            except BaseException as error:  # noqa: BLE001 - whoever waits gets it
                future.set_exception(error)

        with self._lock:
            if self._idle:
                self._idle -= 1
            elif len(self._threads) < self._size:
                thread = Thread(target=self._work, name=f"kb-bridge-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._tasks.put(task)
        return future

    def close(self, seconds: float) -> None:
        """Take nothing new and wait at most `seconds` for what is running."""
        for _ in self._threads:
            self._tasks.put(None)
        deadline = monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - monotonic()))

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
            with self._lock:
                self._idle += 1
