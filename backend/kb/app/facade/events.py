"""`events`: what happens in the library, told to whoever listens."""

from __future__ import annotations

import queue
import threading
from typing import Literal, TypeAlias

from kb.contract.events import Event
from kb.contract.jobs import Job

Kind: TypeAlias = Literal["documents", "items", "index", "answers", "jobs", "collections", "settings"]

# A listener that does not read loses the oldest events: it must ask anew anyway.
_BACKLOG = 256


class Listener:
    """One subscription; safe to read from one thread while others publish."""

    def __init__(self, hub: Events) -> None:
        self._hub = hub
        self._queue: queue.Queue[Event] = queue.Queue(_BACKLOG)

    def next(self, timeout_s: float) -> Event | None:
        """Wait for the next event; None when none came in time."""
        try:
            return self._queue.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def close(self) -> None:
        """Receive no more."""
        self._hub.drop(self)

    def offer(self, event: Event) -> None:
        """Take an event, the oldest making room."""
        while True:
            try:
                self._queue.put_nowait(event)
            except queue.Full:
                self._discard_oldest()
            else:
                return

    def _discard_oldest(self) -> None:
        try:
            self._queue.get_nowait()
        except queue.Empty:
            return


class Events:
    """The hub every mutation publishes to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []

    def subscribe(self) -> Listener:
        """Start to listen."""
        listener = Listener(self)
        with self._lock:
            self._listeners.append(listener)
        return listener

    def drop(self, listener: Listener) -> None:
        """Forget a listener; twice is once."""
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)

    def changed(self, *kinds: Kind) -> None:
        """Tell that something changed."""
        self._publish(Event(kind="changed", changed=kinds))

    def progress(self, job: Job) -> None:
        """Tell how far a job is."""
        self._publish(Event(kind="progress", job=job))

    def _publish(self, event: Event) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener.offer(event)
