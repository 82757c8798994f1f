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
from kb.domain.jobs import Job, JobId, JobKind, Progress
from kb.jobs.runner import JobRunner


class JobDesk:
    """Takes jobs and runs them on one thread."""

    def __init__(self, parts: Parts, events: Events) -> None:
        self._parts = parts
        self._events = events
        self._runner = JobRunner(
            parts.job_store,
            parts.job_control,
            handlers(parts, events, self._take_password),
            listener=self._listen,
            ended=self._tell_end,
        )
        self._running = False
        # In memory alone: a job that is taken up again after a crash runs without.
        self._passwords: dict[JobId, str] = {}
        self._passwords_lock = threading.Lock()

    def start(self, kind: JobKind, payload: Mapping[str, Json], *, password: str | None = None) -> Job:
        """Add a job and wake the runner; `password` is for this job and kept nowhere."""
        with self._passwords_lock:  # the runner may take the job before this thread goes on
            job = self._parts.job_store.enqueue(kind, payload)
            if password is not None:
                self._passwords[job.job_id] = password
        self.begin()
        self._runner.wake()
        return job

    def begin(self) -> None:
        """Start the thread, which first puts back what a dead process left; twice is once."""
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

    def _listen(self, job: Job, progress: Progress) -> None:
        self._events.progress(job_to_wire(replace(job, progress=progress)))

    def _tell_end(self, job_id: JobId) -> None:
        with self._passwords_lock:
            self._passwords.pop(job_id, None)
        job = self._parts.job_control.get(job_id)
        if job is not None:
            self._events.progress(job_to_wire(job))
        self._events.changed("jobs")
