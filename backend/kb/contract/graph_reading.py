"""`graph_report.v1`: links read anew."""

from __future__ import annotations

from typing import Literal

from kb.contract.base import Request, Wire


class GraphReadRequest(Request):
    """Read links; with `anew` those of every file, else of files that are not read yet."""

    anew: bool = True


class GraphReport(Wire):
    """What a reading of links found: documents read, links by kind, and what is not clear."""

    schema_version: Literal["graph_report.v1"] = "graph_report.v1"
    documents: int
    links: dict[str, int]
    ambiguous: int
    unresolved: int
    duration_ms: int
