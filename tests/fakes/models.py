"""Models and answer stores in plain Python: they behave as the ports promise, and nothing more."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from kb.answering.ports import AnswerRecord, GeneratedPiece, GenerateRequest
from kb.domain.answers import ModelRef
from kb.domain.embeddings import EmbeddingModel, Vector
from kb.domain.failures import ModelUnavailable


@dataclass
class FakeTokenizer:
    """One token a character."""

    def count(self, text: str) -> int:
        return len(text)

    def fitting_prefix(self, text: str, max_tokens: int) -> int:
        return max(1, min(len(text), max_tokens))


@dataclass
class FakeEmbedder:
    """A vector of letter pairs, hashed: texts with common pairs are near."""

    dimensions: int = 32
    unavailable: bool = False
    calls: list[str] = field(default_factory=list)

    @property
    def model(self) -> EmbeddingModel:
        return EmbeddingModel("fake-pairs", "1", "fake", self.dimensions, "mean", "query: ", "passage: ", 500)

    def embed_passage(self, text: str) -> Vector:
        return self._embed(text)

    def embed_query(self, text: str) -> Vector:
        return self._embed(text)

    def _embed(self, text: str) -> Vector:
        if self.unavailable:
            raise ModelUnavailable("the fake model is away", hint="bring it back")
        self.calls.append(text)
        counts = [0.0] * self.dimensions
        counts[0] = 1e-3
        lowered = text.casefold()
        for i in range(len(lowered) - 1):
            counts[hashlib.blake2b(lowered[i : i + 2].encode("utf-8", "replace")).digest()[0] % self.dimensions] += 1.0
        length = math.sqrt(sum(count * count for count in counts))
        return Vector(struct.pack(f"<{self.dimensions}f", *(count / length for count in counts)))


@dataclass
class ScriptedModel:
    """Says its script piece by piece; one token a character.

    Attributes:
        script: pieces of text.
        breaks_after: pieces said before it fails; None for never.
        closed: whether the last generation was closed before its end.
    """

    script: tuple[str, ...] = ()
    window: int = 4096
    finish_reason: str = "stop"
    breaks_after: int | None = None
    requests: list[GenerateRequest] = field(default_factory=list)
    said: int = 0
    closed: bool = False

    @property
    def ref(self) -> ModelRef:
        return ModelRef("scripted", "fake")

    @property
    def context_tokens(self) -> int:
        return self.window

    def count_tokens(self, text: str) -> int:
        return len(text)

    def generate(self, request: GenerateRequest, stop: Callable[[], bool] = lambda: False) -> Generator[GeneratedPiece]:
        self.requests.append(request)
        self.said = 0
        if stop():
            yield GeneratedPiece("", "aborted")
            return
        try:
            for i, text in enumerate(self.script):
                if self.breaks_after == i:
                    raise ModelUnavailable("the fake model broke", hint="mend it")
                self.said += 1
                yield GeneratedPiece(text)
            yield GeneratedPiece("", self.finish_reason, len(request.system) + len(request.user), self.said)
        except GeneratorExit:
            self.closed = True
            raise


@dataclass
class MemoryAnswers:
    """Kept answers, newest last."""

    records: list[AnswerRecord] = field(default_factory=list)
    on_keep: Callable[[AnswerRecord], None] | None = None

    def keep(self, record: AnswerRecord) -> None:
        if self.on_keep is not None:
            self.on_keep(record)
        self.records.append(record)

    def get(self, trace_id: str) -> AnswerRecord | None:
        return next((r for r in self.records if r.answer.retrieval.trace_id == trace_id), None)

    def recent(self, limit: int) -> list[AnswerRecord]:
        return self.records[::-1][:limit]
