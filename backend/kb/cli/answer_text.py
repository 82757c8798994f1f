"""How an answer looks: text, sources, and with `--explain` its claims and how it was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from kb.cli.layout import quoted, wrapped
from kb.cli.output import HIT, NO_HIT, Exit, Output, counted, width
from kb.cli.wording import answer_lines, degraded_lines, place_label

if TYPE_CHECKING:
    from kb.contract.answer_parts import AnswerCitation, Claim
    from kb.contract.answers import Answer
    from kb.contract.retrieval import RetrievalResponse
    from kb.contract.search import SearchHit


def finish(
    out: Output,
    answer: Answer,
    found: RetrievalResponse | None,
    *,
    explain: bool,
    printed: bool,
    now: Mapping[str, str] | None = None,
) -> Exit:
    """Print an answer, or what of it is not `printed` yet; return the exit code.

    `now` says by marker what became of the sources of an old answer.
    """
    out.wire(answer)
    if not out.as_json:
        if explain and answer.claims:
            for claim in answer.claims:
                _print_claim(out, claim, answer)
        elif not printed:
            # A terminal gets lines that fit; a pipe gets them whole.
            for paragraph in answer.answer.splitlines():
                for line in (wrapped(paragraph, width()) if out.streams else ()) or [paragraph]:
                    out.line(line)
        if answer.grounded and not explain:
            _print_sources(out, answer, now or {})
        elif not answer.grounded:
            _print_nearest(out, answer)
        if explain:
            _print_trace(out, answer, found)
        _print_footer(out, answer, found, explain=explain)
    return HIT if answer.grounded else NO_HIT


def _print_claim(out: Output, claim: Claim, answer: Answer) -> None:
    support = f"  ({claim.support})" if claim.support and claim.support != "supported" else ""
    first, *rest = wrapped(claim.text + support, width() - 2) or [""]
    out.line(f"▎ {first}")
    for line in rest:
        out.line(f"▎ {line}")
    cited = [source for source in answer.citations if source.marker in claim.markers]
    for source in cited:
        out.line(f"  └ {source.marker} {typer.style(place_label(source.citation.uri), bold=True)}")
    # Repeating a claim that is itself the quote would say nothing.
    if claim.quote and " ".join(claim.quote.split()) != " ".join(claim.text.split()):
        out.line(f"    {quoted(claim.quote, width() - 4)}")
    out.line()


def _print_sources(out: Output, answer: Answer, now: Mapping[str, str]) -> None:
    out.line("─" * width())
    for source in answer.citations:
        changed = f"  ({now[source.marker]})" if source.marker and source.marker in now else ""
        edited = "  (edited here: the file says it otherwise)" if source.edited else ""
        out.line(f"{source.marker} {typer.style(place_label(source.citation.uri), bold=True)}{edited}{changed}")
        if source.quote:
            out.line(f"    {quoted(source.quote, width() - 4)}")
    out.line()


def _print_nearest(out: Output, answer: Answer) -> None:
    if answer.citations:
        gate = answer.retrieval.score_gate
        out.line(f"nearest passages, all below {gate:.2f}:" if _all_below(answer.citations, gate) else "found, but:")
    for source in answer.citations:
        score = f"  ({source.score:.2f})" if source.score is not None else ""
        out.line(f"  · {place_label(source.citation.uri)}{score}")
    out.line()


def _all_below(sources: tuple[AnswerCitation, ...], gate: float) -> bool:
    return all(source.score is not None and source.score < gate for source in sources)


def _print_trace(out: Output, answer: Answer, found: RetrievalResponse | None) -> None:
    summary = answer.retrieval
    passed = "pass" if summary.top_score >= summary.score_gate else "below"
    out.line("retrieval trace")
    rows = [
        ("question", answer.question or ""),
        ("mode", summary.mode),
        ("k", str(summary.k)),
        ("gate", f"{summary.score_gate:.2f}  → best {summary.top_score:.2f}  {passed}"),
    ]
    if found:
        rows.append(("fusion", found.diagnostics.fusion))
        rows.append(("vector engine", found.diagnostics.vector_engine or "none"))
    rows.append(("passages", f"{summary.chunks_used} used / {summary.chunks_returned} returned"))
    for name, value in rows:
        out.line(f"  {name:<15}{value}")
    for hit in found.results if found else ():
        out.line(f"    #{hit.rank} {hit.relevance or 0:.2f}  {place_label(hit.citation.uri)}  {_scores(hit)}")
    out.line(f"  {'trace id':<15}{summary.trace_id}")
    out.line()


def _scores(hit: SearchHit) -> str:
    scores = (
        ("bm25", hit.retrieval.lexical_score, 1),
        ("cjk", hit.cjk_score, 1),
        ("vec", hit.retrieval.vector_score, 2),
    )
    return " ".join(f"{name}={score:.{digits}f}" for name, score, digits in scores if score is not None)


def _print_footer(out: Output, answer: Answer, found: RetrievalResponse | None, *, explain: bool) -> None:
    used = counted(answer.retrieval.chunks_used, "passage")
    mark = "✓" if answer.grounded else "✗"
    out.line(f"grounded {mark}  {answer.model.id}  {answer.prompt_template_version}  {used} used")
    if answer.finish_reason == "length":
        out.line("cut off: the answer reached its longest length (models.llm.max_answer_tokens)")
    if not answer.grounded and answer.searched:
        out.line(f"searched {counted(answer.searched.passages, 'passage')}{_unread(answer.searched.unread_items)}")
    for line in degraded_lines(found.diagnostics.degraded_channels if found and found.passages_searched else ()):
        out.line(line)
    for line in answer_lines(answer.degraded):
        out.line(line)
    if explain:
        usage = answer.usage
        tokens = f"prompt {usage.prompt_tokens:,} tokens  answer {usage.completion_tokens:,} tokens"
        out.line(f"{tokens}  took {usage.latency_ms:,} ms")
        if answer.embedding:
            out.line(f"embedding {answer.embedding.id}")


def _unread(count: int) -> str:
    return f"; {counted(count, 'file')} could not be read (`kb list items --state failed`)" if count else ""
