"""What a reader sees while an answer comes: the search first, then text, claims, and the whole answer at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from kb.domain.answers import Answer, Claim
from kb.retrieval.results import SearchResult


@dataclass(frozen=True, slots=True)
class Searched:
    """The evidence, before any text."""

    result: SearchResult


@dataclass(frozen=True, slots=True)
class TextCame:
    """More text of the answer, markers as people see them."""

    text: str


@dataclass(frozen=True, slots=True)
class TextWithdrawn:
    """All text so far no longer counts: the model failed, or what it wrote did not hold. What follows replaces it."""

    reason: str


@dataclass(frozen=True, slots=True)
class ClaimMade:
    """One sentence with its quote."""

    claim: Claim


@dataclass(frozen=True, slots=True)
class Answered:
    """The whole answer or refusal, already kept."""

    answer: Answer


AnswerEvent: TypeAlias = Searched | TextCame | TextWithdrawn | ClaimMade | Answered


class AnswerSink(Protocol):
    """Takes events, like a queue; one that raises is not asked again."""

    def put(self, event: AnswerEvent) -> None:
        """Take one event."""


class Reader:
    """A sink that may vanish at any moment without harm to the answer."""

    def __init__(self, sink: AnswerSink | None) -> None:
        self._sink = sink

    def tell(self, event: AnswerEvent) -> None:
        """Pass an event on while the sink is there."""
        if self._sink is None:
            return
        try:
            self._sink.put(event)
        except Exception:  # noqa: BLE001 - whatever a reader breaks with, the answer goes on and is kept
            self._sink = None
