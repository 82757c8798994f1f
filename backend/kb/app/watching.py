"""Following the workspace: what happens there becomes jobs; everything is compared at start and now and then.

Nothing here touches the library: it only asks for jobs and looks how they ended.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus
from kb.ingest.following import Debouncer, Due
from kb.ingest.removals import HeldBack
from kb.ingest.report import IngestReport
from kb.ingest.urgent import MOST_FILES, PRIORITY

IGNORE_FILE = ".kbignore"
_COMPARE_SOON_S = 60.0
"""Where changes are not told, or the last run failed."""
_LOOK_AGAIN_S = 5.0
"""Whether changes are still told, and whether a folder that was away is back."""
_JOB_GLANCE_S = 0.1
_SLICE = 100
"""Paths of one urgent job, so that the newest do not wait for all."""
_log = logging.getLogger(__name__)


class Change(Protocol):
    """Something happened to a path."""

    @property
    def path(self) -> str:
        """Relative to the workspace."""

    @property
    def is_folder(self) -> bool | None:
        """None when unknown."""


class Changes(Protocol):
    """Tells of changes in the workspace."""

    def start(self, on_change: Callable[[Change], object]) -> str | None:
        """Begin to listen; return why that is not possible, or None."""

    def listens(self) -> bool:
        """Return whether changes are still told."""

    def stop(self) -> None:
        """Listen no more."""


class Desk(Protocol):
    """Starts jobs."""

    def start(self, kind: JobKind, payload: Mapping[str, Json], *, priority: int = 0) -> Job:
        """Add a job and wake the runner."""


@dataclass(frozen=True, slots=True)
class Followed:
    """How the workspace is followed; `problem` says why changes are not told, `pending` counts paths not yet read."""

    watching: bool = False
    problem: str | None = None
    pending: int = 0
    last_change_at: datetime | None = None
    last_compared_at: datetime | None = None
    held_back: HeldBack | None = None


class Compared:
    """What runs found: when everything was last compared, and what is held back until a person says it is gone."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._at: datetime | None = None
        self._held: HeldBack | None = None

    def ran(self, report: IngestReport) -> None:
        """Take in a run that was not stopped."""
        with self._lock:
            if not report.scope.paths:
                self._at, self._held = self._now(), report.held_back
            elif report.held_back:
                self._held = report.held_back

    def hold(self, held: HeldBack) -> None:
        """Take in that nothing could be compared at all."""
        with self._lock:
            self._held = held

    def facts(self) -> tuple[datetime | None, HeldBack | None]:
        """Return when everything was last compared, and what is held back."""
        with self._lock:
            return self._at, self._held


@dataclass(frozen=True, slots=True)
class Workspace:
    """What following asks about files.

    Attributes:
        keeps: says of a path, as a folder, a file or unknown, whether it is read at all; made anew when rules change.
        has_few: whether at most so many files lie at and below some paths.
        live: how many files the library shows.
    """

    keeps: Callable[[], Callable[[str, bool | None], bool]]
    has_few: Callable[[Sequence[str], int], bool]
    live: Callable[[], int]


@dataclass(frozen=True, slots=True)
class _Started:
    job_id: JobId
    paths: int


