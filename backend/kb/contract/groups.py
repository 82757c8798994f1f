"""The facade in groups: one method, one request, one reply. These annotations are the method table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kb.contract.answers import (
    Answer,
    AnswerRequest,
    AnswersPage,
    AnswersRequest,
    AnswerStop,
    AskRequest,
    StopRequest,
)
from kb.contract.base import Empty
from kb.contract.chunks import ChunkInspection, ChunksPage, ChunksRequest, InspectRequest
from kb.contract.coverage import Coverage, CoverageRequest
from kb.contract.events import StreamEvent
from kb.contract.files import LocalFile
from kb.contract.index import IndexReport, IndexVerify, RebuildRequest
from kb.contract.ingest import IngestReport, IngestRequest
from kb.contract.items import ItemRequest, Items, ItemsRequest, ItemView
from kb.contract.jobs import Job, JobRequest, JobsPage, JobsRequest
from kb.contract.library import DocumentsPage, DocumentsRequest, DocumentView, LibrarySummary, ShowRequest
from kb.contract.masked import Masked
from kb.contract.retrieval import RetrievalResponse
from kb.contract.search import FindRequest
from kb.contract.system import Doctor, Health
from kb.contract.viewer import View, ViewerContext, ViewerContextRequest, ViewerOpenRequest


class LibraryGroup(Protocol):
    """The workspace and its documents."""

    def ingest(self, request: IngestRequest) -> Job:
        """Start reading the workspace."""

    def report(self, request: JobRequest) -> IngestReport:
        """Return what a finished ingest did."""

    def items(self, request: ItemsRequest) -> Items:
        """Return a page of files with their states."""

    def item(self, request: ItemRequest) -> ItemView:
        """Return one file with its state."""

    def coverage(self, request: CoverageRequest) -> Coverage:
        """Return what was read of one file."""

    def masked(self, request: ShowRequest) -> Masked:
        """Return where secrets were left out of one document."""

    def documents(self, request: DocumentsRequest) -> DocumentsPage:
        """Return a page of documents."""

    def show(self, request: ShowRequest) -> DocumentView:
        """Return one document with its outline."""

    def summary(self, request: Empty) -> LibrarySummary:
        """Return the library in numbers."""


class SearchGroup(Protocol):
    """Finding passages."""

    def find(self, request: FindRequest) -> RetrievalResponse:
        """Return ranked passages and how they were found."""


class AnswersGroup(Protocol):
    """Answers from the workspace."""

    def ask(self, request: AskRequest) -> Answer:
        """Return a cited answer or a refusal."""

    def stream(self, request: AskRequest, sink: Callable[[StreamEvent], None]) -> Answer:
        """Answer as `ask` does, telling `sink` on the way; a sink that fails costs the answer nothing."""

    def stop(self, request: StopRequest) -> AnswerStop:
        """End an answer that is being written; what is written so far is kept as its text."""

    def get(self, request: AnswerRequest) -> Answer:
        """Return a kept answer with its trace."""

    def recent(self, request: AnswersRequest) -> AnswersPage:
        """Return the newest answers."""


class ChunksGroup(Protocol):
    """Chunks as they are stored."""

    def inspect(self, request: InspectRequest) -> ChunkInspection:
        """Return one chunk."""

    def list(self, request: ChunksRequest) -> ChunksPage:
        """Return a page of the chunks of a document."""


class ViewerGroup(Protocol):
    """Opening the place of a citation."""

    def open(self, request: ViewerOpenRequest) -> View:
        """Say what to open and what to mark."""

    def context(self, request: ViewerContextRequest) -> ViewerContext:
        """Return what stands around a chunk."""

    def file(self, item_id: str, doc_id: str | None = None, rendition: str | None = None) -> LocalFile:
        """Return the file of an item, or the kept copy of one version, or its rendition: `opus`, of sound and video.

        Raises:
            NotFound: there is no such item or version, or its original is gone.
            InvalidInput: there is no such rendition of it.
        """

    def markdown(self, item_id: str, doc_id: str | None = None) -> str:
        """Return an item's text as Markdown."""


class JobsGroup(Protocol):
    """Long work."""

    def get(self, request: JobRequest) -> Job:
        """Return one job."""

    def recent(self, request: JobsRequest) -> JobsPage:
        """Return the newest jobs."""

    def cancel(self, request: JobRequest) -> Job:
        """Ask a job to stop; what is committed stays."""


class IndexGroup(Protocol):
    """The projections of the library."""

    def rebuild(self, request: RebuildRequest) -> Job:
        """Start building projections anew."""

    def report(self, request: JobRequest) -> IndexReport:
        """Return what a finished rebuild wrote."""

    def verify(self, request: Empty) -> IndexVerify:
        """Compare the projections with the library."""


class SystemGroup(Protocol):
    """The program itself."""

    def doctor(self, request: Empty) -> Doctor:
        """Check everything that must be in order."""

    def health(self, request: Empty) -> Health:
        """Say that the server works."""
