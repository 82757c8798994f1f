"""What `kb doctor` and `kb index verify` look at."""

from __future__ import annotations

import os
from collections.abc import Iterator

from kb.app.bootstrap import Parts
from kb.app.config_file import Configuration
from kb.app.locations import readable
from kb.contract.index import IndexCheck
from kb.contract.system import Doctor, DoctorCheck
from kb.domain.errors import KebabError
from kb.domain.failures import StorageFailed

_REBUILD = "run `kb index rebuild`: nothing is parsed or embedded again"


def report_of(checks: list[DoctorCheck]) -> Doctor:
    """Return the report: healthy when every check is."""
    return Doctor(ok=all(check.ok for check in checks), checks=tuple(checks))


def config_check(configuration: Configuration) -> DoctorCheck:
    """Say which configuration is used."""
    file = configuration.locations.config_file
    detail = readable(file) if file.exists() else "built-in defaults"
    unknown = len(configuration.warnings)
    if unknown:
        return failed("config_loaded", f"{detail}, {unknown} unknown keys", configuration.warnings[0])
    return DoctorCheck(name="config_loaded", ok=True, detail=detail)


def data_dir_check(configuration: Configuration) -> DoctorCheck:
    """Say whether the data folder can be written."""
    folder = configuration.data_dir
    detail = readable(folder)
    if not folder.is_dir():
        return failed("data_dir_writable", f"{detail} does not exist", "run `kb init`")
    if not os.access(folder, os.W_OK | os.X_OK):
        return failed("data_dir_writable", f"{detail} may not be written", "check the owner and mode of the folder")
    return DoctorCheck(name="data_dir_writable", ok=True, detail=detail)


def failed(name: str, detail: str, hint: str) -> DoctorCheck:
    """Return a check that failed, with what to do."""
    return DoctorCheck(name=name, ok=False, detail=detail, hint=hint or None)


def library_checks(parts: Parts) -> Iterator[DoctorCheck]:
    """Look at an opened library: file, indexes, models."""
    yield _sqlite_check(parts)
    text, *vectors = index_checks(parts)
    yield DoctorCheck(name="text_index_open", ok=text.ok, detail=text.detail, hint=text.hint)
    yield _vector_check(vectors)
    yield _embedding_check(parts)
    yield from _artifacts_checks(parts)
    yield _language_check(parts)


def _vector_check(checks: list[IndexCheck]) -> DoctorCheck:
    """One check for all vector engines: its detail names each."""
    if not checks:
        return DoctorCheck(name="vector_index_open", ok=True, detail="none without an embedding model")
    hint = next((check.hint for check in checks if not check.ok), None)
    detail = ", ".join(f"{check.name}: {check.detail}" for check in checks)
    return DoctorCheck(name="vector_index_open", ok=all(check.ok for check in checks), detail=detail, hint=hint)


def index_checks(parts: Parts) -> Iterator[IndexCheck]:
    """Compare each projection with the library, by log position."""
    model = parts.model
    facts = parts.chunks.facts(model)
    try:
        position = parts.text_index.position()
        detail = f"{facts.chunks} passages"
    except StorageFailed as error:
        position, detail = None, error.message
    yield _compared("text", position, facts.text_position, facts.chunks, detail)
    for index in parts.vector_indexes if model else ():
        try:
            held = index.position(model) if model else None
        except StorageFailed:
            held = None
        yield _compared(index.name, held, facts.vector_position, facts.vectors, f"{facts.vectors} vectors")


def _compared(name: str, held: int | None, wanted: int, count: int, detail: str) -> IndexCheck:
    if held is None:
        if not wanted:
            return IndexCheck(name=name, ok=True, expected=0, found=0, detail="nothing to hold yet")
        detail = "missing, damaged or of an older version"
        return IndexCheck(name=name, ok=False, expected=count, found=None, detail=detail, hint=_REBUILD)
    if held < wanted:
        behind = f"behind by {wanted - held} changes"
        hint = "run `kb ingest` to catch up"
        return IndexCheck(name=name, ok=False, expected=count, found=None, detail=behind, hint=hint)
    return IndexCheck(name=name, ok=True, expected=count, found=count, detail=detail)


def _sqlite_check(parts: Parts) -> DoctorCheck:
    try:
        report = parts.integrity.check()
    except KebabError as error:
        return failed("sqlite_open", error.message, error.hint)
    detail = f"kb.sqlite (schema v{report.schema_version})"
    if report.problems:
        hint = "restore a backup, or delete the data folder and run `kb ingest`: the originals are untouched"
        return failed("sqlite_open", f"{detail}: {report.problems[0]}", hint)
    return DoctorCheck(name="sqlite_open", ok=True, detail=detail)


def _embedding_check(parts: Parts) -> DoctorCheck:
    model = parts.model
    if model is not None:
        detail = f"{model.id} ({model.dimensions}d)"
        return DoctorCheck(name="embedding_model", ok=True, detail=detail)
    if parts.model_problem is not None:
        return failed("embedding_model", parts.model_problem.message, parts.model_problem.hint)
    return DoctorCheck(name="embedding_model", ok=True, detail="none (models.embedding.provider), keywords only")


def _language_check(parts: Parts) -> DoctorCheck:
    """A missing language model is never unhealthy: the extractive provider needs none."""
    if parts.settings.models.llm.provider == "extractive":
        return DoctorCheck(name="llm_model", ok=True, detail="extractive (quotes the evidence, needs no model)")
    try:
        return DoctorCheck(name="llm_model", ok=True, detail=f"{parts.language_model().ref.id} (llama_cpp)")
    except KebabError as error:
        return DoctorCheck(name="llm_model", ok=True, detail=error.message, hint=error.hint)


def _artifacts_checks(parts: Parts) -> Iterator[DoctorCheck]:
    """What is left of documents that are gone is only in the way, never unhealthy, and else not worth a line."""
    left = len(parts.orphans())
    if left:
        detail = f"{left} left of documents that are gone"
        yield DoctorCheck(name="artifacts", ok=True, detail=detail, hint="the next `kb ingest` removes them")
