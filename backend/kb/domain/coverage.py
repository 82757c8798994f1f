"""The coverage ledger: every line, page or second of a document, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CoverageUnit:
    """A range of units, from 1, both ends included, in one state."""

    kind: Literal["page", "second", "sheet", "slide", "message", "section", "cell", "image", "line"]
    start: int
    end: int
    state: Literal["text", "ocr", "blank", "failed", "skipped", "waiting"]
    confidence: float | None = None
    reason: str | None = None
