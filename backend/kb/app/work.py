"""Long work: the queue, the runner that is started when the first job comes, and passwords kept for it in memory."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace

from kb.app.bootstrap import Parts
from kb.app.facade.events import Events
from kb.app.handlers import handlers
from kb.app.wire.jobs import job_to_wire
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress, Rest
from kb.jobs.runner import JobRunner

_A_FEW_FILES = 5


class JobDesk:
    """Takes jobs and runs them on one thread.

    Args:
        parts: the opened library.
        events: told of progress and ends.
        most_attempts: of jobs that meet a failure which may pass. A command that waits for its job wants to hear of
            the first; a server tries again.
    """

    def __init__(self, parts: Parts, events: Events, *, most_attempts: int = 1) -> None:
        self._parts = parts
        self._events = events
        self._most_attempts = most_attempts
        self._runner = JobRunner(
            parts.job_store,
            handlers(parts, events, self._take_password),
            listener=self._listen,
            ended=self._tell_end,
            rests=self._rests,
        )
        self._running = False
        self._beginning = threading.Lock()
        # In memory alone: a job that is taken up again after a crash runs without.
        self._passwords: dict[JobId, str] = {}
        self._passwords_lock = threading.Lock()

    def start(
        self,
        kind: JobKind,
        payload: Mapping[str, Json],
        *,
        password: str | None = None,
        subject: str = "",
        request_key: str | None = None,
        priority: int = 0,
    ) -> Job:
        """Add a job and wake the runner.

        Args:
            kind: what it does.
            payload: what its handler needs to know.
            password: for this job, kept nowhere.
            subject: what it works on.
            request_key: the same key is the same job, also when it is over.
            priority: above 0 it goes before what longer jobs still have to do.

        Raises:
            Conflict: other work of this kind and subject is under way, or the key was used for another request.
        """
        with self._passwords_lock:  # the runner may take the job before this thread goes on
            job = self._parts.job_store.enqueue(
                kind,
                payload,
                subject=subject,
                request_key=request_key,
                priority=priority,
                most_attempts=self._most_attempts,
            )
            if password is not None:
                self._passwords[job.job_id] = password
        self.begin()
        self._runner.wake()
        return job

    def steered(self, job: Job) -> None:
        """Say that a job was canceled, paused, resumed or tried anew: who works hears of it at once."""
        if job.status is JobStatus.PENDING:
            self.begin()
        self._runner.wake()
        self._events.progress(job_to_wire(job))
        self._events.changed("jobs")

    def begin(self) -> None:
        """Start the thread, which first puts back what a dead process left; twice is once."""
        with self._beginning:  # two threads that start jobs at once would else have two that write
            if not self._running:
                self._running = True
                self._runner.start()

    def close(self) -> None:
        """Stop; a running job goes on at the next start."""
        if self._running:
            self._runner.stop()
            self._running = False

    def _take_password(self, job_id: JobId) -> str | None:
        with self._passwords_lock:
            return self._passwords.pop(job_id, None)

    def _rests(self, job: Job) -> Rest | None:
        """On battery what takes long rests, if the person wants that; a few files that were saved do not wait."""
        if not self._parts.settings.indexing.pause_on_battery or not _is_heavy(job):
            return None
        return Rest.BATTERY if self._parts.power.on_battery() else None

    def _listen(self, job: Job, progress: Progress) -> None:
        self._events.progress(job_to_wire(replace(job, progress=progress)))

    def _tell_end(self, job_id: JobId) -> None:
        with self._passwords_lock:
            self._passwords.pop(job_id, None)
        job = self._parts.job_control.get(job_id)
        if job is not None:
            self._events.progress(job_to_wire(job))
        self._events.changed("jobs")


def _is_heavy(job: Job) -> bool:
    paths = job.payload.get("paths")
    if job.kind is JobKind.INGEST and isinstance(paths, list) and 0 < len(paths) <= _A_FEW_FILES:
        return False
    return job.priority == 0 and job.kind in {JobKind.INGEST, JobKind.GENERATION, JobKind.BACKUP}
