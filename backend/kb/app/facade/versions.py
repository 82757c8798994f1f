"""What items have been: their versions, what changed between two, and letting go of the old ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from kb.app.ports import Reading
from kb.app.rendering import markdown_of
from kb.app.wire.library import item_to_wire
from kb.app.wire.versions import difference_to_wire, purged_from_json, purged_to_wire, versions_to_wire
from kb.contract.items import ItemRequest, ItemView
from kb.contract.library import ShowRequest
from kb.contract.versions import DiffRequest, PurgeReport, PurgeRequest, VersionDiff
from kb.contract.versions import Versions as History
from kb.domain.catalogue import ItemRow
from kb.domain.diffing import difference
from kb.domain.errors import NotFound
from kb.domain.failures import Busy, StorageFailed
from kb.domain.jobs import Job, JobId, JobStatus
from kb.domain.recipes import ItemId
from kb.domain.versions import Purged, Version

_PATIENCE_S = 60.0
_GLANCE_S = 0.05


class VersionHistory(Protocol):
    """The versions of items."""

    def history(self, item_id: str, keep_versions: int) -> Sequence[Version]:
        """Return the versions of an item, newest first."""


class VersionShelf:
    """The versions of items, as the group shows them.

    Args:
        history: where they are.
        reading: gives their texts.
        keep_versions: how many superseded ones a purge keeps when it is not told.
        expected: says what a purge would let go of.
        start: starts a purge that keeps so many.
        look: finds a job.
        include: takes a file in, or out.
    """

    def __init__(
        self,
        history: VersionHistory,
        reading: Reading,
        *,
        keep_versions: int,
        expected: Callable[[int], Purged],
        start: Callable[[int], Job],
        look: Callable[[JobId], Job | None],
        include: Callable[[ItemId, bool], object],
    ) -> None:
        self._history = history
        self._reading = reading
        self._keep_versions = keep_versions
        self._expected = expected
        self._start = start
        self._look = look
        self.include = include

    def versions(self, row: ItemRow) -> History:
        """Return what an item has been, newest first."""
        return versions_to_wire(row, self._history.history(row.item.item_id, self._keep_versions))

    def diff(self, row: ItemRow, before: int | None, after: int | None) -> VersionDiff:
        """Return what changed between two versions; the newest that is kept, and the one before it, when not named.

        Raises:
            NotFound: there is no such version, or its text is not kept any more.
        """
        known = {version.number: version for version in self._history.history(row.item.item_id, self._keep_versions)}
        kept = sorted(number for number, version in known.items() if version.is_openable)
        newer = after if after is not None else max((n for n in kept if before is None or n > before), default=None)
        older = before if before is not None else max((n for n in kept if newer is None or n < newer), default=None)
        if newer is None or older is None:
            raise NotFound(
                f"only one version of {row.item.path} is kept", hint="there is nothing to compare it with yet"
            )
        for number in (older, newer):
            if number not in kept:
                said = "is not kept any more" if number in known else "does not exist"
                raise NotFound(
                    f"version {number} of {row.item.path} {said}",
                    hint=f"kept are {', '.join(map(str, kept)) or 'none'}",
                )
        found = difference(self._lines(known[older]), self._lines(known[newer]))
        return difference_to_wire(row, older, newer, found)

    def purge(self, keep_versions: int | None, *, dry_run: bool) -> PurgeReport:
        """Let go of versions, waiting for the job that does it, or say what would go.

        Raises:
            Busy: other work is done first; the purge follows it.
            StorageFailed: it failed or was stopped.
        """
        keep = self._keep_versions if keep_versions is None else keep_versions
        if dry_run:
            return purged_to_wire(self._expected(keep), dry_run=True)
        job: Job | None = self._start(keep)
        deadline = time.monotonic() + _PATIENCE_S
        while job is not None and not job.status.is_final:
            if time.monotonic() >= deadline:
                raise Busy("the purge waits for other work and follows it", hint="`kb jobs` shows how far that is")
            time.sleep(_GLANCE_S)
            job = self._look(job.job_id)
        if job is None or job.status is not JobStatus.SUCCEEDED or job.result is None:
            message, _, hint = ((job.error_message if job else "") or "the purge was stopped").partition("\n")
            raise StorageFailed(message, hint=hint or "run it again: it goes on from where it was")
        return purged_from_json(job.result)

    def _lines(self, version: Version) -> list[str]:
        passages = self._reading.passages(version.doc_id)
        text = markdown_of(self._reading.blocks(version.doc_id), [stored.chunk for stored in passages])
        return [line.rstrip() for line in text.splitlines()]


class Versions:
    """`versions`: what documents have been, and what is let go of.

    Args:
        shelf: the versions of items.
        named: finds an item by its path, `doc_id` or `item_id`.
    """

    def __init__(self, shelf: VersionShelf, named: Callable[[str], ItemRow]) -> None:
        self._shelf = shelf
        self._named = named

    def history(self, request: ShowRequest) -> History:
        """Return what a document has been, newest first."""
        return self._shelf.versions(self._named(request.doc))

    def diff(self, request: DiffRequest) -> VersionDiff:
        """Return what changed between two versions of a document."""
        return self._shelf.diff(self._named(request.doc), request.before, request.after)

    def purge(self, request: PurgeRequest) -> PurgeReport:
        """Let go of earlier versions that nothing needs."""
        return self._shelf.purge(request.keep_versions, dry_run=request.dry_run)

    def remove(self, request: ItemRequest) -> ItemView:
        """Take a file out of the library; the file itself stays, and is not read again until it is put back."""
        return self._included(request, included=False)

    def put_back(self, request: ItemRequest) -> ItemView:
        """Undo `remove`."""
        return self._included(request, included=True)

    def _included(self, request: ItemRequest, *, included: bool) -> ItemView:
        row = self._named(request.doc)
        self._shelf.include(row.item.item_id, included)
        return ItemView(item=item_to_wire(self._named(row.item.item_id)))
