"""`backup`: the whole library in one file."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Protocol, TypeVar

from kb.app.backup.places import BackupPlaces
from kb.app.backup.shelf import BackupShelf
from kb.app.facade.library import Work
from kb.app.wire.backup import backup_to_wire, findings_to_wire
from kb.app.wire.jobs import job_to_wire
from kb.contract.backup import Backup as Report
from kb.contract.backup import BackupCreateRequest, BackupRequest, Backups, BackupVerify, MergeReport
from kb.contract.base import Empty, Wire
from kb.contract.jobs import Job, JobRequest
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.jobs import Job as StoredJob
from kb.domain.jobs import JobId, JobKind

_Reply = TypeVar("_Reply", bound=Wire)


AHEAD = 5
"""A backup goes before the rest of a long ingest, and lets a saved note go before itself."""


class _Jobs(Protocol):
    def get(self, job_id: JobId) -> StoredJob | None:
        """Return a job."""


class BackupLook:
    """Lists and checks backups, which needs no library."""

    def __init__(self, shelf: BackupShelf) -> None:
        self._shelf = shelf

    def list(self, request: Empty) -> Backups:
        """Return the backups in the library's own folder."""
        del request
        return Backups(
            backups=tuple(
                backup_to_wire(self._places.shown(one.file), one.size, one.manifest) for one in self._shelf.own()
            )
        )

    def verify(self, request: BackupRequest) -> BackupVerify:
        """Check that everything in a backup is whole.

        Raises:
            NotFound: there is no such backup.
        """
        path, findings = self._shelf.check(request.file)
        return findings_to_wire(self._places.shown(path), findings)

    @property
    def _places(self) -> BackupPlaces:
        return self._shelf.places


class Backup(BackupLook):
    """Writes, lists, checks and merges backups."""

    def __init__(self, shelf: BackupShelf, jobs: _Jobs, work: Work) -> None:
        super().__init__(shelf)
        self._jobs = jobs
        self._work = work

    def create(self, request: BackupCreateRequest) -> Job:
        """Start writing a backup.

        Raises:
            InvalidInput: the file exists, or lies where none may.
        """
        if request.file is not None:
            # Said at once: the job would only find out when its turn comes.
            places = self._places
            places.require_writable(places.new(request.file, datetime.now().astimezone()))
        payload = {"file": request.file, "originals": request.originals}
        return job_to_wire(self._work.start(JobKind.BACKUP, payload, priority=AHEAD))

    def report(self, request: JobRequest) -> Report:
        """Return what a finished backup holds."""
        return self._result(request, JobKind.BACKUP, Report)

    def merge(self, request: BackupRequest) -> Job:
        """Start taking in what a backup has and this library has not.

        Raises:
            NotFound: there is no such backup.
        """
        file = self._places.find(request.file)
        return job_to_wire(self._work.start(JobKind.MERGE, {"file": str(file)}))

    def merged(self, request: JobRequest) -> MergeReport:
        """Return what a finished merge took in."""
        return self._result(request, JobKind.MERGE, MergeReport)

    def _result(self, request: JobRequest, kind: JobKind, reply: type[_Reply]) -> _Reply:
        job = self._jobs.get(JobId(request.job_id))
        if job is None or job.kind is not kind:
            raise NotFound(f"there is no {kind} job {request.job_id[:64]!r}", hint="list jobs with `kb jobs`")
        if not job.result:
            hint = "run it again" if job.status.is_final else "wait until it ends"
            raise InvalidInput(f"the {kind} is {job.status.value} and has no report", hint=hint)
        return reply.read(json.dumps(dict(job.result)))
