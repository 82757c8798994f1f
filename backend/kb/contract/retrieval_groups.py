"""Groups of the facade that shape and prove retrieval; as `groups`, part of the method table."""

from __future__ import annotations

from typing import Protocol

from kb.contract.base import Empty
from kb.contract.chunking import Chunking, ChunkingPending, ChunkingPendingRequest, ChunkingRequest, SetChunkingRequest
from kb.contract.chunking_preview import ChunkingPreview, PreviewChunkingRequest
from kb.contract.collection_requests import (
    CollectionItemsRequest,
    CollectionRequest,
    CollectionsRequest,
    CreateCollectionRequest,
    MembersRequest,
    OrderCollectionRequest,
    UpdateCollectionRequest,
)
from kb.contract.collections import CollectionItems, Collections, CollectionView
from kb.contract.comparing import EvalCompare, EvalCompareRequest, EvalGate, EvalGateRequest
from kb.contract.connections import (
    ConnectionKeyRemoveRequest,
    ConnectionKeyRequest,
    Connections,
    ConnectionTest,
    ConnectionTestRequest,
)
from kb.contract.evaluation import EvalGetRequest, EvalQueries, EvalRun, EvalRuns, EvalRunsRequest
from kb.contract.graph import AddLinkRequest, GraphLinks, GraphLinksRequest, GraphState, GraphStateRequest, LinkRequest
from kb.contract.graph_reading import GraphReadRequest, GraphReport
from kb.contract.items import ItemRequest
from kb.contract.jobs import Job, JobRequest
from kb.contract.reprocessing import ReprocessReport, ReprocessRequest
from kb.contract.suites import EvalAddRequest, EvalChanged, EvalImportRequest, EvalRunRequest, EvalSuites


class ChunkingGroup(Protocol):
    """How files are cut into passages, and making them anew one by one."""

    def get(self, request: ChunkingRequest) -> Chunking:
        """Return how a file, or the workspace, is meant to be cut and is cut."""

    def set(self, request: SetChunkingRequest) -> Chunking:
        """Keep settings of one file's own; nothing is cut by them until it is made anew."""

    def pending(self, request: ChunkingPendingRequest) -> ChunkingPending:
        """Return which files are cut otherwise than is wanted of them."""

    def rebuild(self, request: ReprocessRequest) -> Job:
        """Start making files anew, each replaced whole."""

    def rebuilt(self, request: JobRequest) -> ReprocessReport:
        """Return what a rebuild that ended did."""

    def preview(self, request: PreviewChunkingRequest) -> ChunkingPreview:
        """Cut one file with some settings and keep nothing."""


class CollectionsGroup(Protocol):
    """Named sets of items; every change says which revision it is made for."""

    def list(self, request: CollectionsRequest) -> Collections:
        """Return the collections by position, or those that are archived."""

    def create(self, request: CreateCollectionRequest) -> CollectionView:
        """Add a collection behind the others."""

    def update(self, request: UpdateCollectionRequest) -> CollectionView:
        """Change the name, rules or settings of a collection."""

    def order(self, request: OrderCollectionRequest) -> CollectionView:
        """Put a collection at another place among the others."""

    def archive(self, request: CollectionRequest) -> CollectionView:
        """Take a collection out of lists and scopes; its files stay, and so does what it knows of them."""

    def restore(self, request: CollectionRequest) -> CollectionView:
        """Undo `archive`; it stands behind the others."""

    def add(self, request: MembersRequest) -> CollectionView:
        """Put files into a collection by hand."""

    def leave_out(self, request: MembersRequest) -> CollectionView:
        """Take files out of a collection; rules do not bring them back."""

    def items(self, request: CollectionItemsRequest) -> CollectionItems:
        """Return a page of what a collection holds."""

    def of(self, request: ItemRequest) -> Collections:
        """Return the collections that a file is in."""


class ConnectionsGroup(Protocol):
    """Which models are used, where they run, and their keys."""

    def list(self, request: Empty) -> Connections:
        """Return every role and where its data goes; asks no server."""

    def test(self, request: ConnectionTestRequest) -> ConnectionTest:
        """Send one harmless sentence to a connection and say how it went."""

    def set_key(self, request: ConnectionKeyRequest) -> Connections:
        """Keep the key of a server in the system's key store."""

    def remove_key(self, request: ConnectionKeyRemoveRequest) -> Connections:
        """Forget the key of a server."""


class GraphGroup(Protocol):
    """Links between files, which people may add and take away."""

    def state(self, request: GraphStateRequest) -> GraphState:
        """Return the links of the library in numbers, and targets that are not clear."""

    def links(self, request: GraphLinksRequest) -> GraphLinks:
        """Return a page of the links of a file, in and out."""

    def add(self, request: AddLinkRequest) -> GraphLinks:
        """Link two files by hand."""

    def remove(self, request: LinkRequest) -> GraphLinks:
        """Take a link away; reading links again does not bring it back."""

    def restore(self, request: LinkRequest) -> GraphLinks:
        """Undo `remove`."""

    def rebuild(self, request: GraphReadRequest) -> Job:
        """Start reading the links of files."""

    def rebuilt(self, request: JobRequest) -> GraphReport:
        """Return what a finished `rebuild` found."""


class EvaluationGroup(Protocol):
    """How good search is: questions with what is right, asked again and again."""

    def suites(self, request: Empty) -> EvalSuites:
        """Return the suites in the data folder."""

    def run(self, request: EvalRunRequest) -> Job:
        """Start asking the questions of a suite."""

    def report(self, request: JobRequest) -> EvalRun:
        """Return how good a finished run was."""

    def runs(self, request: EvalRunsRequest) -> EvalRuns:
        """Return the newest runs."""

    def get(self, request: EvalGetRequest) -> EvalQueries:
        """Return a page of the questions of a run, or of those that failed."""

    def compare(self, request: EvalCompareRequest) -> EvalCompare:
        """Hold a run against another, question by question."""

    def gate(self, request: EvalGateRequest) -> EvalGate:
        """Say whether a run is good enough, and which questions failed."""

    def add(self, request: EvalAddRequest) -> EvalChanged:
        """Add a golden query at the end of a suite, which is made if need be."""

    def take_in(self, request: EvalImportRequest) -> EvalChanged:
        """Make a suite of questions and judgements of others."""
