"""The one place that picks adapters. Heavy ones are imported and made when first used."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Sequence
from datetime import datetime

from kb.adapters.files.assets import CopiedAssets
from kb.adapters.files.cache import FileTextCache
from kb.adapters.files.ground import WorkspaceGround
from kb.adapters.files.lock import LibraryLock
from kb.adapters.files.workspace import WorkspaceFiles
from kb.adapters.sqlite.documents import SqliteDocumentWriter
from kb.adapters.sqlite.expected import SqliteExpected
from kb.adapters.sqlite.ground import SqliteGroundStore
from kb.adapters.sqlite.items import SqliteItemStore
from kb.adapters.sqlite.search_counters import SqliteSearchCounters
from kb.adapters.workers.confinement import give_back_memory
from kb.answering.pipeline import AnswerPipeline
from kb.app.bootstrap.generations import GenerationParts
from kb.app.bootstrap.made_once import made_once
from kb.app.bootstrap.searching import ServingRetriever
from kb.app.channels import Channels
from kb.app.config_file import Configuration
from kb.app.counting import EvidenceFinder
from kb.app.search_counts import counting
from kb.app.watching import Compared
from kb.domain.answers import TraceId
from kb.domain.embeddings import EmbeddingModel
from kb.domain.errors import KebabError
from kb.domain.failures import ModelUnavailable, StorageFailed
from kb.domain.recipes import DocumentId
from kb.ingest.projections import follow_vectors
from kb.ingest.run_ports import IngestPorts
from kb.ingest.verifying import Verification
from kb.retrieval.graph import LinkedPassages
from kb.retrieval.retriever import Retriever, VectorSide
from kb.retrieval.vector_channel import VectorChannel


class Parts(GenerationParts):
    """Every part of one opened library, made when first asked for; close it to let go of all.

    Raises:
        StorageFailed: the library cannot be opened.
    """

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self._lock = threading.RLock()
        self._freshened = -1

    def workspace_files(self) -> WorkspaceFiles:
        """Return the files of the workspace."""
        configuration, indexing = self.configuration, self.settings.indexing
        return WorkspaceFiles(
            configuration.workspace,
            cache=FileTextCache(configuration.locations.cache_dir / "ignore.json"),
            max_file_bytes=indexing.max_file_mb << 20,
            max_recording_bytes=indexing.max_recording_mb << 20,
        )

    def ingest_ports(self) -> IngestPorts:
        """Return everything an ingest run works with."""
        configuration, storage = self.configuration, self.settings.storage
        limit = storage.copy_threshold_mb << 20
        assets = CopiedAssets(
            configuration.data_dir, configuration.workspace, copy_threshold_bytes=limit, copies=storage.copy_originals
        )
        return IngestPorts(
            files=self.workspace_files(),
            assets=assets,
            items=SqliteItemStore(self.library),
            documents=SqliteDocumentWriter(self.library),
            maker=self.maker,
            vectors=self.vectors,
            log=self.log,
            text_index=self.text_index,
            vector_indexes=self.vector_indexes,
            embedder=self.embedder,
            together=self.library.transaction,
            artifacts=self.artifacts,
            give_back=give_back_memory,
            verification=Verification(self.versions, self.text_index),
            work_off=self.work_off_removals,
            ground_store=SqliteGroundStore(self.library),
            ground_reader=WorkspaceGround(configuration.workspace),
            makers=self.makers,
        )

    @made_once
    def channels(self) -> Channels:
        """Return what lets the indexes follow a change of passages."""
        return Channels(self)

    @made_once
    def compared(self) -> Compared:
        """Return what runs found missing, and when everything was compared."""
        return Compared(now)

    @made_once
    def search_counters(self) -> SqliteSearchCounters:
        """Return the counts of searches."""
        return SqliteSearchCounters(self.library, today=lambda: now().date())

    @made_once
    def expected(self) -> SqliteExpected:
        """Return what people expected to find."""
        return SqliteExpected(self.library)

    @made_once
    def retriever(self) -> Retriever:
        """Return the search."""
        side = None
        if self.embedder is not None:
            channel = VectorChannel(self.scan, self.chroma, self.settings.search.vector_engine)
            side = VectorSide(self.embedder, channel, self.scan, self.chunks)
        return Retriever(
            self.chunks,
            self.text_index,
            side,
            graph=LinkedPassages(self.link_graph) if self.settings.graph.enabled else None,
            reranker=self.reranker,
            no_vectors=self.no_vectors,
            clock_ms=lambda: time.perf_counter() * 1000,
            new_trace_id=lambda: new_trace_id("ret"),
        )

    def ready_retriever(self) -> ServingRetriever:
        """Return the search of what serves; before each the exact vector index is brought up to date."""
        return ServingRetriever(self.turnstile, self.fresh_retriever, counting(self.search_counters))

    def asking_retriever(self) -> ServingRetriever:
        """Return the same search, which counts nothing: what asks why is no search of a person."""
        return ServingRetriever(self.turnstile, self.fresh_retriever)

    def fresh_retriever(self) -> Retriever:
        """Return the search after bringing the exact vector index up to date, which embeds nothing."""
        with self._lock:
            # Read before: what is committed meanwhile may have come too late.
            revision = self.library.revision
            if self.model is not None and self._freshened != revision:
                self._freshen(self.model)
                self._freshened = revision
        return self.retriever

    def pipeline(self, provider: str) -> AnswerPipeline:
        """Return what answers with a provider.

        Raises:
            ModelUnavailable: the provider has no model.
        """
        model = self.language_model() if provider == "llama_cpp" else None
        if provider not in {"llama_cpp", "extractive"}:
            raise ModelUnavailable(f"the provider {provider!r} is not configured", hint="use extractive or llama_cpp")
        evidence = EvidenceFinder(self.ready_retriever(), lambda: self.chunks.facts(self.model).unread_items)
        return AnswerPipeline(
            evidence, model, self.answers, clock=now, new_trace_id=lambda: TraceId(new_trace_id("ans"))
        )

    def warm(self) -> None:
        """Load what the first question would wait for; on a thread of its own, and failing in silence."""
        if self.embedder is not None:
            with contextlib.suppress(KebabError):
                self.fresh_retriever()
                self.embedder.embed_query("")

    def orphans(self) -> Sequence[DocumentId]:
        """Return documents that are gone and have artifacts all the same: purged, or never committed."""
        return self.integrity.unknown_documents(self.artifacts.documents())

    def discard_orphans(self) -> None:
        """Remove the artifacts of such documents; to be called by the thread of the jobs, which may be writing some.

        While a backup reads files by what the library said a moment ago they stay for the next time.
        """
        if not self.files_held:
            self.artifacts.discard(self.orphans())

    def close(self) -> None:
        """Stop children and let go of files."""
        for name in ("search_counters", "channels", "reader", "chroma", "scan", "text_index"):
            part = self.__dict__.get(name)
            if part is not None:
                part.close()
        self.library.close()

    def _freshen(self, model: EmbeddingModel) -> None:
        if self.scan.ready(model, self.chunks.facts(model).vector_position):
            return
        try:
            follow_vectors(self.log, model, self.scan)
        except StorageFailed:
            # The search itself then says that vectors are missing.
            return


def library_lock(configuration: Configuration, owner: str, wait_seconds: float) -> LibraryLock:
    """Return the lock of a library, not yet taken."""
    return LibraryLock(configuration.data_dir, owner, wait_seconds=wait_seconds)


def now() -> datetime:
    """Return the time with the person's zone."""
    return datetime.now().astimezone()


def new_trace_id(kind: str) -> str:
    """Return a fresh id such as `ret_4a8b2c1e0d9f`."""
    return f"{kind}_{secrets.token_hex(8)}"
