"""`AnswerPipeline`: search, gates, then a model or the extract, checked, kept, and told as it comes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from kb.answering.drafts import Draft, extracted, refused, with_generation, written
from kb.answering.events import Answered, AnswerSink, ClaimMade, Reader, Searched, TextWithdrawn
from kb.answering.extractive import EXTRACTIVE
from kb.answering.gates import gate, top_score
from kb.answering.generation import Generation, Teller, generate
from kb.answering.grammar import answer_grammar
from kb.answering.phrases import phrases, says_insufficient
from kb.answering.ports import AnswerRecord, AnswerStore, Evidence, GenerateRequest, LanguageModel
from kb.answering.prompt import PROMPT_VERSION, Prompt, Room, build_prompt
from kb.domain.answers import Answer, ModelRef, RefusalReason, RetrievalSummary, TokenUsage, TraceId
from kb.domain.errors import KebabError
from kb.retrieval.results import SearchResult
from kb.retrieval.values import SearchQuery

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How to answer.

    Attributes:
        score_gate: the least relevance (0 to 1) of the best hit.
        completion_tokens: the most a model may write.
    """

    score_gate: float = 0.30
    completion_tokens: int = 512
    temperature: float = 0.0
    seed: int = 0


class AnswerPipeline:
    """Answers questions from the library. Every answer and refusal is kept before it is told.

    Args:
        evidence: finds passages.
        model: writes answers; None for the extractive provider.
        store: keeps answers with their trace.
        clock: the time, with a time zone.
        new_trace_id: a fresh id for each answer.
    """

    def __init__(
        self,
        evidence: Evidence,
        model: LanguageModel | None,
        store: AnswerStore,
        *,
        clock: Callable[[], datetime],
        new_trace_id: Callable[[], TraceId],
    ) -> None:
        self._evidence = evidence
        self._model = model
        self._store = store
        self._clock = clock
        self._new_trace_id = new_trace_id

    def ask(
        self,
        query: SearchQuery,
        settings: AnswerSettings | None = None,
        *,
        sink: AnswerSink | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Answer:
        """Answer `query.text`, or refuse.

        Args:
            query: the question with its scope and search settings.
            settings: gate and generation; None for the defaults.
            sink: takes events; one that vanishes does not harm the answer.
            stop: asked after every piece of text; True ends the generation at once.

        Raises:
            KebabError: the search could not run, or the answer could not be kept.
        """
        settings = settings or AnswerSettings()
        started = self._clock()
        reader = Reader(sink)
        result = self._evidence.search(query)
        reader.tell(Searched(result))
        draft = self._draft(result, settings, reader, stop)
        answer = self._finished(draft, result, settings, started)
        prompt = draft.prompt
        self._store.keep(
            AnswerRecord(
                answer=answer,
                packed=draft.packed,
                prompt_system=prompt.system if prompt else "",
                prompt_user=prompt.user if prompt else "",
                temperature=settings.temperature,
                seed=settings.seed,
            )
        )
        for made in answer.claims:
            reader.tell(ClaimMade(made))
        reader.tell(Answered(answer))
        return answer

    def _draft(self, result: SearchResult, settings: AnswerSettings, reader: Reader, stop: Callable[[], bool]) -> Draft:
        question = result.query.text
        reason = gate(result, settings.score_gate)
        if reason is not None:
            return refused(question, result.hits, reason, self._model.ref if self._model else EXTRACTIVE)
        if self._model is None:
            return _told(extracted(question, result.hits), reader)
        return self._generated(self._model, result, settings, reader, stop)

    def _generated(
        self,
        model: LanguageModel,
        result: SearchResult,
        settings: AnswerSettings,
        reader: Reader,
        stop: Callable[[], bool],
    ) -> Draft:
        question = result.query.text
        # In a small window evidence comes first: an answer to nothing needs no room.
        completion = min(settings.completion_tokens, model.context_tokens // 3)
        room = Room(model.context_tokens, completion, result.query.settings.context_max_characters)
        try:
            prompt = build_prompt(question, result.hits, room, model.count_tokens)
        except KebabError as error:
            _log.warning("the model %s cannot be used: %s", model.ref.id, error.message)
            return _fallback(question, result, "model_unavailable", reader)
        if not prompt.packed:
            return _fallback(question, result, "question_too_long", reader)
        teller = Teller(reader)
        request = _request(prompt, settings, completion, question)
        made = generate(model, request, _numbers(prompt), teller, stop)
        if made.failure is not None:
            if teller.told:
                reader.tell(TextWithdrawn(made.failure))
            return _fallback(question, result, made.failure, reader)
        draft = _judged(question, result, prompt, made, model.ref)
        if draft.refusal_reason is not None and teller.told:
            reader.tell(TextWithdrawn(draft.refusal_reason))
        return draft

    def _finished(self, draft: Draft, result: SearchResult, settings: AnswerSettings, started: datetime) -> Answer:
        now = self._clock()
        query = result.query
        embedding = result.model
        degraded = (*(entry.reason for entry in result.diagnostics.degraded), *draft.degraded)
        return Answer(
            question=query.text,
            text=draft.text,
            grounded=draft.grounded,
            refusal_reason=draft.refusal_reason,
            citations=draft.citations,
            claims=draft.claims,
            model=draft.model,
            embedding=ModelRef(embedding.id, embedding.provider, embedding.dimensions) if embedding else None,
            prompt_template_version=PROMPT_VERSION,
            retrieval=RetrievalSummary(
                trace_id=self._new_trace_id(),
                mode=query.mode,
                k=query.settings.top_k,
                score_gate=settings.score_gate,
                top_score=top_score(result),
                chunks_returned=len(result.hits),
                chunks_used=len(draft.packed),
                passages_searched=result.passages_searched,
                unread_items=self._evidence.unread_items(),
                degraded=tuple(dict.fromkeys(degraded)),
            ),
            usage=TokenUsage(
                draft.prompt_tokens,
                draft.completion_tokens,
                # A clock may be set back while a model writes.
                max(0, round((now - started).total_seconds() * 1000)),
            ),
            finish_reason=draft.finish_reason,
            created_at=now,
        )


def _numbers(prompt: Prompt) -> range:
    return range(1, len(prompt.packed) + 1)


def _request(prompt: Prompt, settings: AnswerSettings, completion: int, question: str) -> GenerateRequest:
    return GenerateRequest(
        system=prompt.system,
        user=prompt.user,
        max_tokens=completion,
        temperature=settings.temperature,
        seed=settings.seed,
        stop=prompt.stop,
        grammar=answer_grammar(_numbers(prompt), phrases(question).insufficient),
    )


def _judged(question: str, result: SearchResult, prompt: Prompt, made: Generation, model: ModelRef) -> Draft:
    """Return the model's answer, or the refusal it chose or earned."""
    if says_insufficient(made.raw):
        return with_generation(refused(question, result.hits, RefusalReason.LLM_SELF_JUDGE, model), prompt, made)
    return written(question, result.hits, prompt, made, model)


def _fallback(question: str, result: SearchResult, why: str, reader: Reader) -> Draft:
    draft = extracted(question, result.hits)
    return _told(replace(draft, degraded=(*draft.degraded, why)), reader)


def _told(draft: Draft, reader: Reader) -> Draft:
    teller = Teller(reader)
    if draft.grounded:
        for line in draft.text.splitlines(keepends=True):
            teller.tell(line)
    return draft
