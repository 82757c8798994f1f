"""Runs jobs, one at a time: on a thread of its own for a server, in place for a command."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kb.domain.errors import ErrorCode, KebabError
from kb.domain.failures import Cancelled
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress
from kb.jobs.ports import JobControl, JobStore

_GLANCE_S = 0.4
_PAUSE_S = 1.0
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


Handler = Callable[[Job, JobContext], Finished]


class JobRunner:
    """Takes jobs from the store and gives each to the handler of its kind.

    Args:
        store: where jobs are taken and finished.
        control: where orphans are put back.
        handlers: by kind; a kind without one fails.
        listener: told of all progress, more often than the store is.
        ended: told of each job that ended, however it did, once the store has it.
        now: a clock in seconds that never goes back.
    """

    def __init__(
        self,
        store: JobStore,
        control: JobControl,
        handlers: Mapping[JobKind, Handler],
        *,
        listener: Callable[[Job, Progress], object] = lambda _job, _progress: None,
        ended: Callable[[JobId], object] = lambda _job_id: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._control = control
        self._handlers = handlers
        self._listener = listener
        self._ended = ended
        self._now = now
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None

    def run_until_idle(self) -> int:
        """Run in this thread until no job is pending; return how many ran.

        Raises:
            KeyboardInterrupt: passed on after the running job is marked canceled.
        """
        self._control.requeue_orphans()
        count = 0
        while (job := self._store.claim()) is not None:
            self._run(job)
            count += 1
        return count

    def start(self) -> None:
        """Put back what a dead process left running, then run jobs on a thread until `stop`."""
        self._control.requeue_orphans()
        self._stopping.clear()
        self._thread = threading.Thread(target=self._loop, name="jobs", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Say that a job was added; without it the thread looks once a second."""
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
                job = self._store.claim()
                if job is not None:
                    self._run(job)
                    continue
            except Exception:  # noqa: BLE001
                # A full disk, or a listener with a bug: without this thread whoever waits would wait for ever.
                _log.exception("the job queue could not be used")
            self._woken.wait(_PAUSE_S)

    def _run(self, job: Job) -> None:
        context = _Context(self._store, job, self._listener, self._stopping.is_set, self._now)
        try:
            handler = self._handlers.get(job.kind)
            if handler is None:
                message = f"this version has no way to run a job of kind {job.kind}"
                self._end(job, JobStatus.FAILED, error=(ErrorCode.INTERNAL, message))
                return
            finished = handler(job, context)
        except Cancelled as error:
            self._end(job, JobStatus.CANCELED, error=(error.code, error.message))
        except KebabError as error:
            # One line each: the fact, then what to do.
            message = f"{error.message}\n{error.hint}" if error.hint else error.message
            _log.warning("job %s failed: %s", job.job_id, error.message)
            self._end(job, JobStatus.FAILED, error=(error.code, message))
        except Exception:  # noqa: BLE001
            _log.exception("job %s failed", job.job_id)
            self._end(job, JobStatus.FAILED, error=(ErrorCode.INTERNAL, "something unexpected went wrong; see the log"))
        except BaseException:
            self._end(job, JobStatus.CANCELED, error=(ErrorCode.CANCELLED, "stopped; what was committed stays"))
            raise
        else:
            status = JobStatus.CANCELED if finished.canceled else JobStatus.SUCCEEDED
            self._end(job, status, result=finished.result)

    def _end(
        self,
        job: Job,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
    ) -> None:
        if status is JobStatus.CANCELED and self._stopping.is_set():
            # Nobody canceled it: the server ends. Left as running, it is put back at the next start.
            return
        self._store.finish(job.job_id, status, result=result, error=error)
        self._ended(job.job_id)


class _Context:
    """Passes progress on, to the store only now and then: each time costs a disk flush."""

    def __init__(
        self,
        store: JobStore,
        job: Job,
        listener: Callable[[Job, Progress], object],
        is_stopping: Callable[[], bool],
        now: Callable[[], float],
    ) -> None:
        self._store = store
        self._job = job
        self._listener = listener
        self._is_stopping = is_stopping
        self._now = now
        self._progress = job.progress
        self._asked_to_stop = False
        self._last = -_GLANCE_S

    def report(self, progress: Progress) -> None:
        self._progress = progress
        self._listener(self._job, progress)
        self._glance()

    def should_stop(self) -> bool:
        if not self._asked_to_stop:
            self._glance()
        return self._asked_to_stop or self._is_stopping()

    def _glance(self) -> None:
        if self._now() - self._last >= _GLANCE_S:
            self._last = self._now()
            self._asked_to_stop = not self._store.report(self._job.job_id, self._progress)
