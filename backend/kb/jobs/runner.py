"""Runs jobs, one at a time: on a thread of its own for a server, in place for a command."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from kb.domain.errors import ErrorCode, KebabError
from kb.domain.failures import Busy, Cancelled, StorageFailed, Unreachable
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress, Rest
from kb.jobs.attempts import seconds_to_next_attempt
from kb.jobs.held import LEASE_S, HeldJob, Surroundings
from kb.jobs.ports import JobStore

_PAUSE_S = 1.0
# May be gone by itself a while later; what a person has to change is not tried again.
_PASSING = (StorageFailed, Busy, Unreachable)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finished:
    """What a handler gives back; `canceled` when it stopped early because it was asked to."""

    result: Mapping[str, Json] = field(default_factory=dict)
    canceled: bool = False


class JobContext(Protocol):
    """What a handler may use while it works."""

    def report(self, progress: Progress) -> None:
        """Tell how far it is; may be called often."""

    def should_stop(self) -> bool:
        """Return whether it was asked to stop; cheap, to be asked often."""

    def is_wanted(self) -> bool:
        """Return whether `give_way` has anything to do now; cheap, to be asked often."""

    def give_way(self) -> tuple[Job, ...]:
        """At a safe point, where nothing is half written: let urgent jobs go first, and rest when it is to rest.

        Cheap, to be called often. It returns the jobs that ran meanwhile on this thread, as they ended (`status`).
        Ask `should_stop` afterwards: a stop ends a rest.
        """


Handler = Callable[[Job, JobContext], Finished]


class JobRunner:
    """Takes jobs from the store and gives each to the handler of its kind, so that one at a time writes.

    Args:
        store: where jobs are taken and finished.
        handlers: by kind; a kind without one fails.
        listener: told of all progress, more often than the store is.
        ended: told of each job that ended or waits again, however it did, once the store has it.
        rests: why a job should rest by itself; None when it may work.
        now: a clock in seconds that never goes back.
        lease_s: for how long a job is taken, unless renewed.
    """

    def __init__(
        self,
        store: JobStore,
        handlers: Mapping[JobKind, Handler],
        *,
        listener: Callable[[Job, Progress], object] = lambda _job, _progress: None,
        ended: Callable[[JobId], object] = lambda _job_id: None,
        rests: Callable[[Job], Rest | None] = lambda _job: None,
        now: Callable[[], float] = time.monotonic,
        lease_s: float = LEASE_S,
    ) -> None:
        self._store = store
        self._handlers = handlers
        self._ended = ended
        self._lease_s = lease_s
        self._owner = secrets.token_hex(8)
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._wakes = 0
        self._thread: threading.Thread | None = None
        self._around = Surroundings(listener, rests, self._run_urgent, lambda: self._wakes, self._stopping, now)

    def run_until_idle(self) -> int:
        """Run in this thread until no job is due; return how many ran.

        Raises:
            KeyboardInterrupt: passed on after the running job is marked canceled.
        """
        self._store.requeue_orphans(self._owner)
        count = 0
        while (job := self._store.claim(self._owner, self._lease_s)) is not None:
            self._run(job)
            count += 1
        return count

    def start(self) -> None:
        """Put back what a dead process left running, then run jobs on a thread until `stop`."""
        self._store.requeue_orphans(self._owner)
        self._stopping.clear()
        self._thread = threading.Thread(target=self._loop, name="jobs", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Say that a job was added or steered; without it the thread looks once a second."""
        self._wakes += 1
        self._woken.set()

    def stop(self, timeout_s: float = 8.0) -> bool:
        """Stop the thread; the running job goes on at the next start. Return whether it ended in time."""
        self._stopping.set()
        self._woken.set()
        thread = self._thread
        if thread is None:
            return True
        thread.join(timeout_s)
        return not thread.is_alive()

    def _loop(self) -> None:
        while not self._stopping.is_set():
            self._woken.clear()
            try:
                job = self._store.claim(self._owner, self._lease_s)
                if job is not None:
                    self._run(job)
                    continue
            except Exception:  # noqa: BLE001
                # A full disk, or a listener with a bug: without this thread whoever waits would wait for ever.
                _log.exception("the job queue could not be used")
            self._woken.wait(_PAUSE_S)

    def _run_urgent(self, above: int) -> tuple[Job, ...]:
        """Run what waits with a higher priority; what cannot be taken now is taken later."""
        ran: list[Job] = []
        while not self._stopping.is_set():
            try:
                job = self._store.claim(self._owner, self._lease_s, above=above)
            except StorageFailed as error:
                _log.warning("urgent jobs wait: %s", error.message)
                break
            if job is None:
                break
            ran.append(self._run(job))
        return tuple(ran)

    def _run(self, job: Job) -> Job:
        held = HeldJob(self._store, job, self._around, self._lease_s)
        threading.Thread(target=held.beat_until_let_go, name="job-lease", daemon=True).start()
        try:
            handler = self._handlers.get(job.kind)
            if handler is None:
                message = f"this version has no way to run a job of kind {job.kind}"
                return self._end(held, JobStatus.FAILED, error=(ErrorCode.INTERNAL, message))
            finished = handler(job, held)
        except Cancelled as error:
            return self._end(held, JobStatus.CANCELED, error=(error.code, error.message))
        except KebabError as error:
            # One line each: the fact, then what to do.
            message = f"{error.message}\n{error.hint}" if error.hint else error.message
            _log.warning("job %s failed: %s", job.job_id, error.message)
            return self._fail(held, (error.code, message), passes=isinstance(error, _PASSING))
        except Exception:  # noqa: BLE001
            _log.exception("job %s failed", job.job_id)
            unexpected = "something unexpected went wrong; see the log"
            return self._fail(held, (ErrorCode.INTERNAL, unexpected), passes=True)
        except BaseException:
            self._end(held, JobStatus.CANCELED, error=(ErrorCode.CANCELLED, "stopped; what was committed stays"))
            raise
        status = JobStatus.CANCELED if finished.canceled else JobStatus.SUCCEEDED
        return self._end(held, status, result=finished.result)

    def _fail(self, held: HeldJob, error: tuple[str, str], *, passes: bool) -> Job:
        job = held.job
        if not passes or job.attempts >= job.most_attempts:
            # Who asked for one attempt was told of its end: only what was tried again and again is dead.
            dead = passes and job.most_attempts > 1
            return self._end(held, JobStatus.FAILED, error=error, dead=dead)
        if held.asked_to_stop:
            return self._end(held, JobStatus.CANCELED, error=error)
        pause = seconds_to_next_attempt(job.job_id, job.attempts)
        return self._told(
            held, JobStatus.PENDING, held.put_back(not_before=datetime.now(UTC) + timedelta(seconds=pause), error=error)
        )

    def _end(
        self,
        held: HeldJob,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
        dead: bool = False,
    ) -> Job:
        if status is JobStatus.CANCELED and self._stopping.is_set() and not held.asked_to_stop:
            # Nobody canceled it: the server ends. It goes on at the next start, and this was no failed attempt.
            return self._told(held, JobStatus.PENDING, held.put_back(counts=False))
        return self._told(held, status, held.finish(status, result=result, error=error, dead=dead))

    def _told(self, held: HeldJob, status: JobStatus, is_stored: bool) -> Job:  # noqa: FBT001 - what was just done
        job = held.job
        if not is_stored:
            _log.warning("job %s ended here after another process took it; that one's end counts", job.job_id)
            return job
        self._ended(job.job_id)
        return replace(job, status=status)
