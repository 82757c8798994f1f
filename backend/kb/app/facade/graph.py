"""`graph`: links between files, which people may add and take away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from kb.app.facade.library import Work
from kb.app.wire.jobs import job_to_wire
from kb.contract.graph import (
    AddLinkRequest,
    GraphLink,
    GraphLinks,
    GraphLinksRequest,
    GraphState,
    GraphStateRequest,
    LinkRequest,
    OpenTarget,
)
from kb.contract.graph_reading import GraphReadRequest, GraphReport
from kb.contract.jobs import Job, JobRequest
from kb.domain import edges as stored
from kb.domain.catalogue import ItemRow, Page
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.jobs import Job as StoredJob
from kb.domain.jobs import JobId, JobKind, JobStatus
from kb.domain.links import LinkKind
from kb.domain.recipes import ItemId
from kb.ingest.links import LINKS_VERSION
from kb.jobs.ports import JobList

_LOOKED_AT = 200


class Edges(Protocol):
    """Edges between items."""

    def of(self, item: ItemId, after: str | None, limit: int) -> Page[stored.EdgeRow]:
        """Return a page of the edges of an item, those that lead out first; removed ones, too."""

    def add(self, source: ItemId, target: ItemId, note: str) -> None:
        """Link two items by hand."""

    def remove(self, source: ItemId, target: ItemId, kind: LinkKind) -> None:
        """Take an edge away; raises NotFound."""

    def restore(self, source: ItemId, target: ItemId, kind: LinkKind) -> None:
        """Undo `remove`; raises NotFound."""

    def counts(self, version: str) -> stored.LinkCounts:
        """Return the links in numbers."""

    def open_targets(self, limit: int) -> Sequence[stored.OpenTarget]:
        """Return links that lead nowhere or may mean several items."""


class Graph:
    """Links between files.

    Args:
        edges: where they are kept.
        jobs: says how the last reading went.
        work: starts a reading.
        named: finds an item by its path or id; raises NotFound.
        forget_read: lets the links of all documents be read anew.
        is_on: whether `graph.enabled`.
        changed: told of every change.
    """

    def __init__(
        self,
        edges: Edges,
        jobs: JobList,
        work: Work,
        named: Callable[[str], ItemRow],
        *,
        forget_read: Callable[[], object],
        is_on: bool,
        changed: Callable[[], object],
    ) -> None:
        self._edges = edges
        self._jobs = jobs
        self._work = work
        self._named = named
        self._forget_read = forget_read
        self._is_on = is_on
        self._changed = changed

    def state(self, request: GraphStateRequest) -> GraphState:
        """Return the links of the library in numbers, and targets that are not clear."""
        counts = self._edges.counts(LINKS_VERSION)
        last = self._last_reading()
        is_failed = last is not None and last.status is JobStatus.FAILED
        return GraphState.model_validate(
            {
                "state": self._word(counts, last),
                "documents": counts.documents,
                "documents_read": counts.read,
                "links": {kind.value: count for kind, count in counts.active.items()},
                "removed": counts.removed,
                "ambiguous": counts.ambiguous,
                "unresolved": counts.unresolved,
                "open_targets": tuple(map(open_to_wire, self._edges.open_targets(request.limit))),
                "error": last.error_message if last is not None and is_failed else None,
            }
        )

    def links(self, request: GraphLinksRequest) -> GraphLinks:
        """Return a page of the links of a file, in and out."""
        row = self._named(request.doc)
        page = self._edges.of(row.item.item_id, request.cursor, request.limit)
        return GraphLinks(
            item_id=row.item.item_id,
            doc_path=row.item.path,
            links=tuple(map(link_to_wire, page.entries)),
            next=page.next,
        )

    def add(self, request: AddLinkRequest) -> GraphLinks:
        """Link two files by hand."""
        source, target = self._ends(request.source, request.target)
        self._edges.add(source, target, request.note.strip())
        return self._after(request.source)

    def remove(self, request: LinkRequest) -> GraphLinks:
        """Take a link away; reading links again does not bring it back."""
        source, target = self._ends(request.source, request.target)
        self._edges.remove(source, target, LinkKind(request.kind))
        return self._after(request.source)

    def restore(self, request: LinkRequest) -> GraphLinks:
        """Undo `remove`."""
        source, target = self._ends(request.source, request.target)
        self._edges.restore(source, target, LinkKind(request.kind))
        return self._after(request.source)

    def rebuild(self, request: GraphReadRequest) -> Job:
        """Start reading the links of files."""
        if request.anew:
            # Before the job, which then only goes on: a kill in the middle loses nothing.
            self._forget_read()
        return job_to_wire(self._work.start(JobKind.LINKS, {}))

    def rebuilt(self, request: JobRequest) -> GraphReport:
        """Return what a finished `rebuild` found."""
        job = self._jobs.get(JobId(request.job_id))
        if job is None or job.kind is not JobKind.LINKS:
            raise NotFound(f"there is no job {request.job_id[:64]!r} that reads links", hint="list jobs with `kb jobs`")
        if not job.result:
            hint = "run `kb graph rebuild` again" if job.status.is_final else "wait until it ends"
            raise InvalidInput(f"reading links is {job.status.value} and has no report", hint=hint)
        return GraphReport.model_validate(dict(job.result))

    def _ends(self, source: str, target: str) -> tuple[ItemId, ItemId]:
        ends = self._named(source).item.item_id, self._named(target).item.item_id
        if ends[0] == ends[1]:
            raise InvalidInput("a file cannot be linked with itself", hint="name two files")
        return ends

    def _after(self, source: str) -> GraphLinks:
        self._changed()
        return self.links(GraphLinksRequest(doc=source))

    def _last_reading(self) -> StoredJob | None:
        return next((job for job in self._jobs.recent(_LOOKED_AT) if job.kind is JobKind.LINKS), None)

    def _word(self, counts: stored.LinkCounts, last: StoredJob | None) -> str:
        if not self._is_on:
            return "off"
        if last is not None and last.status is JobStatus.RUNNING:
            return "running"
        if counts.read >= counts.documents and not counts.waiting:
            return "done"
        if last is not None and last.status is JobStatus.FAILED:
            return "failed"
        return "waiting" if counts.read or (last is not None and not last.status.is_final) else "on_demand"


def open_to_wire(target: stored.OpenTarget) -> OpenTarget:
    """Return a link whose target is not clear."""
    return OpenTarget.model_validate(
        {
            "doc_path": target.path,
            "kind": target.kind.value,
            "target": target.target,
            "outcome": target.outcome.value,
        }
    )


def link_to_wire(row: stored.EdgeRow) -> GraphLink:
    """Return one link of a file."""
    return GraphLink.model_validate(
        {
            "direction": "out" if row.outward else "in",
            "item_id": row.item_id,
            "doc_path": row.path,
            "title": row.title,
            "kind": row.kind.value,
            "origin": "manual" if row.is_manual else "derived",
            "active": row.is_active,
            "evidence": row.evidence,
        }
    )
