"""`kb eval`: how good search is, and whether it got worse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.command import command, group
from kb.cli.ingest import wait_for
from kb.cli.layout import padded
from kb.cli.output import ERROR, HIT, NO_HIT, Exit, Output, counted
from kb.cli.session import library

if TYPE_CHECKING:
    from kb.contract.comparing import EvalCompare, EvalGate
    from kb.contract.evaluation import EvalQueries, EvalRun

_Suite = Annotated[str, typer.Argument(help="A suite by name, or the path of its YAML file.")]
_Run = Annotated[str, typer.Argument(help="A run by its id, or `latest`.")]
_SHOWN = 20


def add_to(app: typer.Typer) -> None:
    """Add `kb eval` and its commands."""
    commands = group(app, "eval", "Ask questions whose answers are known; compare runs.")
    _add_run(commands)
    _add_lists(commands)
    _add_compare(commands)
    _add_gate(commands)
    _add_add(commands)
    _add_import(commands)


def _add_run(commands: typer.Typer) -> None:
    @command(commands)
    def run(
        out: Output,
        suite: _Suite,
        *,
        mode: Annotated[str, typer.Option("--mode", help="lexical, vector or hybrid.")] = "hybrid",
        answers: Annotated[bool, typer.Option("--answers", help="Also answer: refusals and citations count.")] = False,
        provider: Annotated[str | None, typer.Option("--provider", help="What answers; extractive quotes.")] = None,
        top_k: Annotated[int, typer.Option("-k", "--top-k", help="How many hits count, 1 to 20.")] = 10,
        rerank: Annotated[str | None, typer.Option("--rerank", help="off, local or model.")] = None,
    ) -> Exit:
        """Ask every question of a suite, and keep how well it went."""
        from kb.app.requests import request_of
        from kb.contract.jobs import JobRequest
        from kb.contract.suites import EvalRunRequest

        request = request_of(
            EvalRunRequest,
            suite=_place(suite),
            mode=mode,
            answers=answers or provider is not None,
            provider=provider,
            top_k=top_k,
            rerank=rerank,
        )
        with library(out, "kb eval run") as facade:
            job = wait_for(out, facade, facade.evaluation.run(request))
            if job.status == "canceled":
                out.error("stopped; nothing of the run is kept", "run it again")
                return ERROR
            if job.status != "succeeded":
                message, _, hint = (job.error.message if job.error else f"the job is {job.status}").partition("\n")
                out.error(message, hint or "run it again")
                return ERROR
            report = facade.evaluation.report(JobRequest(job_id=job.id))
        out.wire(report)
        _print_run(out, report)
        return HIT


def _add_lists(commands: typer.Typer) -> None:
    @command(commands)
    def runs(out: Output, *, limit: Annotated[int, typer.Option("--limit", min=1, max=200)] = 20) -> Exit:
        """List the newest runs."""
        from kb.contract.evaluation import EvalRunsRequest

        with library(out, "kb eval runs") as facade:
            found = facade.evaluation.runs(EvalRunsRequest(limit=limit))
        out.wire(found)
        for one in found.runs:
            figures = "  ".join(
                f"{name} {one.metrics[name]:.4f}" for name in ("recall@5", "mrr") if name in one.metrics
            )
            out.line(
                f"{one.run_id}  {padded(one.suite, 24)} {one.queries - one.failed} of {one.queries} right  {figures}"
            )
        if not found.runs:
            out.line("no runs yet: `kb eval run SUITE`")
        return HIT if found.runs else NO_HIT

    @command(commands)
    def suites(out: Output) -> Exit:
        """List the suites in the data folder."""
        from kb.contract.base import Empty

        with library(out, "kb eval suites") as facade:
            found = facade.evaluation.suites(Empty())
        out.wire(found)
        for one in found.suites:
            said = one.problem or f"{counted(one.queries, 'question')}, {one.refusals} to refuse"
            out.line(f"{padded(one.name, 24)} {said}")
        if not found.suites:
            out.line("no suites yet: `kb eval add NAME --query Q --expect PATH` makes one")
        return HIT if found.suites else NO_HIT

    @command(commands)
    def show(
        out: Output,
        run_id: _Run = "latest",
        *,
        every: Annotated[bool, typer.Option("--all", help="Also the questions that went right.")] = False,
        page: Annotated[int, typer.Option("--page", min=1, help="Which page of 100.")] = 1,
    ) -> Exit:
        """Show a run: its figures, and the questions that went wrong."""
        from kb.app.requests import request_of
        from kb.contract.evaluation import EvalGetRequest

        cursor = str((page - 1) * 100)
        request = request_of(EvalGetRequest, run_id=run_id, only_failed=not every, cursor=cursor)
        with library(out, "kb eval show") as facade:
            found = facade.evaluation.get(request)
        out.wire(found)
        _print_run(out, found.run)
        _print_queries(out, found)
        return HIT


def _add_compare(commands: typer.Typer) -> None:
    @command(commands)
    def compare(
        out: Output,
        a: _Run,
        b: _Run,
        *,
        strict: Annotated[
            bool, typer.Option("--strict-chunker-version", help="Refuse runs over passages that were cut otherwise.")
        ] = False,
    ) -> Exit:
        """Hold run B against run A, question by question."""
        from kb.app.requests import request_of
        from kb.contract.comparing import EvalCompareRequest

        request = request_of(EvalCompareRequest, a=a, b=b, strict_chunker_version=strict)
        with library(out, "kb eval compare") as facade:
            found = facade.evaluation.compare(request)
        out.wire(found)
        _print_compare(out, found)
        return HIT


def _add_gate(commands: typer.Typer) -> None:
    @command(commands)
    def gate(
        out: Output,
        run_id: _Run = "latest",
        *,
        baseline: Annotated[str | None, typer.Option("--baseline", help="The run it is held against.")] = None,
        minimum: Annotated[
            list[str] | None,
            typer.Option("--min", metavar="FIGURE=VALUE", help="Such as recall@5=0.9; of ms the most."),
        ] = None,
        drop: Annotated[
            list[str] | None, typer.Option("--drop", metavar="FIGURE=VALUE", help="May be so far below the baseline.")
        ] = None,
    ) -> Exit:
        """Say whether a run is good enough; 1 when it is not, with the questions that failed."""
        from kb.app.eval_requests import figures_of
        from kb.app.requests import request_of
        from kb.contract.comparing import EvalGateRequest

        request = request_of(
            EvalGateRequest,
            run_id=run_id,
            baseline=baseline,
            minimums=figures_of(minimum or (), "--min"),
            drops=figures_of(drop or (), "--drop"),
        )
        with library(out, "kb eval gate") as facade:
            found = facade.evaluation.gate(request)
        out.wire(found)
        _print_gate(out, found)
        return HIT if found.passed else NO_HIT


def _add_add(commands: typer.Typer) -> None:
    @command(commands)
    def add(
        out: Output,
        suite: _Suite,
        *,
        query: Annotated[str | None, typer.Option("--query", help="The question.")] = None,
        search: Annotated[
            str | None, typer.Option("--search", help="The question, searched now: --expect takes ranks of its hits.")
        ] = None,
        answer: Annotated[
            str | None, typer.Option("--answer", metavar="TRACE", help="A kept answer; its citations are right.")
        ] = None,
        expect: Annotated[
            list[str] | None, typer.Option("--expect", help="A path, citation, doc_id or chunk_id that is right.")
        ] = None,
        refuse: Annotated[bool, typer.Option("--refuse", help="Nothing answers it.")] = False,
        query_id: Annotated[str | None, typer.Option("--id", help="Its id in the suite.")] = None,
        tag: Annotated[list[str] | None, typer.Option("--tag", help="What kind of question it is.")] = None,
        note: Annotated[str, typer.Option("--note", help="For whoever reads the suite.")] = "",
    ) -> Exit:
        """Add a golden query at the end of a suite; what is there stays as it is."""
        from kb.app.eval_requests import ranked
        from kb.app.requests import one_of, request_of
        from kb.contract.search import FindRequest
        from kb.contract.suites import EvalAddRequest

        one_of(query=query, search=search, answer=answer)
        expected = tuple(expect or ())
        with library(out, "kb eval add") as facade:
            if search is not None:
                hits = facade.search.find(request_of(FindRequest, query=search, top_k=20)).results
                expected = ranked(expected, [hit.chunk_id for hit in hits])
            request = request_of(
                EvalAddRequest,
                suite=_place(suite),
                query=query or search,
                trace_id=answer,
                expected=expected,
                refuse=refuse,
                query_id=query_id,
                tags=tuple(tag or ()),
                note=note,
            )
            found = facade.evaluation.add(request)
        out.wire(found)
        out.line(f"{found.suite}: added {found.last_id}, {counted(found.queries, 'question')} now")
        return HIT


def _add_import(commands: typer.Typer) -> None:
    @command(commands, "import")
    def take_in(
        out: Output,
        suite: _Suite,
        folder: Annotated[str | None, typer.Argument(help="A BEIR folder: queries.jsonl and qrels/.")] = None,
        *,
        split: Annotated[str, typer.Option("--split", help="Which judgements of BEIR.")] = "test",
        topics: Annotated[str | None, typer.Option("--topics", help="TREC topics, or lines `id<TAB>query`.")] = None,
        qrels: Annotated[str | None, typer.Option("--qrels", help="TREC qrels.")] = None,
        path: Annotated[
            str, typer.Option("--path", help="Of a document in the workspace, such as 'c/{id}.txt'.")
        ] = "{id}",
    ) -> Exit:
        """Make a suite of questions and judgements of others."""
        from kb.app.requests import request_of
        from kb.contract.suites import EvalImportRequest

        request = request_of(
            EvalImportRequest,
            suite=_place(suite),
            folder=_absolute(folder),
            split=split,
            topics=_absolute(topics),
            qrels=_absolute(qrels),
            path=path,
        )
        with library(out, "kb eval import") as facade:
            found = facade.evaluation.take_in(request)
        out.wire(found)
        left = f"; {found.left_out} without a judgement are left out" if found.left_out else ""
        out.line(f"{found.suite}: {counted(found.queries, 'question')}{left}")
        return HIT


def _place(suite: str) -> str:
    """Return a suite's name, or its path from the root: a server stands elsewhere."""
    is_path = "/" in suite or "\\" in suite or suite.endswith((".yaml", ".yml"))
    return str(Path(suite).expanduser().resolve()) if is_path else suite


