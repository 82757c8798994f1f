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
from kb.contract.backup import Backup, BackupCreateRequest, BackupRequest, Backups, BackupVerify, MergeReport
from kb.contract.base import Empty
from kb.contract.chunks import ChunkInspection, ChunksPage, ChunksRequest, InspectRequest
from kb.contract.counters import CountersRequest, SearchCounters
from kb.contract.coverage import Coverage, CoverageRequest
from kb.contract.events import StreamEvent
from kb.contract.files import LocalFile
from kb.contract.generations import (
    BuildRequest,
    GenerationReport,
    GenerationRequest,
    Generations,
    SwitchRequest,
)
from kb.contract.index import CompactReport, CompactRequest, IndexReport, IndexVerify, RebuildRequest, VerifyRequest
from kb.contract.ingest import IngestReport, IngestRequest
from kb.contract.items import ItemRequest, Items, ItemsRequest, ItemView
from kb.contract.jobs import Job, JobRequest, JobsPage, JobsRequest
from kb.contract.layers import (
    ChunkChange,
    ChunkLayers,
    ChunkRequest,
    EditChunkRequest,
    EnableChunkRequest,
    LayersRequest,
    RestoreRequest,
)
from kb.contract.library import DocumentsPage, DocumentsRequest, DocumentView, LibrarySummary, ShowRequest
from kb.contract.masked import Masked
from kb.contract.names import Names, NamesRequest, ParsedQuery, ParseRequest
from kb.contract.replay import GenerationPreview
from kb.contract.retrieval import RetrievalResponse
from kb.contract.saved_searches import ForgetSearchRequest, SavedSearches, SaveSearchRequest
from kb.contract.search import FindRequest
from kb.contract.system import Doctor, DoctorRequest, Health
from kb.contract.versions import DiffRequest, PurgeReport, PurgeRequest, VersionDiff, Versions
from kb.contract.viewer import View, ViewerContext, ViewerContextRequest, ViewerOpenRequest
from kb.contract.watching import Watch
from kb.contract.why import Why, WhyRequest


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

    def watching(self, request: Empty) -> Watch:
        """Say how the workspace is followed, and what waits for a word."""


class VersionsGroup(Protocol):
    """What documents have been, and what is let go of."""

    def history(self, request: ShowRequest) -> Versions:
        """Return what a document has been, newest first."""

    def diff(self, request: DiffRequest) -> VersionDiff:
        """Return what changed between two versions of a document."""

    def purge(self, request: PurgeRequest) -> PurgeReport:
        """Let go of earlier versions that nothing needs."""

    def remove(self, request: ItemRequest) -> ItemView:
        """Take a file out of the library; the file itself stays, and is not read again until it is put back."""

    def put_back(self, request: ItemRequest) -> ItemView:
        """Undo `remove`."""


class SearchGroup(Protocol):
    """Finding passages."""

    def find(self, request: FindRequest) -> RetrievalResponse:
        """Return ranked passages and how they were found."""

    def why(self, request: WhyRequest) -> Why:
        """Say which step dropped what was expected, with ranks and scores there; changes nothing."""

    def names(self, request: NamesRequest) -> Names:
        """Return items by their names, best first."""

    def parse(self, request: ParseRequest) -> ParsedQuery:
        """Take a query apart, for the chips of the search box; what cannot be meant is said, never refused."""

    def counters(self, request: CountersRequest) -> SearchCounters:
        """Return searches in numbers."""

    def saved(self, request: Empty) -> SavedSearches:
        """Return the searches that are kept, by name."""

    def save(self, request: SaveSearchRequest) -> SavedSearches:
        """Keep a search by a name."""

    def forget(self, request: ForgetSearchRequest) -> SavedSearches:
        """Keep a search no longer."""


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
        """Return a page of the chunks of a document, also of those that hold some letters."""

    def edit(self, request: EditChunkRequest) -> ChunkChange:
        """Let a chunk say something else; it is kept when the file is read again."""

    def enable(self, request: EnableChunkRequest) -> ChunkChange:
        """Take a chunk out of search, or put it back."""

    def delete(self, request: ChunkRequest) -> ChunkChange:
        """Take a chunk out for good; it stays so when the file is read again, until it is restored."""

    def undo(self, request: ChunkRequest) -> ChunkChange:
        """Undo the last change of a chunk."""

    def restore(self, request: RestoreRequest) -> ChunkChange:
        """Let a chunk be what the file says, or take one change off."""

    def layers(self, request: LayersRequest) -> ChunkLayers:
        """Return what people changed in chunks, and what of it fits no more."""


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

    def pause(self, request: JobRequest) -> Job:
        """Let a job rest at its next safe point."""

    def resume(self, request: JobRequest) -> Job:
        """Let a paused job go on."""

    def retry(self, request: JobRequest) -> Job:
        """Start a job that failed or was canceled anew, as another job."""


class IndexGroup(Protocol):
    """The projections of the library."""

    def rebuild(self, request: RebuildRequest) -> Job:
        """Start building projections anew."""

    def report(self, request: JobRequest) -> IndexReport:
        """Return what a finished rebuild wrote."""

    def verify(self, request: VerifyRequest) -> IndexVerify:
        """Compare the projections with the library."""

    def compact(self, request: CompactRequest) -> Job:
        """Start giving back disk space."""

    def compacted(self, request: JobRequest) -> CompactReport:
        """Return what a finished `compact` gave back."""


class GenerationsGroup(Protocol):
    """Complete sets of index data, of which one serves."""

    def list(self, request: Empty) -> Generations:
        """Return the generations, and how the settings differ from the serving one."""

    def build(self, request: BuildRequest) -> Job:
        """Start building a generation for the settings as they are."""

    def built(self, request: JobRequest) -> GenerationReport:
        """Return what a finished build or switch did."""

    def preview(self, request: GenerationRequest) -> GenerationPreview:
        """Ask the kept questions of a generation and of the serving one, and compare."""

    def switch(self, request: SwitchRequest) -> Job:
        """Start serving another generation, all at once."""

    def rollback(self, request: Empty) -> Job:
        """Start serving again the generation that served before."""

    def discard(self, request: GenerationRequest) -> Generations:
        """Let go of a generation that does not serve."""


class BackupGroup(Protocol):
    """The whole library in one file. Putting one back needs the library closed: `kb backup restore`."""

    def create(self, request: BackupCreateRequest) -> Job:
        """Start writing a backup."""

    def report(self, request: JobRequest) -> Backup:
        """Return what a finished backup holds."""

    def list(self, request: Empty) -> Backups:
        """Return the backups in the library's own folder."""

    def verify(self, request: BackupRequest) -> BackupVerify:
        """Check that everything in a backup is whole."""

    def merge(self, request: BackupRequest) -> Job:
        """Start taking in what a backup has and this library has not."""

    def merged(self, request: JobRequest) -> MergeReport:
        """Return what a finished merge took in."""


class SystemGroup(Protocol):
    """The program itself."""

    def doctor(self, request: DoctorRequest) -> Doctor:
        """Check everything that must be in order."""

    def health(self, request: Empty) -> Health:
        """Say that the server works."""
