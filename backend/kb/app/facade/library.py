"""`library`: the workspace and its documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from kb.app.next_steps import next_step
from kb.app.ports import Documents, Items, Reading, Runs
from kb.app.watching import Followed
from kb.app.wire.jobs import job_to_wire
from kb.app.wire.library import coverage_to_wire, details_to_wire, item_to_wire, masked_to_wire, summary_to_wire
from kb.app.wire.reports import report_to_wire
from kb.app.wire.watching import watch_to_wire
from kb.contract.base import Empty
from kb.contract.coverage import Coverage, CoverageRequest
from kb.contract.ingest import IngestReport, IngestRequest
from kb.contract.items import ItemRequest, ItemsRequest, ItemView
from kb.contract.items import Items as ItemsPage
from kb.contract.jobs import Job, JobRequest
from kb.contract.library import (
    DocStates,
    DocumentsPage,
    DocumentsRequest,
    DocumentView,
    LibrarySummary,
    ShowRequest,
)
from kb.contract.masked import Masked
from kb.contract.watching import Watch
from kb.domain.accounting import ledger_of
from kb.domain.catalogue import ItemRow
from kb.domain.documents import DocumentSummary
from kb.domain.embeddings import EmbeddingModel
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.ids import Json
from kb.domain.items import ItemState
from kb.domain.jobs import Job as StoredJob
from kb.domain.jobs import JobId, JobKind
from kb.domain.paths import workspace_path
from kb.domain.recipes import DocumentId
from kb.ingest.urgent import MOST_FILES, PRIORITY
from kb.jobs.ports import JobControl


class Work(Protocol):
    """Starts long work."""

    def start(
        self,
        kind: JobKind,
        payload: Mapping[str, Json],
        *,
        password: str | None = None,
        subject: str = "",
        request_key: str | None = None,
        priority: int = 0,
    ) -> StoredJob:
        """Add a job and wake the runner; `password` is for this job and kept nowhere."""


class Library:
    """What the library holds, and how it comes in."""

    def __init__(  # noqa: PLR0913, PLR0917 - each is one thing the group reads
        self,
        documents: Documents,
        items: Items,
        reading: Reading,
        runs: Runs,
        jobs: JobControl,
        work: Work,
        *,
        model: Callable[[], EmbeddingModel | None],
        workspace: str,
        followed: Callable[[], Followed] = Followed,
        has_few: Callable[[Sequence[str], int], bool] = lambda _paths, _most: False,
        links_read: Callable[[DocumentId], bool] | None = None,
    ) -> None:
        self._documents = documents
        self._items = items
        self._reading = reading
        self._runs = runs
        self._jobs = jobs
        self._work = work
        self._model_now = model
        self._workspace = workspace
        self._followed = followed
        self._has_few = has_few
        self._links_read = links_read

    def ingest(self, request: IngestRequest) -> Job:
        """Start reading the workspace."""
        paths = [workspace_path(path) for path in request.paths or ()]
        payload: dict[str, Json] = {
            "paths": list(paths),
            "retry": request.retry,
            "summary_only": request.summary_only,
        }
        if request.confirm_removals:
            payload["confirm_removals"] = True
        if request.password is not None:
            # Only that there is one: another job than the same request without.
            payload["unlock"] = True
        # A few files go before what a long run still has to do; what they leave undone is done by the next whole run.
        few = bool(paths) and self._has_few(paths, MOST_FILES)
        job = self._work.start(
            JobKind.INGEST,
            payload,
            password=request.password,
            request_key=request.request_key,
            priority=PRIORITY if few else 0,
        )
        return job_to_wire(job)

    def report(self, request: JobRequest) -> IngestReport:
        """Return what a finished ingest did."""
        job = self._jobs.get(JobId(request.job_id))
        if job is None or job.kind is not JobKind.INGEST:
            raise NotFound(f"there is no ingest job {request.job_id[:64]!r}", hint="list jobs with `kb jobs`")
        if not job.result:
            hint = "run `kb ingest` again" if job.status.is_final else "wait until it ends"
            raise InvalidInput(f"the ingest job is {job.status.value} and has no report", hint=hint)
        items = None if job.payload.get("summary_only") else self._run_items(job.job_id)
        return report_to_wire(job.result, items)

    def items(self, request: ItemsRequest) -> ItemsPage:
        """Return a page of files with their states."""
        state = ItemState(request.state) if request.state else None
        page = self._items.items(request.cursor, request.limit, state, attention=request.attention)
        return ItemsPage(items=tuple(map(item_to_wire, page.entries)), next=page.next)

    def item(self, request: ItemRequest) -> ItemView:
        """Return one file with its state."""
        return ItemView(item=item_to_wire(self.named(request.doc)))

    def coverage(self, request: CoverageRequest) -> Coverage:
        """Return what was read of one file."""
        row = self._items.item_at(workspace_path(request.doc_path))
        if row is None:
            raise _unknown(request.doc_path)
        doc_id = row.item.active_doc_id if row.is_of_document else None
        units = self._documents.coverage(doc_id) if doc_id else ledger_of(row.item)
        return coverage_to_wire(row, units)

    def masked(self, request: ShowRequest) -> Masked:
        """Return where secrets were left out of one document."""
        document = self._documents.document(find_document(self._items, self._documents, request.doc))
        details = self._reading.details(document.doc_id) if document else None
        if document is None or details is None:
            raise _unknown(request.doc)
        return masked_to_wire(document.workspace_path, document.doc_id, details.masked)

    def documents(self, request: DocumentsRequest) -> DocumentsPage:
        """Return a page of documents."""
        page = self._documents.documents(request.cursor, request.limit)
        shown = tuple(summary_to_wire(document, self._states(document)) for document in page.entries)
        return DocumentsPage(documents=shown, next=page.next)

    def show(self, request: ShowRequest) -> DocumentView:
        """Return one document with its outline."""
        document = self._documents.document(find_document(self._items, self._documents, request.doc))
        details = self._reading.details(document.doc_id) if document else None
        if document is None or details is None:
            raise _unknown(request.doc)
        return details_to_wire(document, details, self._states(document))

    def summary(self, request: Empty) -> LibrarySummary:
        """Return the library in numbers."""
        del request
        counts = self._documents.summary(self._model)
        return LibrarySummary(
            documents=counts.documents,
            chunks=counts.chunks,
            full_text_ready=counts.documents,
            vectorised=counts.vectorised,
            failed=counts.items.get("failed", 0),
            model_compatible=None if self._model is None else counts.vectors > 0 or counts.chunks == 0,
            items=sum(counts.items.values()),
            unread_items=counts.unread_items,
            workspace=self._workspace,
            embedding_model=self._model.id if self._model else None,
            vectors=counts.vectors,
            needs_attention=counts.attention,
        )

    @property
    def _model(self) -> EmbeddingModel | None:
        # Another one after a switch.
        return self._model_now()

    def watching(self, request: Empty) -> Watch:
        """Say how the workspace is followed, and what waits for a word."""
        del request
        return watch_to_wire(self._followed())

    def _states(self, document: DocumentSummary) -> DocStates:
        vector = "done" if document.vector_count >= document.chunk_count else "waiting"
        return DocStates.model_validate(
            {
                "parse": "done",
                "fulltext": "done",
                "vector": vector if self._model else "disabled",
                "graph": self._graph_state(document.doc_id),
            }
        )

    def _graph_state(self, doc_id: DocumentId) -> str:
        if self._links_read is None:
            return "disabled"
        return "done" if self._links_read(doc_id) else "waiting"

    def named(self, what: str) -> ItemRow:
        """Return an item by its path, `doc_id` or `item_id`.

        Raises:
            NotFound: there is none.
        """
        row = find_item(self._items, what)
        if row is None:
            document = self._documents.document(DocumentId(what))
            row = self._items.item(document.item_id) if document else None
        if row is None:
            raise _unknown(what)
        return row

    def _run_items(self, run_id: str) -> Iterator[Mapping[str, Json]]:
        after = -1
        while True:
            page = self._runs.items(run_id, after)
            yield from page.entries
            if page.next is None:
                return
            after = int(page.next)


def find_document(items: Items, documents: Documents, what: str) -> DocumentId:
    """Return the shown document that a path, doc_id or item_id names.

    Raises:
        NotFound: nothing by that name can be seen; the message says why when the file is known.
    """
    row = find_item(items, what)
    if row is None and documents.document(DocumentId(what)) is not None:
        return DocumentId(what)
    if row is None:
        raise _unknown(what)
    if row.item.active_doc_id is None:
        raise NotFound(
            f"{row.item.path} cannot be searched: {row.item.reason or row.item.state.value}",
            hint=next_step(row.item, row.unread) or "run `kb ingest` after mending the file",
        )
    return row.item.active_doc_id


def find_item(items: Items, what: str) -> ItemRow | None:
    """Return the file that an item_id or a path names."""
    row = items.item(what)
    if row is not None:
        return row
    try:
        return items.item_at(workspace_path(what))
    except InvalidInput:
        return None


def _unknown(what: str) -> NotFound:
    return NotFound(
        f"there is no document {what[:200]!r}", hint="list them with `kb list docs`, or run `kb ingest` first"
    )
