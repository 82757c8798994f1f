"""`events`: what happens in the library, told to whoever listens, and again to who lost the connection."""

from __future__ import annotations

import queue
import secrets
import threading
from collections import OrderedDict, deque
from typing import Literal, TypeAlias, get_args

from kb.contract.events import Event
from kb.contract.jobs import Job

Kind: TypeAlias = Literal["documents", "items", "index", "answers", "jobs", "collections", "settings"]

# A listener that does not read is told that everything may have changed instead of what it missed.
_BACKLOG = 256
# Of progress only the last of a job is worth telling again.
_KEPT_CHANGES = 512
_KEPT_JOBS = 64
_EVERYTHING = Event(kind="changed", changed=get_args(Kind))

_Numbered: TypeAlias = tuple[int, Event]


class Listener:
    """One subscription; safe to read from one thread while others publish.

    Attributes:
        last_id: of the event that `next` gave last; who comes back with it misses nothing.
    """

    def __init__(self, hub: Events) -> None:
        self.last_id = ""
        self._hub = hub
        self._queue: queue.Queue[_Numbered] = queue.Queue(_BACKLOG)

    def next(self, timeout_s: float) -> Event | None:
        """Wait for the next event; None when none came in time."""
        try:
            number, event = self._queue.get(timeout=timeout_s)
        except queue.Empty:
            return None
        self.last_id = self._hub.id_of(number)
        return event

    def close(self) -> None:
        """Receive no more."""
        self._hub.drop(self)

    def offer(self, number: int, event: Event) -> None:
        """Take an event. One that finds no room, and all before it, become a change of everything."""
        try:
            self._queue.put_nowait((number, event))
        except queue.Full:
            while not self._queue.empty():
                self._discard_oldest()
            self.offer(number, _EVERYTHING)

    def _discard_oldest(self) -> None:
        try:
            self._queue.get_nowait()
        except queue.Empty:
            return


class Events:
    """The hub every mutation publishes to.

    An id is the hub's own name and a number: one of a server that ran before says nothing here.
    """

    def __init__(self) -> None:
        self._name = secrets.token_hex(4)
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._last = 0
        self._forgotten = 0
        self._changes: deque[_Numbered] = deque()
        self._progress: OrderedDict[str, _Numbered] = OrderedDict()

    def subscribe(self, after: str | None = None) -> Listener:
        """Start to listen; with `after`, an event's id, also to what happened since.

        When that is no longer known, the first event is a change of everything.
        """
        listener = Listener(self)
        with self._lock:
            listener.last_id = self.id_of(self._last)
            if after is not None:
                for number, event in self._since(after):
                    listener.offer(number, event)
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

    def id_of(self, number: int) -> str:
        """Return the id of an event."""
        return f"{self._name}-{number}"

    def _publish(self, event: Event) -> None:
        with self._lock:
            self._last += 1
            self._keep(self._last, event)
            # Under the lock: who subscribes meanwhile gets each event once, and all in their order.
            for listener in self._listeners:
                listener.offer(self._last, event)

    def _keep(self, number: int, event: Event) -> None:
        if event.job is None:
            self._changes.append((number, event))
            if len(self._changes) > _KEPT_CHANGES:
                self._forgotten = max(self._forgotten, self._changes.popleft()[0])
            return
        self._progress[event.job.id] = number, event
        self._progress.move_to_end(event.job.id)
        if len(self._progress) > _KEPT_JOBS:
            self._forgotten = max(self._forgotten, self._progress.popitem(last=False)[1][0])

    def _since(self, after: str) -> list[_Numbered]:
        name, _, text = after.partition("-")
        # A long number is not even tried: Python refuses to read it.
        number = int(text) if name == self._name and text.isascii() and text.isdigit() and len(text) < 20 else -1  # noqa: PLR2004
        if not self._forgotten <= number <= self._last:
            return [(self._last, _EVERYTHING)]
        return sorted(
            (found for found in (*self._changes, *self._progress.values()) if found[0] > number),
            key=lambda found: found[0],
        )
