"""Checks of an opened library: its file, its indexes, its models, what lies beside it and what is unfinished."""

from __future__ import annotations

from collections.abc import Iterator

from kb.app.bootstrap import Parts
from kb.app.chunking_state import ChunkingState
from kb.app.connections import ask_servers
from kb.app.health.projections import index_checks
from kb.app.health.repairing import damaged_artifacts
from kb.app.health.surroundings import failed
from kb.contract.index import IndexCheck
from kb.contract.system import DoctorCheck
from kb.domain.errors import KebabError

_FIX = "`kb doctor --fix` removes them"
_MB = 1 << 20


def library_checks(parts: Parts, *, deep: bool = False) -> Iterator[DoctorCheck]:
    """Look at an opened library; with `deep` read every stored vector, every entry of each index, every artifact."""
    yield _sqlite_check(parts)
    text, *others = index_checks(parts, deep=deep)
    yield DoctorCheck(name="text_index_open", ok=text.ok, detail=text.detail, hint=text.hint)
    yield _vector_check(others)
    yield _embedding_check(parts)
    yield from _endpoint_check(parts)
    yield from _settings_check(parts)
    yield from _artifacts_checks(parts, deep=deep)
    yield from _leftovers_check(parts)
    yield from _unfinished_check(parts)
    yield _language_check(parts)


def _vector_check(checks: list[IndexCheck]) -> DoctorCheck:
    """One check for all vector engines: its detail names each."""
    if not checks:
        return DoctorCheck(name="vector_index_open", ok=True, detail="none without an embedding model")
    hint = next((check.hint for check in checks if not check.ok), None)
    detail = ", ".join(f"{check.name}: {check.detail}" for check in checks)
    return DoctorCheck(name="vector_index_open", ok=all(check.ok for check in checks), detail=detail, hint=hint)


def _sqlite_check(parts: Parts) -> DoctorCheck:
    try:
        report = parts.integrity.check()
    except KebabError as error:
        return failed("sqlite_open", error.message, error.hint)
    journal = "" if parts.library.journal_mode == "wal" else ", rollback journal"
    detail = f"kb.sqlite (schema v{report.schema_version}{journal})"
    if report.problems:
        hint = "restore a backup, or delete the data folder and run `kb ingest`: the originals are untouched"
        if all("vector" in problem for problem in report.problems):
            hint = "run `kb doctor --fix --deep`, then `kb ingest` embeds these texts again"
        return failed("sqlite_open", f"{detail}: {report.problems[0]}", hint)
    return DoctorCheck(name="sqlite_open", ok=True, detail=detail)


def _settings_check(parts: Parts) -> Iterator[DoctorCheck]:
    """Settings that wait for another generation are no illness: what serves goes on serving."""
    if pending := parts.pending:
        detail = f"settings changed, rebuild pending: {'; '.join(pending)}"
        yield DoctorCheck(name="generation", ok=True, detail=detail, hint="run `kb index build`")
    if waiting := ChunkingState(parts).waiting():
        yield DoctorCheck(name="chunking", ok=True, detail=waiting, hint="run `kb chunking rebuild`")


def _embedding_check(parts: Parts) -> DoctorCheck:
    model = parts.model
    if model is not None:
        detail = f"{model.id} ({model.dimensions}d)"
        if missing := parts.wanted_model_problem:
            detail = f"{detail} goes on serving; in the settings: {missing.message}"
            return DoctorCheck(name="embedding_model", ok=True, detail=detail, hint=missing.hint)
        return DoctorCheck(name="embedding_model", ok=True, detail=detail)
    if parts.model_problem is not None and parts.settings.models.embedding.provider == "openai_compatible":
        # A server that is away, or that the library's vectors are not from, is no illness of the library.
        said = f"{parts.model_problem.message}; keywords only"
        return DoctorCheck(name="embedding_model", ok=True, detail=said, hint=parts.model_problem.hint or None)
    if parts.model_problem is not None:
        return failed("embedding_model", parts.model_problem.message, parts.model_problem.hint)
    return DoctorCheck(name="embedding_model", ok=True, detail="none (models.embedding.provider), keywords only")


def _endpoint_check(parts: Parts) -> Iterator[DoctorCheck]:
    """Ask the servers that the settings name, if any; an unreachable one is never unhealthy."""
    found = list(ask_servers(parts))
    if found:
        hint = next((hint for _, hint in found if hint), None)
        yield DoctorCheck(name="endpoint_reachable", ok=True, detail="; ".join(said for said, _ in found), hint=hint)


def _language_check(parts: Parts) -> DoctorCheck:
    """A missing language model is never unhealthy: the extractive provider needs none."""
    if parts.settings.models.llm.provider == "extractive":
        return DoctorCheck(name="llm_model", ok=True, detail="extractive (quotes the evidence, needs no model)")
    try:
        return DoctorCheck(name="llm_model", ok=True, detail=f"{parts.language_model().ref.id} (llama_cpp)")
    except KebabError as error:
        return DoctorCheck(name="llm_model", ok=True, detail=error.message, hint=error.hint)


def _artifacts_checks(parts: Parts, *, deep: bool) -> Iterator[DoctorCheck]:
    """Places of words and transcripts: damaged ones are unhealthy, what is left of gone documents only in the way."""
    left = len(parts.orphans())
    if left:
        detail = f"{left} left of documents that are gone"
        yield DoctorCheck(name="artifacts", ok=True, detail=detail, hint="the next `kb ingest` removes them")
    bad = damaged_artifacts(parts) if deep else []
    if bad:
        detail = f"of {len(bad)} documents the places of words or the transcript are damaged or missing"
        yield failed("artifacts", detail, "`kb doctor --fix` reads these files again")
    elif deep:
        yield DoctorCheck(name="artifacts", ok=True, detail="every file holds what was written")


def _leftovers_check(parts: Parts) -> Iterator[DoctorCheck]:
    found = parts.leftovers.find(parts.upkeep.copies())
    if found:
        total = sum(leftover.bytes for leftover in found)
        detail = f"{len(found)} files nothing needs ({total / _MB:.1f} MB), such as {found[0].kind}"
        yield DoctorCheck(name="leftovers", ok=True, detail=detail, hint=_FIX)


def _unfinished_check(parts: Parts) -> Iterator[DoctorCheck]:
    found = parts.upkeep.unfinished()
    texts = found.texts if parts.model is not None else 0
    waiting = [
        f"{count:,} {what}"
        for count, what in (
            (found.staged, "documents read and not yet shown"),
            (texts, "passages without a vector"),
            (found.removals, "files to be removed"),
            (found.dead_jobs, "jobs that were given up"),
        )
        if count
    ]
    if waiting:
        hint = "`kb jobs` says why, and tries again" if found.dead_jobs else "the next `kb ingest` does it"
        yield DoctorCheck(name="unfinished_work", ok=True, detail=", ".join(waiting), hint=hint)
