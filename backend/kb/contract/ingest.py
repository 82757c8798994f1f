"""`ingest_report.v1`, and how reading the workspace is asked for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from kb.contract.base import Open, Request, Wire


class IngestRequest(Request):
    """Read the workspace, or only `paths` of it; `retry` takes failed files again.

    `password` opens locked files of this run; it is kept in memory until the run ends, and nowhere else.
    """

    # An error of validation would otherwise print what was given.
    model_config = ConfigDict(hide_input_in_errors=True)

    paths: tuple[str, ...] | None = Field(default=None, max_length=10_000)
    retry: bool = False
    confirm_removals: bool = False
    """Files that are missing are taken off the library however many they are; else many at once wait for this word."""
    request_key: str | None = Field(default=None, min_length=1, max_length=100)
    """Chosen by who asks: the same request with the same key is the same job."""
    summary_only: bool = False
    password: str | None = Field(default=None, min_length=1, max_length=1_000, repr=False)


class IngestWarning(Wire):
    """Something a parser had to bend."""

    kind: Annotated[Literal["malformed_frontmatter", "malformed_table", "encoding_fallback", "extract_failed"], Open]
    note: str


class IngestScope(Wire):
    """What was looked at."""

    root: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]


class IngestItem(Wire):
    """What became of one file; ids and counts are null where it did not come that far."""

    kind: Annotated[Literal["new", "updated", "skipped", "error", "deleted", "renamed"], Open]
    doc_id: str | None
    doc_path: str
    asset_id: str | None
    byte_len: int | None
    block_count: int | None
    chunk_count: int | None
    parser_version: str | None
    chunker_version: str | None
    warnings: tuple[IngestWarning, ...]
    error: str | None
    item_id: str | None = None
    renamed_from: str | None = None
    reason: str | None = None


class IngestNotice(Wire):
    """Something about the whole run: a stable word, the fact, the remedy."""

    reason: str
    detail: str
    hint: str = ""


class IngestReport(Wire):
    """One run; `items` is null when only the numbers were asked for."""

    schema_version: Literal["ingest_report.v1"] = "ingest_report.v1"
    scope: IngestScope
    scanned: int
    new: int
    updated: int
    skipped: int
    errors: int
    duration_ms: int
    items: tuple[IngestItem, ...] | None
    deleted: int = 0
    renamed: int = 0
    unsupported: int = 0
    embedded: int | None = None
    canceled: bool = False
    held_back: int = 0
    """Missing files that are still shown, since so many at once are rather a drive that is away."""
    notices: tuple[IngestNotice, ...] = ()
