"""A job in the hands of the runner: its progress, its lease, and when it gives way."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from kb.domain.failures import StorageFailed
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobStatus, Progress, Rest, Standing
from kb.jobs.ports import JobStore

LEASE_S = 300.0
"""Long, as a crash is told by the lock of the library: the lease guards against a sleep of the computer."""

_BEATS_A_LEASE = 3
# A report costs a disk flush, a look does not.
_REPORT_S = 0.4
_LOOK_S = 0.2
_REST_S = 0.1
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a held job asks and tells beside the store.

    Attributes:
        listener: told of all progress, more often than the store is.
        rests: why a job should rest by itself, such as the battery; None when it may work.
        urgent: runs what waits with a priority above the given one, and returns it as it ended.
        wakes: rises when a job was added or steered: a reason to look at once.
        stopping: set when the runner ends.
        now: a clock in seconds that never goes back.
    """

    listener: Callable[[Job, Progress], object]
    rests: Callable[[Job], Rest | None]
    urgent: Callable[[int], tuple[Job, ...]]
    wakes: Callable[[], int]
    stopping: threading.Event
    now: Callable[[], float]


class HeldJob:
    """What a handler sees of its job, and the hold on it.

    Reports and looks that fail do no harm: the work goes on, and what it commits is what counts.
    """

    def __init__(self, store: JobStore, job: Job, around: Surroundings, lease_s: float = LEASE_S) -> None:
        self.job = job
        self.asked_to_stop = False
        self._store = store
        self._around = around
        self._lease_s = lease_s
        self._progress = job.progress
        self._standing = Standing(is_held=True)
        self._lost = False
        self._reported = self._looked = -_REPORT_S
        self._wakes = around.wakes()
        self._holding = threading.Lock()
        self._let_go = threading.Event()

    def report(self, progress: Progress) -> None:
        """Tell how far it is; may be called often."""
        self._progress = progress
        self._around.listener(self.job, progress)
        if self._around.now() - self._reported < _REPORT_S:
            return
        self._reported = self._around.now()
        try:
            if not self._store.report(self.job, progress):
                self._look()
        except StorageFailed as error:
            _log.info("progress of job %s could not be stored: %s", self.job.job_id, error.message)

    def should_stop(self) -> bool:
        """Return whether it was asked to stop or is no longer held; cheap, to be asked often."""
        if not self.asked_to_stop:
            self._glance()
        return self.asked_to_stop or self._lost or self._around.stopping.is_set()

    def is_wanted(self) -> bool:
        """Return whether `give_way` has anything to do now; cheap, to be asked often."""
        return not self.should_stop() and (self._standing.urgent or self._rest() is not None)

    def give_way(self) -> tuple[Job, ...]:
        """At a safe point: let urgent jobs go first and rest as long as it must; return the jobs that ran."""
        ran: list[Job] = []
        told: Rest | None = None
        while not self.should_stop():
            if self._standing.urgent:
                ran.extend(self._around.urgent(self.job.priority))
                self._look()
            rest = self._rest()
            if rest is not told:
                self._tell_rest(rest, told)
                told = rest
            if rest is None:
                break
            self._around.stopping.wait(_REST_S)
        else:
            if told is not None:
                self._tell_rest(None, told)
        return tuple(ran)

    def beat_until_let_go(self) -> None:
        """Renew the lease, on a thread of its own, so that a long step does not lose it."""
        while not self._let_go.wait(self._lease_s / _BEATS_A_LEASE):
            try:
                with self._holding:
                    if not self._let_go.is_set() and not self._store.heartbeat(self.job, self._lease_s):
                        self._take_anew()
            except StorageFailed as error:
                _log.info("the lease of job %s could not be renewed: %s", self.job.job_id, error.message)

    def finish(
        self,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
        dead: bool = False,
    ) -> bool:
        """End the job and let go of it; False when another had it meanwhile."""
        return self._leave(lambda: self._store.finish(self.job, status, result=result, error=error, dead=dead))

    def put_back(
        self, *, not_before: datetime | None = None, error: tuple[str, str] | None = None, counts: bool = True
    ) -> bool:
        """Let the job wait again; False when another had it meanwhile."""
        return self._leave(
            lambda: self._store.put_back(self.job, not_before=not_before, error=error, counts=counts),
        )

    def _leave(self, write: Callable[[], bool]) -> bool:
        with self._holding:
            self._let_go.set()
            return write() or (self._take_anew() and write())

    def _glance(self) -> None:
        wakes = self._around.wakes()
        if wakes != self._wakes or self._around.now() - self._looked >= _LOOK_S:
            self._wakes = wakes
            self._look()

    def _look(self) -> None:
        self._looked = self._around.now()
        try:
            standing = self._store.look(self.job)
            if not standing.is_held:
                with self._holding:
                    # Under the lock: the heartbeat may have taken it anew meanwhile.
                    standing = self._store.look(self.job)
                    if not standing.is_held and self._take_anew():
                        standing = self._store.look(self.job)
        except StorageFailed as error:
            _log.info("job %s could not be looked at: %s", self.job.job_id, error.message)
            return
        self._standing = standing
        self.asked_to_stop = self.asked_to_stop or standing.cancel_requested

    def _take_anew(self) -> bool:
        taken = self._store.reclaim(self.job, self._lease_s)
        if taken is None:
            if not self._lost:
                _log.warning("job %s is no longer held here: nothing more of it is written", self.job.job_id)
            self._lost = True
            return False
        self.job = taken
        return True

    def _rest(self) -> Rest | None:
        return Rest.ASKED if self._standing.rest is Rest.ASKED else self._around.rests(self.job)

    def _tell_rest(self, rest: Rest | None, before: Rest | None) -> None:
        try:
            if Rest.BATTERY in {rest, before}:
                self._store.set_rest(self.job, None if rest is Rest.ASKED else rest)
        except StorageFailed as error:
            _log.info("the rest of job %s could not be stored: %s", self.job.job_id, error.message)
        self._around.listener(replace(self.job, rest=rest), self._progress)
