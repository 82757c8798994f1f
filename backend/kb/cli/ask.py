"""`kb ask`: a cited answer, or a refusal that says what was searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.command import command
from kb.cli.output import HIT, NO_HIT, Exit, Output, width
from kb.cli.search import Explain, Lang, Mode, PathGlob, Tag, Top, Trust, Type, filters_of
from kb.cli.session import library
from kb.cli.wording import degraded_lines

if TYPE_CHECKING:
    from kb.contract.answers import Answer
    from kb.contract.events import StreamEvent
    from kb.contract.facade import Facade
    from kb.contract.retrieval import RetrievalResponse


def add_to(app: typer.Typer) -> None:
    """Add `ask`."""

    @command(app)
    def ask(
        out: Output,
        question: Annotated[list[str] | None, typer.Argument(help="The question.")] = None,
        *,
        top_k: Top = None,
        mode: Mode = "hybrid",
        tag: Tag = None,
        lang: Lang = None,
        path: PathGlob = None,
        types: Type = None,
        trust_min: Trust = None,
        retrieval: Annotated[str, typer.Option("--retrieval", help="always or auto.")] = "always",
        temperature: Annotated[float | None, typer.Option("--temperature", help="0 to 2.")] = None,
        seed: Annotated[int | None, typer.Option("--seed", help="Makes an answer repeatable.")] = None,
        explain: Explain = False,
        replay: Annotated[str | None, typer.Option("--replay", help="Show a kept answer by its trace id.")] = None,
    ) -> Exit:
        """Answer a question from the library, every sentence with its source."""
        from kb.app.requests import request_of
        from kb.contract.answers import AnswerRequest, AskRequest

        with library(out, "kb ask") as facade:
            if replay:
                answer = facade.answers.get(AnswerRequest(trace_id=replay))
                return _finish(out, answer, None, explain=explain, printed=False)
            request = request_of(
                AskRequest,
                question=" ".join(question or []),
                mode=mode,
                retrieval_mode=retrieval,
                top_k=top_k,
                temperature=temperature,
                seed=seed,
                filters=filters_of(tag, lang, path, types, trust_min),
            )
            return _ask(out, facade, request, explain=explain)


def _ask(out: Output, facade: Facade, request: object, *, explain: bool) -> Exit:
    from kb.contract.answers import AskRequest
    from kb.contract.events import Token
    from kb.contract.retrieval import RetrievalResponse as Response

    assert isinstance(request, AskRequest)  # noqa: S101 - narrowed for the type checker
    found: list[RetrievalResponse] = []
    written: list[str] = []

    def sink(event: StreamEvent) -> None:
        if isinstance(event.data, Response):
            found.append(event.data)
        elif isinstance(event.data, Token) and not explain:
            written.append(event.data.text)
            out.piece(event.data.text)

    answer = facade.answers.stream(request, sink)
    said = "".join(written).strip()
    if said and said != answer.answer.strip():
        # A refusal, or a fallback, took back what had been streamed: say so instead of leaving it.
        out.line("\n[taken back: it did not pass the citation check]\n")
        said = ""
    elif said:
        out.line()
    return _finish(out, answer, found[0] if found else None, explain=explain, printed=bool(said))


def _finish(out: Output, answer: Answer, found: RetrievalResponse | None, *, explain: bool, printed: bool) -> Exit:
    out.wire(answer)
    if not out.as_json:
        if explain:
            _print_claims(out, answer)
        elif not printed:
            out.line(answer.answer)
        _print_sources(out, answer)
        if explain:
            _print_trace(out, answer, found)
        _print_footer(out, answer, found, explain=explain)
    return HIT if answer.grounded else NO_HIT


def _print_claims(out: Output, answer: Answer) -> None:
    if not answer.claims:
        out.line(answer.answer)
    for claim in answer.claims:
        support = f"  ({claim.support})" if claim.support else ""
        out.line(f"▎ {claim.text}{support}")
        for marker in claim.markers:
            for source in answer.citations:
                if source.marker == marker:
                    out.line(f"  └ {_label(source.citation.uri)}")
        if claim.quote:
            out.line(f"    「{_short(claim.quote)}」")
        out.line()


def _print_sources(out: Output, answer: Answer) -> None:
    if answer.grounded:
        out.line("─" * width())
        for source in answer.citations:
            out.line(f"{source.marker} {typer.style(_label(source.citation.uri), bold=True)}")
            if source.quote:
                out.line(f"    「{_short(source.quote)}」")
    elif answer.citations:
        gate = answer.retrieval.score_gate
        below = f" (all below {gate:.2f})" if answer.refusal_reason == "score_gate" else ""
        out.line(f"nearest passages{below}:")
        for source in answer.citations:
            score = f"  (relevance {source.score:.2f})" if source.score is not None else ""
            out.line(f"  · {_label(source.citation.uri)}{score}")
    out.line()


def _print_trace(out: Output, answer: Answer, found: RetrievalResponse | None) -> None:
    summary = answer.retrieval
    passed = "pass" if summary.top_score >= summary.score_gate else "below"
    out.line("retrieval trace")
    out.line(f"  query            {answer.question or ''!r}")
    out.line(f"  mode             {summary.mode}")
    out.line(f"  k                {summary.k}")
    out.line(f"  threshold (gate) {summary.score_gate:.2f}  → top {summary.top_score:.2f}  {passed}")
    if found:
        out.line(f"  fusion           {found.diagnostics.fusion}")
        out.line(f"  vector engine    {found.diagnostics.vector_engine or 'none'}")
    out.line(f"  passages         {summary.chunks_used} used / {summary.chunks_returned} returned")
    for hit in found.results if found else ():
        scores = hit.retrieval
        parts = [f"bm25={scores.lexical_score:.1f}" if scores.lexical_score is not None else ""]
        parts.append(f"cjk={hit.cjk_score:.1f}" if hit.cjk_score is not None else "")
        parts.append(f"vec={scores.vector_score:.2f}" if scores.vector_score is not None else "")
        reasons = " ".join(part for part in parts if part)
        out.line(f"    #{hit.rank} {hit.relevance or 0:.2f}  {_label(hit.citation.uri)}  {reasons}")
    out.line(f"  trace id         {summary.trace_id}")
    out.line()


def _print_footer(out: Output, answer: Answer, found: RetrievalResponse | None, *, explain: bool) -> None:
    mark = "✓" if answer.grounded else "✗"
    used = answer.retrieval.chunks_used
    out.line(
        f"grounded {mark}  {answer.model.id}  {answer.prompt_template_version}  "
        f"{used} passage{'s' if used != 1 else ''} used"
    )
    if answer.finish_reason == "length":
        out.line("cut off: the answer reached its longest length (models.llm.max_answer_tokens)")
    if not answer.grounded and answer.searched:
        searched = answer.searched
        unread = f", {searched.unread_items} files could not be read" if searched.unread_items else ""
        out.line(f"searched {searched.passages} passages{unread}")
    if found:
        for line in degraded_lines(found.diagnostics.degraded_channels):
            out.line(line)
    if explain:
        usage = answer.usage
        out.line(
            f"prompt {usage.prompt_tokens} tokens  answer {usage.completion_tokens} tokens  "
            f"latency {usage.latency_ms} ms"
        )
        if answer.embedding:
            out.line(f"embedding {answer.embedding.id}")


def _label(uri: str) -> str:
    from kb.app.labels import citation_label

    return citation_label(uri)


def _short(quote: str) -> str:
    line = " ".join(quote.split())
    limit = 160
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