def _absolute(path: str | None) -> str | None:
    return str(Path(path).expanduser().resolve()) if path else None


def _print_run(out: Output, run: EvalRun) -> None:
    out.line(f"{run.suite}: {counted(run.queries, 'question')}, {run.failed} went wrong")
    for name, value in run.metrics.items():
        out.line(
            f"  {padded(name, 20)}{value:.1f}" if name.startswith("latency_ms") else f"  {padded(name, 20)}{value:.4f}"
        )
    out.line(f"run {run.run_id}; the report is {run.folder}/report.html in the data folder")


def _print_queries(out: Output, found: EvalQueries) -> None:
    for one in found.queries:
        out.line(f"{'✗' if one.failure else '✓'} {one.query_id}  {one.query}")
        if one.failure:
            out.line(f"    {one.failure}")
    if found.next is not None:
        out.line("… and more: --page shows them")


def _print_compare(out: Output, found: EvalCompare) -> None:
    won, regressed = counted(found.wins, "win"), counted(found.regressions, "regression")
    out.line(f"{won}, {found.losses} lost, {found.draws} alike, {regressed}")
    for name, delta in found.deltas.items():
        one = found.intervals.get(name)
        interval = f"  [{one.low:+.4f}, {one.high:+.4f}]" if one else ""
        out.line(f"  {padded(name, 20)}{delta:+.4f}{interval}")
    for query in found.queries[:_SHOWN]:
        ranks = f"{query.rank_a or '–'} → {query.rank_b or '–'}"
        out.line(f"{query.verdict.replace('_', ' ')}: {query.query_id}  {query.query}  ({ranks})")
    if len(found.queries) > _SHOWN:
        out.line(f"… and {len(found.queries) - _SHOWN} more: --json prints them all")
    if found.note:
        out.line(f"what differs: {found.note}")
    if found.chunker_version_match != "exact":
        out.line("passages were cut otherwise: they are matched by document and place")


def _print_gate(out: Output, found: EvalGate) -> None:
    for one in found.checks:
        value = "missing" if one.value is None else f"{one.value:.4f}"
        before = f", baseline {one.baseline:.4f}" if one.baseline is not None else ""
        out.line(f"{'✓' if one.passed else '✗'} {padded(one.metric, 20)}{value} (wanted {one.wanted:.4f}{before})")
    for query in found.queries:
        out.line(f"  {query.query_id}  {query.query}")
        out.line(f"      {query.why}")
    out.line("the gate is passed" if found.passed else "the gate is not passed")
