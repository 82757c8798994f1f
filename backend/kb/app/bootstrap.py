"""The one place that picks adapters. Heavy ones are imported and made when first used."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from kb.adapters.files.artifacts import FileArtifacts
from kb.adapters.files.assets import CopiedAssets
from kb.adapters.files.cache import FileTextCache
from kb.adapters.files.lock import LibraryLock
from kb.adapters.files.workspace import WorkspaceFiles
from kb.adapters.sqlite.answers import SqliteAnswerStore
from kb.adapters.sqlite.catalogue import SqliteCatalogue
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.documents import SqliteDocumentWriter
from kb.adapters.sqlite.gate import SqliteGatedChunks
from kb.adapters.sqlite.index_log import SqliteIndexLog
from kb.adapters.sqlite.integrity import SqliteIntegrity
from kb.adapters.sqlite.items import SqliteItemStore
from kb.adapters.sqlite.jobs import SqliteJobControl, SqliteJobStore
from kb.adapters.sqlite.reading import SqliteReading
from kb.adapters.sqlite.runs import SqliteIngestRuns
from kb.adapters.sqlite.vectors import SqliteVectorStore
from kb.adapters.workers.confinement import give_back_memory
from kb.answering.pipeline import AnswerPipeline
from kb.app.config_file import Configuration
from kb.app.counting import CountingEmbedder, EvidenceFinder
from kb.app.models import find_folder, find_language_model
from kb.app.originals import Originals
from kb.domain.answers import ModelRef, TraceId
from kb.domain.chunks import ChunkPolicy
from kb.domain.embeddings import EmbeddingModel
from kb.domain.errors import KebabError
from kb.domain.failures import ModelUnavailable, StorageFailed
from kb.domain.recipes import DocumentId
from kb.ingest.pipeline import IngestPorts
from kb.ingest.projections import follow_vectors
from kb.jobs.endings import RememberedEnds
from kb.retrieval.retriever import Retriever, VectorSide
from kb.retrieval.vector_channel import VectorChannel

if TYPE_CHECKING:
    from kb.adapters.chroma.index import ChromaVectors
    from kb.adapters.models.language.llama_cpp_model import LlamaCppModel
    from kb.adapters.tantivy.index import TantivyTextIndex
    from kb.adapters.vectorscan.index import ScanVectors
    from kb.adapters.workers.reader import ChildReader
    from kb.ingest.library_ports import VectorIndexWriter
    from kb.ingest.making import ParsedAndChunked
    from kb.ingest.ports import TextDecoder

T = TypeVar("T")


class _made_once(cached_property[T]):  # noqa: N801 - used as the decorator it stands for
    """A part made once, whichever threads ask first: a second Chroma or Tantivy would work against the first.

    Python 3.12 took the lock out of `cached_property`.
    """

    @overload
    def __get__(self, parts: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, parts: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, parts: Any, owner: type[Any] | None = None) -> Self | T:
        if parts is None:
            return self
        with parts.making:
            made: T = super().__get__(parts, owner)
            return made


class Parts:
    """Every part of one opened library, made when first asked for; close it to let go of all.

    Raises:
        StorageFailed: the library cannot be opened.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.settings = configuration.settings
        self.library = Library(configuration.data_dir)
        self.model_problem: ModelUnavailable | None = None
        self.making = threading.RLock()
        self._lock = threading.RLock()
        self._language_models: dict[str, LlamaCppModel] = {}
        self._freshened = -1

    # the library

    @_made_once
    def chunks(self) -> SqliteGatedChunks:
        """Return the final gate."""
        return SqliteGatedChunks(self.library)

    @_made_once
    def catalogue(self) -> SqliteCatalogue:
        """Return the lists of the library."""
        return SqliteCatalogue(self.library)

    @_made_once
    def reading(self) -> SqliteReading:
        """Return what shows one document."""
        return SqliteReading(self.library)

    @_made_once
    def log(self) -> SqliteIndexLog:
        """Return the index log."""
        return SqliteIndexLog(self.library)

    @_made_once
    def vectors(self) -> SqliteVectorStore:
        """Return the vectors of the library."""
        return SqliteVectorStore(self.library)

    @_made_once
    def answers(self) -> SqliteAnswerStore:
        """Return the kept answers."""
        return SqliteAnswerStore(self.library)

    @_made_once
    def runs(self) -> SqliteIngestRuns:
        """Return the ingest runs."""
        return SqliteIngestRuns(self.library)

    @_made_once
    def integrity(self) -> SqliteIntegrity:
        """Return the checks of the library file."""
        return SqliteIntegrity(self.library)

    @_made_once
    def artifacts(self) -> FileArtifacts:
        """Return the words with boxes and the transcripts of documents."""
        return FileArtifacts(self.configuration.data_dir)

    @_made_once
    def originals(self) -> Originals:
        """Return what finds the bytes of items."""
        from kb.app.readers import renditions

        configuration = self.configuration
        return Originals(configuration.workspace, configuration.data_dir, renditions(configuration.locations.cache_dir))

    @_made_once
    def job_store(self) -> RememberedEnds:
        """Return the job queue."""
        return RememberedEnds(SqliteJobStore(self.library), SqliteJobControl(self.library))

    @property
    def job_control(self) -> RememberedEnds:
        """Return what looks at jobs."""
        return self.job_store

    @_made_once
    def library_id(self) -> str:
        """Return the id that stamps of projections carry."""
        return self.library.meta("library_id") or ""

    # the projections

    @_made_once
    def text_index(self) -> TantivyTextIndex:
        """Return the full-text index."""
        from kb.adapters.tantivy.index import TantivyTextIndex

        return TantivyTextIndex(self.configuration.data_dir / "tantivy", self.library_id)

    @_made_once
    def scan(self) -> ScanVectors:
        """Return the exact vector index."""
        from kb.adapters.vectorscan.index import ScanVectors

        return ScanVectors(self.configuration.data_dir / "vectors", self.library_id)

    @_made_once
    def chroma(self) -> ChromaVectors | None:
        """Return Chroma, None when the settings leave it out."""
        if self.settings.search.vector_engine == "scan":
            return None
        from kb.adapters.chroma.index import ChromaVectors

        return ChromaVectors(self.configuration.data_dir / "chroma", self.library_id)

    @property
    def vector_indexes(self) -> Sequence[VectorIndexWriter]:
        """Return the vector indexes in use, the exact one first; none without a model, which spares importing numpy."""
        if self.model is None:
            return []
        return [self.scan, *([self.chroma] if self.chroma is not None else [])]

    # the models

    @_made_once
    def embedder(self) -> CountingEmbedder | None:
        """Return the embedder; None without one, and `model_problem` says why."""
        if self.settings.models.embedding.provider == "none":
            return None
        try:
            return self._load_embedder(self.settings.models.embedding.model)
        except ModelUnavailable as error:
            self.model_problem = error
            return None

    @property
    def model(self) -> EmbeddingModel | None:
        """Return the embedding model in use."""
        return self.embedder.model if self.embedder else None

    def language_model(self) -> LlamaCppModel:
        """Return the configured language model.

        Raises:
            ModelUnavailable: none is chosen, or it is not installed.
        """
        wanted = self.settings.models.llm
        file = find_language_model(wanted.model, self._model_places)
        with self._lock:
            if file.id not in self._language_models:
                from kb.adapters.models.language.llama_cpp_model import LlamaCppModel
                from kb.adapters.models.language.trial import ModelTrial

                window = min(wanted.context_tokens, file.context_tokens or wanted.context_tokens)
                self._language_models[file.id] = LlamaCppModel(
                    file.path,
                    ModelRef(file.id, "llama_cpp"),
                    window,
                    wanted.threads or None,
                    ModelTrial(self.configuration.locations.cache_dir / "model-trials.json"),
                )
            return self._language_models[file.id]

    @property
    def _model_places(self) -> Sequence[Path]:
        return [self.configuration.locations.bundled_models, self.configuration.data_dir / "models"]

    # the work

    @_made_once
    def decoder(self) -> TextDecoder:
        """Return what makes text of bytes."""
        from kb.adapters.encoding.decoder import CharsetNormalizerDecoder

        return CharsetNormalizerDecoder()

    @_made_once
    def reader(self) -> ChildReader:
        """Return what reads every kind of file but text, in child processes that start with the first such file."""
        from kb.app.readers import child_reader

        settings, folder = self.settings, self.configuration.data_dir / "scratch"
        limits, width = settings.limits.for_reading(), settings.indexing.max_parallel_files
        return child_reader(self.decoder, self._model_places, limits, folder, width)

    @_made_once
    def maker(self) -> ParsedAndChunked:
        """Return parsers, masking, chunker and policy put together."""
        from kb.app.readers import document_maker

        chunking, model = self.settings.chunking, self.model
        policy = ChunkPolicy(
            mode=chunking.mode,
            target_characters=chunking.target_characters,
            overlap_characters=chunking.overlap_characters,
            max_tokens=model.max_tokens if model else None,
        )
        tokenizer = self.embedder.tokenizer if self.embedder else None
        return document_maker(self.decoder, self.reader, policy, tokenizer, self.settings.models.caption)

    def ingest_ports(self) -> IngestPorts:
        """Return everything an ingest run works with."""
        configuration, storage = self.configuration, self.settings.storage
        files = WorkspaceFiles(
            configuration.workspace,
            cache=FileTextCache(configuration.locations.cache_dir / "ignore.json"),
            max_file_bytes=self.settings.indexing.max_file_mb << 20,
            max_recording_bytes=self.settings.indexing.max_recording_mb << 20,
        )
        limit = storage.copy_threshold_mb << 20
        assets = CopiedAssets(
            configuration.data_dir, configuration.workspace, copy_threshold_bytes=limit, copies=storage.copy_originals
        )
        return IngestPorts(
            files=files,
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
        )

    @_made_once
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
            clock_ms=lambda: time.perf_counter() * 1000,
            new_trace_id=lambda: new_trace_id("ret"),
        )

    def ready_retriever(self) -> Retriever:
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
                self.ready_retriever()
                self.embedder.embed_query("")

    def orphans(self) -> Sequence[DocumentId]:
        """Return documents that are gone and have artifacts all the same: purged, or never committed."""
        return self.integrity.unknown_documents(self.artifacts.documents())

    def close(self) -> None:
        """Stop children and let go of files."""
        for name in ("reader", "chroma", "scan", "text_index"):
            part = self.__dict__.get(name)
            if part is not None:
                part.close()
        self.library.close()

    def _load_embedder(self, name: str) -> CountingEmbedder:
        folder = find_folder(name, self._model_places)
        if folder is None:
            raise ModelUnavailable(
                f"the embedding model {name!r} is not installed",
                hint="run `python3 dev.py setup`, or set models.embedding.model to the folder of a model",
            )
        from kb.adapters.models.embedding.fastembed_embedder import FastembedEmbedder
        from kb.adapters.models.embedding.tokenizer import EmbedderTokenizer

        return CountingEmbedder(FastembedEmbedder(folder), EmbedderTokenizer(folder))

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
