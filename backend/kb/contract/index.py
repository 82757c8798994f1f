"""`index_report.v1` and `index_verify.v1`: the projections built anew, and compared with the truth."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from kb.contract.base import Request, Wire


class RebuildRequest(Request):
    """Which projections to build anew from the library; nothing is parsed or embedded again."""

    text: bool = True
    vectors: bool = True

    @model_validator(mode="after")
    def _something(self) -> RebuildRequest:
        if not (self.text or self.vectors):
            raise ValueError("nothing to rebuild: text and vectors are both false")
        return self


class IndexReport(Wire):
    """What a rebuild wrote; null for what was not asked for. `embedded` is always 0: that is the point."""

    schema_version: Literal["index_report.v1"] = "index_report.v1"
    text_entries: int | None
    vectors: int | None
    embedded: int
    duration_ms: int
    vector_engines: dict[str, int] | None = None


class VerifyRequest(Request):
    """Compare the indexes with the library: their positions, or with `deep` every entry and every stored vector."""

    deep: bool = False


class CompactRequest(Request):
    """Give disk space back that removed entries still take, in the library file and in every index."""


class CompactReport(Wire):
    """Bytes on disk before and after, by part."""

    schema_version: Literal["compact_report.v1"] = "compact_report.v1"
    before: dict[str, int]
    after: dict[str, int]
    duration_ms: int


class IndexCheck(Wire):
    """One projection compared with the library; `expected` and `found` count entries."""

    name: str
    ok: bool
    expected: int | None
    found: int | None
    detail: str
    hint: str | None = None


class IndexVerify(Wire):
    """Whether every projection holds exactly what the library says."""

    schema_version: Literal["index_verify.v1"] = "index_verify.v1"
    ok: bool
    checks: tuple[IndexCheck, ...]
