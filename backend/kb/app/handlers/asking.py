"""The library as a run asks it, and what the run was made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from kb import __version__
from kb.answering.pipeline import AnswerPipeline, AnswerSettings
from kb.answering.ports import AnswerRecord
from kb.answering.prompt import PROMPT_VERSION
from kb.app.bootstrap import Parts, new_trace_id, now
from kb.app.evaluation.keeping import EvalKeeping
from kb.app.facade.search import query_of
from kb.contract.search import RetrievalOptions
from kb.domain.answers import Answer, TraceId
from kb.domain.citations import cite
from kb.domain.failures import ModelUnavailable
from kb.domain.ids import Json
from kb.domain.recipes import ChunkId
from kb.domain.search import SearchMode
from kb.evaluation.running import Ask, KnownChunk, Library, RunSettings
from kb.retrieval.results import SearchResult
from kb.retrieval.values import SearchQuery


class Unkept:
    """Keeps no answer: questions of a suite are not a person's."""

    def keep(self, record: AnswerRecord) -> None:
        """Do nothing."""

    def get(self, trace_id: str) -> AnswerRecord | None:
        """Return none."""

    def recent(self, limit: int) -> list[AnswerRecord]:
        """Return none."""
        del limit
        return []


class Watched:
    """Evidence that remembers what was found for the last question."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.found: SearchResult | None = None

    def search(self, query: SearchQuery) -> SearchResult:
        """Return what was found, with how."""
        self.found = self._parts.ready_retriever().search(query)
        return self.found

    def unread_items(self) -> int:
        """Return how many items of the library could not be searched."""
        return self._parts.chunks.facts(self._parts.model).unread_items


def library_of(parts: Parts, *, provider: str | None) -> Library:
    """Return what a run asks: the real retriever, and with a provider the real pipeline, which keeps nothing here."""
    return Library(parts.ready_retriever(), _ask(parts, provider) if provider else None, lambda one: _known(parts, one))


def settings_of(parts: Parts, payload: Mapping[str, Json]) -> RunSettings:
    """Return how a run asks: as configured, but for what was asked for."""
    options = RetrievalOptions.model_validate({"top_k": payload.get("top_k"), "rerank": payload.get("rerank")})
    mode = str(payload.get("mode", "hybrid"))
    query = query_of("", mode, options, parts.settings.search)
    return RunSettings(SearchMode(mode), query.settings, parts.settings.rag.score_gate)


def config_of(parts: Parts, keeping: EvalKeeping, settings: RunSettings, provider: str | None) -> dict[str, Json]:
    """Return what a run is made with."""
    facts, cuts = parts.chunks.facts(parts.model), keeping.cuts()
    chunkers: list[Json] = [*dict.fromkeys(chunker for chunker, _ in cuts)]
    policies: list[Json] = [*dict.fromkeys(policy for _, policy in cuts)]
    retrieval: dict[str, Json] = {**asdict(settings.retrieval), "mode": settings.mode.value}
    return {
        "chunkers": chunkers,
        "policies": policies,
        "embedding": f"{parts.model.id} {parts.model.fingerprint()[:12]}" if parts.model else None,
        "prompt": PROMPT_VERSION if provider else None,
        "provider": provider,
        "settings": {**retrieval, "score_gate": settings.score_gate},
        "library": {"passages": facts.chunks, "vectors": facts.vectors, "unread_items": facts.unread_items},
        "version": __version__,
    }


def _ask(parts: Parts, provider: str) -> Ask:
    if provider not in {"llama_cpp", "extractive"}:
        raise ModelUnavailable(f"the provider {provider!r} is not configured", hint="use extractive or llama_cpp")
    model = parts.language_model() if provider == "llama_cpp" else None
    evidence = Watched(parts)
    pipeline = AnswerPipeline(evidence, model, Unkept(), clock=now, new_trace_id=lambda: TraceId(new_trace_id("evl")))
    llm, gate = parts.settings.models.llm, parts.settings.rag.score_gate
    how = AnswerSettings(gate, llm.max_answer_tokens, llm.temperature, llm.seed)

    def ask(query: SearchQuery) -> tuple[SearchResult, Answer]:
        answer = pipeline.ask(query, how)
        assert evidence.found is not None, "the pipeline searches before it answers"  # noqa: S101 - an invariant
        return evidence.found, answer

    return ask


def _known(parts: Parts, chunk_id: str) -> KnownChunk | None:
    kept = parts.reading.kept_chunk(ChunkId(chunk_id))
    if kept is None:
        return None
    chunk = kept.stored.chunk
    return KnownChunk(cite(kept.stored.path, chunk.source_spans, None).to_uri(), kept.is_shown)