class Following:
    """Follows one workspace until it is stopped.

    Args:
        changes: tells of changes; None where the system cannot, with `problem` saying why.
        workspace: what is asked about files.
        desk: starts jobs.
        job: looks at one.
        compared: what runs found.
        every_s: so often everything is compared although changes are told.
        problem: why changes are not told from the start.
        clock: seconds that never go back.
        now: the time for people.
    """

    def __init__(  # noqa: PLR0913 - made in one place
        self,
        changes: Changes | None,
        workspace: Workspace,
        desk: Desk,
        job: Callable[[JobId], Job | None],
        compared: Compared,
        *,
        every_s: float,
        problem: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime],
    ) -> None:
        self._changes = changes
        self._workspace = workspace
        self._desk = desk
        self._job = job
        self._compared = compared
        self._every_s = every_s
        self._clock = clock
        self._now = now
        self._debouncer = Debouncer()
        self._problem = problem
        self._keeps: Callable[[str, bool | None], bool] | None = None
        self._slices: deque[Sequence[str]] = deque()
        self._urgent: _Started | None = None
        self._whole: _Started | None = None
        self._wanted = True
        self._compare_at = clock()
        self._look_at = clock()
        self._last_change: datetime | None = None
        self._count = 0
        self._ending = threading.Event()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Follow on a thread of its own."""
        self._thread = threading.Thread(target=self._loop, name="watching", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Follow no more; jobs that were started go on."""
        self._ending.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join(5)
        if self._changes is not None:
            self._changes.stop()

    def told(self, change: Change) -> None:
        """Take in a change, from any thread."""
        if change.path == IGNORE_FILE:
            self._keeps = None
            self._debouncer.lost(self._clock())
        elif self._reads(change):
            self._debouncer.changed([change.path], self._clock())
        else:
            return
        self._last_change = self._now()
        self._woken.set()

    def followed(self) -> Followed:
        """Return how the workspace is followed."""
        at, held = self._compared.facts()
        started = sum(one.paths for one in (self._urgent, self._whole) if one)
        pending = self._debouncer.waiting() + started + sum(map(len, list(self._slices)))
        return Followed(self._problem is None, self._problem, pending, self._last_change, at, held)

    def look(self) -> float:
        """Do what is due now; return in how many seconds to look again."""
        now = self._clock()
        if now >= self._look_at:
            self._look_at = now + _LOOK_AGAIN_S
            self._listen()
        self._urgent, self._whole = self._ended(self._urgent), self._ended(self._whole)
        if (due := self._debouncer.due(now)) is not None:
            self._take(due)
        if self._urgent is None:
            self._urgent = self._next_urgent()
        self._wanted = self._wanted or now >= self._compare_at
        if self._wanted and self._whole is None:
            self._wanted = False
            self._compare_at = now + (self._every_s if self._problem is None else min(_COMPARE_SOON_S, self._every_s))
            self._whole = self._start((), 0, 1)
        soon = now + _JOB_GLANCE_S if self._urgent or self._whole else self._compare_at
        times = [self._look_at, soon, self._debouncer.next_at() or self._look_at]
        return max(min(times) - now, 0.01)

    def _loop(self) -> None:
        while not self._ending.is_set():
            self._woken.clear()
            try:
                pause = self.look()
            except Exception:  # noqa: BLE001 - a library that cannot be written now can be later
                _log.exception("the workspace could not be followed for a moment")
                pause = 1.0
            # A storm of events must not wake this thread for each of them.
            if self._woken.wait(pause) and not self._ending.is_set():
                self._ending.wait(_JOB_GLANCE_S)

    def _listen(self) -> None:
        if self._changes is None or self._changes.listens():
            return
        self._changes.stop()
        before, self._problem = self._problem, self._changes.start(self.told)
        if self._problem is None:
            self._keeps = None
            # What happened while nothing was told.
            self._wanted = True
        elif before is None:
            _log.warning("changes of the workspace are not told: %s", self._problem)
            self._compare_at = min(self._compare_at, self._clock() + _COMPARE_SOON_S)

    def _reads(self, change: Change) -> bool:
        keeps = self._keeps
        if keeps is None:
            try:
                keeps = self._keeps = self._workspace.keeps()
            except Exception:  # noqa: BLE001 - the folder is away, or its rules are no rules: the comparison will say it
                return True
        return keeps(change.path, change.is_folder)

    def _take(self, due: Due) -> None:
        self._wanted = self._wanted or due.everything
        self._slices.extend(due.paths[at : at + _SLICE] for at in range(0, len(due.paths), _SLICE))

    def _next_urgent(self) -> _Started | None:
        """Start the next few files that wait; what is not few is left to a comparison of everything."""
        while self._slices:
            paths = self._slices.popleft()
            few = paths if self._few(paths) else [path for path in paths if len(paths) > 1 and self._few([path])]
            self._wanted = self._wanted or len(few) < len(paths)
            if few:
                return self._start(few, PRIORITY, len(few))
        return None

    def _few(self, paths: Sequence[str]) -> bool:
        return self._workspace.has_few(paths, MOST_FILES)

    def _start(self, paths: Sequence[str], priority: int, count: int) -> _Started:
        self._count += 1
        payload: dict[str, Json] = {"paths": list(paths), "summary_only": True, "asks": True}
        # One that runs may have looked already: never the same job.
        payload["number"] = self._count
        if priority:
            payload["urgent"] = True
        return _Started(self._desk.start(JobKind.INGEST, payload, priority=priority).job_id, count)

    def _ended(self, started: _Started | None) -> _Started | None:
        """Return a job while it is at work; what its end asks for is noted."""
        if started is None:
            return None
        job = self._job(started.job_id)
        if job is not None and not job.status.is_final:
            return started
        if job is not None and job.status is JobStatus.FAILED:
            self._compare_at = min(self._compare_at, self._clock() + _COMPARE_SOON_S)
            if job.error_code == "not_found" and (files := self._workspace.live()):
                self._compared.hold(HeldBack(files, files, "root_missing", ()))
        if job is not None and job.result and job.result.get("too_many"):
            self._wanted = True
        return None


def without_changes(compared: Compared) -> Followed:
    """Return what there is to say where nothing is followed."""
    at, held = compared.facts()
    return replace(Followed(), last_compared_at=at, held_back=held)
