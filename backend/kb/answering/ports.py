"""What answering needs from outside: evidence, a language model, a place to keep answers."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Protocol

from kb.domain.answers import Answer, ModelRef
from kb.retrieval.results import SearchResult
from kb.retrieval.values import SearchQuery


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One generation.

    Attributes:
        grammar: GBNF that the output must follow; None for none.
        stop: strings that end the generation and are not part of it.
    """

    system: str
    user: str
    max_tokens: int
    temperature: float = 0.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    grammar: str | None = None


@dataclass(frozen=True, slots=True)
class GeneratedPiece:
    """A piece of text, or the end: `finish_reason` is stop, length, aborted or error."""

    text: str = ""
    finish_reason: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PackedChunk:
    """What was in front of the model: the number, the chunk, its text as packed."""

    number: int
    chunk_id: str
    doc_id: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """An answer with its whole trace, as kept."""

    answer: Answer
    packed: tuple[PackedChunk, ...] = field(default_factory=tuple)
    prompt_system: str = ""
    prompt_user: str = ""
    temperature: float = 0.0
    seed: int = 0


class Evidence(Protocol):
    """Finds passages for a question."""

    def search(self, query: SearchQuery) -> SearchResult:
        """Return what was found, with how.

        Raises:
            KebabError: the search could not run.
        """

    def unread_items(self) -> int:
        """Return how many items of the library could not be searched."""


class LanguageModel(Protocol):
    """A model that writes text. One generation at a time."""

    @property
    def ref(self) -> ModelRef:
        """Which model it is, known without loading it."""

    @property
    def context_tokens(self) -> int:
        """The window: prompt and completion together."""

    def count_tokens(self, text: str) -> int:
        """Return the tokens of `text` by the model's own tokenizer."""

    def generate(self, request: GenerateRequest, stop: Callable[[], bool] = ...) -> Generator[GeneratedPiece]:
        """Yield pieces as they come and one last piece with the finish reason.

        Closing the generator stops the generation within a token. `stop` is asked where there is nothing to yield
        for long, before the first piece: True ends the generation there, `aborted`.

        Raises:
            ModelUnavailable: the model cannot be loaded or run.
        """


class AnswerStore(Protocol):
    """Kept answers."""

    def keep(self, record: AnswerRecord) -> None:
        """Store an answer for good, in one transaction."""

    def get(self, trace_id: str) -> AnswerRecord | None:
        """Return a kept answer."""

    def recent(self, limit: int) -> list[AnswerRecord]:
        """Return the newest answers first."""
