"""`kb index generations`, `build`, `preview`, `switch`, `rollback` and `discard`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.command import command
from kb.cli.ingest import wait_for
from kb.cli.output import ERROR, HIT, NO_HIT, Exit, Output, counted
from kb.cli.session import library

if TYPE_CHECKING:
    from kb.contract.facade import Facade
    from kb.contract.generations import Generation, GenerationReport, Generations
    from kb.contract.jobs import Job
    from kb.contract.replay import GenerationPreview, ReplayedPassage

_SHOWN = 10
_Number = Annotated[int | None, typer.Argument(help="Its number; without, the newest that is ready.")]
_Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def add_to(commands: typer.Typer) -> None:
    """Add the commands about generations to `kb index`."""
    _add_list(commands)
    _add_build(commands)
    _add_preview(commands)
    _add_switch(commands)
    _add_rollback(commands)
    _add_discard(commands)


def _add_list(commands: typer.Typer) -> None:
    @command(commands)
    def generations(out: Output) -> Exit:
        """List the generations, and how the settings differ from the one that serves."""
        from kb.contract.base import Empty

        with library(out, "kb index generations") as facade:
            _print_generations(out, facade.generations.list(Empty()))
        return HIT


def _add_build(commands: typer.Typer) -> None:
    @command(commands)
    def build(out: Output) -> Exit:
        """Build index data for the settings as they are, beside what serves; goes on with an unfinished build."""
        from kb.contract.generations import BuildRequest

        with library(out, "kb index build") as facade:
            return _run(out, facade, facade.generations.build(BuildRequest()), _print_built)


def _add_preview(commands: typer.Typer) -> None:
    @command(commands)
    def preview(out: Output, generation: _Number = None) -> Exit:
        """Ask the questions of kept answers of a generation, and say what they would find otherwise."""
        from kb.contract.generations import GenerationRequest

        with library(out, "kb index preview") as facade:
            found = facade.generations.preview(GenerationRequest(generation=generation))
        out.wire(found)
        _print_preview(out, found)
        return HIT


def _add_switch(commands: typer.Typer) -> None:
    @command(commands)
    def switch(out: Output, generation: _Number = None, *, yes: _Yes = False) -> Exit:
        """Let another generation serve, all at once; the one before can be gone back to."""
        from kb.contract.generations import GenerationRequest, SwitchRequest

        with library(out, "kb index switch") as facade:
            if not yes and _asks(out):
                _print_preview(out, facade.generations.preview(GenerationRequest(generation=generation)))
                if not typer.confirm("Switch?"):
                    return NO_HIT
            return _run(out, facade, facade.generations.switch(SwitchRequest(generation=generation)), _print_switched)


def _add_rollback(commands: typer.Typer) -> None:
    @command(commands)
    def rollback(out: Output) -> Exit:
        """Let the generation that served before serve again."""
        from kb.contract.base import Empty

        with library(out, "kb index rollback") as facade:
            return _run(out, facade, facade.generations.rollback(Empty()), _print_switched)


def _add_discard(commands: typer.Typer) -> None:
    @command(commands)
    def discard(
        out: Output,
        generation: Annotated[
            int | None, typer.Argument(help="Its number; without, the newest that never served.")
        ] = None,
        *,
        yes: _Yes = False,
    ) -> Exit:
        """Let go of a generation that does not serve, with its indexes and vectors."""
        from kb.contract.generations import GenerationRequest

        name = f"generation {generation}" if generation else "the newest generation that never served"
        if not yes and _asks(out) and not typer.confirm(f"Let go of {name}?"):
            return NO_HIT
        with library(out, "kb index discard") as facade:
            _print_generations(out, facade.generations.discard(GenerationRequest(generation=generation)))
        return HIT


def _asks(out: Output) -> bool:
    return not out.as_json and sys.stdin.isatty() and sys.stdout.isatty()


def _run(out: Output, facade: Facade, job: Job, show: Callable[[Output, GenerationReport], None]) -> Exit:
    from kb.contract.jobs import JobRequest

    job = wait_for(out, facade, job)
    if job.status == "canceled":
        out.error("stopped; what is made so far is kept", "the same command goes on from there")
        return ERROR
    if job.status != "succeeded":
        message, _, hint = (job.error.message if job.error else f"the job is {job.status}").partition("\n")
        out.error(message, hint or "run it again; what serves goes on serving")
        return ERROR
    report = facade.generations.built(JobRequest(job_id=job.id))
    out.wire(report)
    show(out, report)
    return HIT


def _print_built(out: Output, report: GenerationReport) -> None:
    out.line(f"generation {report.generation} is ready in {report.duration_ms / 1000:.1f} s; {report.serving} serves")
    _print_numbers(out, report)
    out.line("`kb index preview` compares the two, `kb index switch` lets it serve")


def _print_switched(out: Output, report: GenerationReport) -> None:
    out.line(f"generation {report.serving} serves now; `kb index rollback` goes back")
    _print_numbers(out, report)


def _print_numbers(out: Output, report: GenerationReport) -> None:
    out.line(f"{counted(report.documents, 'document')}, {counted(report.passages, 'passage')}")
    out.line(f"embedded {report.embedded:,} of {report.distinct_texts:,} different texts, reused {report.reused:,}")
    if report.failed:
        out.line(f"{counted(report.failed, 'document')} could not be read again and stay as they were")


def _print_generations(out: Output, found: Generations) -> None:
    out.wire(found)
    for one in found.generations:
        out.line(_line(one))
    if found.pending:
        out.line("the settings differ from what serves:")
        for sentence in found.pending:
            out.line(f"  {sentence}")
        out.line("`kb index build` builds what they say, beside what serves")


def _line(one: Generation) -> str:
    model = one.embedding_model or "no model"
    passages = f"{counted(one.documents, 'document')}, {counted(one.passages, 'passage')}, {one.vectors:,} with vectors"
    part = f" of {one.documents_total:,}" if one.state == "building" else ""
    return f"{one.id:>3}  {one.state:<9} {model}, {one.chunk_mode} {one.target_characters}: {passages}{part}"


def _print_preview(out: Output, found: GenerationPreview) -> None:
    if not found.questions:
        out.line("no answers are kept yet: there is nothing to compare")
        return
    out.line(f"{counted(found.questions, 'kept question')}: {found.unchanged:,} find the same passages")
    for question in found.changed[:_SHOWN]:
        out.line(f"? {question.question}  ({question.kept} kept)")
        for passage in question.lost:
            out.line(f"    - {_passage(passage, passage.rank_before)}")
        for passage in question.gained:
            out.line(f"    + {_passage(passage, passage.rank_after)}")
    if len(found.changed) > _SHOWN:
        out.line(f"… and {len(found.changed) - _SHOWN} more: --json prints them all")


def _passage(passage: ReplayedPassage, rank: int | None) -> str:
    return f"{rank}. {passage.uri}"
