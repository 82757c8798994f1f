"""`generation_preview.v1`: what kept questions would find otherwise after a switch."""

from __future__ import annotations

from typing import Literal

from kb.contract.base import Wire


class ReplayedPassage(Wire):
    """A passage that a question finds; ranks from 1, null where it is not among the hits."""

    uri: str
    doc_path: str
    quote: str
    rank_before: int | None
    rank_after: int | None


class ReplayedQuestion(Wire):
    """A kept question asked of both generations."""

    question: str
    kept: int
    gained: tuple[ReplayedPassage, ...]
    lost: tuple[ReplayedPassage, ...]


class GenerationPreview(Wire):
    """What kept questions would find otherwise after a switch; unchanged ones are only counted."""

    schema_version: Literal["generation_preview.v1"] = "generation_preview.v1"
    generation: int
    serving: int
    questions: int
    unchanged: int
    changed: tuple[ReplayedQuestion, ...]
