"""`versions.v1` and `version_diff.v1`: what an item has been, and what changed between two of its versions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from kb.contract.base import Open, Request, Wire


class Version(Wire):
    """One version of an item; `pinned_by` says why a purge leaves it alone, `openable` whether its text is kept."""

    number: int
    doc_id: str
    state: Annotated[Literal["indexing", "ready", "superseded", "purging", "purged"], Open]
    title: str | None
    created_at: AwareDatetime
    activated_at: AwareDatetime | None
    superseded_at: AwareDatetime | None
    parser_version: str | None
    chunker_version: str
    chunk_count: int
    generation: int
    openable: bool
    pinned_by: tuple[Annotated[Literal["serving", "in_flight", "answer", "generation", "recent"], Open], ...] = ()


class Versions(Wire):
    """The versions of an item, newest first; `stale` is why the shown one is older than the file, else null."""

    schema_version: Literal["versions.v1"] = "versions.v1"
    item_id: str
    doc_path: str
    stale: str | None
    versions: tuple[Version, ...]


class DiffRequest(Request):
    """Two versions of a document by their numbers; the two newest when they are left out."""

    doc: str = Field(min_length=1, max_length=4_000)
    before: int | None = Field(default=None, ge=1)
    after: int | None = Field(default=None, ge=1)


class DiffLine(Wire):
    """A line of text; `before` and `after` number it in the two versions, null where it does not stand."""

    kind: Literal["same", "removed", "added"]
    before: int | None
    after: int | None
    text: str


class VersionDiff(Wire):
    """What changed, as hunks with three lines around each; `truncated` when there is more than is shown."""

    schema_version: Literal["version_diff.v1"] = "version_diff.v1"
    item_id: str
    doc_path: str
    before: int
    after: int
    added: int
    removed: int
    hunks: tuple[tuple[DiffLine, ...], ...]
    truncated: bool = False


class PurgeRequest(Request):
    """Let go of earlier versions beyond `keep_versions` of each item (the setting's when null), pins left alone."""

    keep_versions: int | None = Field(default=None, ge=0, le=100)
    dry_run: bool = False


class PurgeReport(Wire):
    """What a purge let go of, or would: versions, bytes of copies and artifacts, and how many are pinned."""

    schema_version: Literal["purge_report.v1"] = "purge_report.v1"
    versions: int
    pinned: int
    freed_bytes: int
    dry_run: bool = False
