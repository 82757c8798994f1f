"""Generations as people see them: which there are, and what kept questions would find otherwise after a switch."""

from __future__ import annotations

from collections.abc import Sequence

from kb.app.bootstrap import Parts
from kb.app.extents import meet
from kb.app.facade.saved_searches import request_of_saved
from kb.app.facade.search import Searching, query_of
from kb.app.handlers.generations import nothing_to_build, switch_target
from kb.contract.generations import Generation as WireGeneration
from kb.contract.generations import Generations
from kb.contract.replay import GenerationPreview, ReplayedPassage, ReplayedQuestion
from kb.contract.search import RetrievalOptions
from kb.domain.errors import Conflict, InvalidInput, NotFound
from kb.domain.generations import Generation, GenerationId, GenerationState
from kb.domain.jobs import JobKind
from kb.retrieval.values import Hit

_ANSWERS = 1_000
_JOBS = 100
_QUESTIONS = 100


class GenerationShelf:
    """Looks at the generations of an opened library."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def all(self) -> Generations:
        """Return those that are kept, newest first."""
        parts = self._parts
        serving = parts.generations.serving()
        return Generations(
            serving=serving.generation_id,
            pending=parts.pending,
            generations=tuple(self._wire(one) for one in parts.generations.all()),
        )

    def require_pending(self) -> None:
        """Raise unless there is something to build."""
        if self._parts.serving.recipe is None:
            raise InvalidInput("nothing has been read by these settings yet", hint="run `kb ingest` first")
        if not self._parts.pending:
            raise nothing_to_build()

    def target(self, generation: int | None, *, rolls_back: bool = False) -> int:
        """Return the generation that a switch means; raises when there is none."""
        return switch_target(self._parts, generation, rolls_back=rolls_back).generation_id

    def discard(self, generation: int | None) -> Generations:
        """Let go of a generation that does not serve, the newest that was never served without a number."""
        kept = [one for one in self._parts.generations.all() if one.state is not GenerationState.SERVING]
        if generation is None:
            begun = (one for one in kept if one.state is not GenerationState.RETIRED)
            found = next(begun, None)
        else:
            found = next((one for one in kept if one.generation_id == generation), None)
        if found is None:
            if generation == self._parts.serving.generation_id:
                raise InvalidInput(f"generation {generation} serves", hint="switch to another one first")
            raise NotFound("there is no such generation", hint="`kb index generations` lists those that are kept")
        jobs = self._parts.job_control.recent(_JOBS)
        if any(job.kind in {JobKind.GENERATION, JobKind.SWITCH} and not job.status.is_final for job in jobs):
            raise Conflict("a generation is being built or switched to", hint="wait for it, or cancel it: `kb jobs`")
        self._parts.generations.discard(found.generation_id)
        self._parts.remove_discarded()
        return self.all()

    def preview(self, generation: int | None) -> GenerationPreview:
        """Ask every kept question of a generation and of the serving one, and compare."""
        parts = self._parts
        target = parts.generations.get(GenerationId(self.target(generation)))
        questions = self._questions()
        changed = []
        before = parts.ready_retriever()
        with parts.retriever_of(target) as after:
            for question in questions:
                replayed = _replayed(question, self._ask(before, question), self._ask(after, question))
                if replayed.gained or replayed.lost:
                    changed.append(replayed)
        return GenerationPreview(
            generation=target.generation_id,
            serving=parts.serving.generation_id,
            questions=len(questions),
            unchanged=len(questions) - len(changed),
            changed=tuple(changed),
        )

    def _questions(self) -> Sequence[str]:
        """Return the questions of kept searches by name, then of kept answers, newest first, each once."""
        kept = (request_of_saved(search) for search in self._parts.saved_searches.all())
        searches = (request.query for request in kept if request is not None)
        asked = (record.answer.question for record in self._parts.answers.recent(_ANSWERS))
        return list(dict.fromkeys((*searches, *asked)))[:_QUESTIONS]

    def _ask(self, retriever: Searching, question: str) -> Sequence[Hit]:
        query = query_of(question, "hybrid", RetrievalOptions(), self._parts.settings.search)
        return retriever.search(query).hits

    def _wire(self, one: Generation) -> WireGeneration:
        recipe = self._parts.recipe if one.state is GenerationState.SERVING else one.recipe or self._parts.recipe
        counts = self._parts.generations.counts(one)
        return WireGeneration(
            id=one.generation_id,
            state=one.state.value,
            fingerprint=recipe.fingerprint(),
            embedding_model=recipe.model.id if recipe.model else None,
            dimensions=recipe.model.dimensions if recipe.model else None,
            chunk_mode=recipe.policy.mode,
            target_characters=recipe.policy.target_characters,
            overlap_characters=recipe.policy.overlap_characters,
            chunker_version=recipe.chunker,
            created_at=one.created_at,
            ready_at=one.ready_at,
            switched_at=one.switched_at,
            documents=counts.documents,
            documents_total=counts.documents_total,
            passages=counts.passages,
            vectors=counts.vectors,
        )


def _replayed(question: str, before: Sequence[Hit], after: Sequence[Hit]) -> ReplayedQuestion:
    """Pair passages that say the same or meet in their file; what is left was lost or gained."""
    pairs = {
        new.rank: old.rank
        for new in after
        if (old := next((one for one in before if _is_same(one, new)), None)) is not None
    }
    met = set(pairs.values())
    return ReplayedQuestion(
        question=question,
        kept=len(pairs),
        gained=tuple(_passage(hit, None, hit.rank) for hit in after if hit.rank not in pairs),
        lost=tuple(
            _passage(hit, hit.rank, None)
            for hit in before
            if hit.rank not in met and not any(_is_same(hit, new) for new in after)
        ),
    )


def _is_same(one: Hit, other: Hit) -> bool:
    if one.stored.path != other.stored.path:
        return False
    return one.stored.chunk.text == other.stored.chunk.text or meet(one.citation.place, other.citation.place)


def _passage(hit: Hit, before: int | None, after: int | None) -> ReplayedPassage:
    return ReplayedPassage(
        uri=hit.citation.to_uri(),
        doc_path=hit.stored.path,
        quote=hit.snippet,
        rank_before=before,
        rank_after=after,
    )
