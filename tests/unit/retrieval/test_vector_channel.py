"""Which engine answers, and what is said when the wished one cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.failures import StorageFailed
from kb.retrieval.ports import VectorReply
from kb.retrieval.vector_channel import VectorChannel
from tests.unit.retrieval.corpus import MODEL

QUERY = Vector(b"")


@dataclass
class Engine:
    name: str
    is_ready: bool = True
    fails: bool = False
    asked: list[object] = field(default_factory=list)

    def ready(self, model: EmbeddingModel, position: int) -> bool:
        return self.is_ready

    def search(
        self, model: EmbeddingModel, query: Vector, limit: int, allowed: object, should_stop: Callable[[], bool] = bool
    ) -> VectorReply:
        if self.fails:
            raise StorageFailed(f"{self.name} is damaged")
        self.asked.append(allowed)
        return VectorReply(((ChunkKey(1), 0.9),), 7)


def ask(
    scan: Engine, chroma: Engine | None, engine: str = "auto", allowed: list[ChunkKey] | None = None
) -> tuple[str | None, list[str]]:
    channel = VectorChannel(scan, chroma, engine)  # type: ignore[arg-type]
    answer = channel.search(MODEL, QUERY, 5, allowed=allowed, position=3)
    return answer.engine, [lost.reason for lost in answer.degraded]


def test_chroma_answers_once_it_is_ready() -> None:
    assert ask(Engine("scan"), Engine("chroma")) == ("chroma", [])


def test_the_scan_answers_while_chroma_starts_and_that_is_no_loss() -> None:
    assert ask(Engine("scan"), Engine("chroma", is_ready=False)) == ("scan", [])


def test_filters_always_go_to_the_scan() -> None:
    scan, chroma = Engine("scan"), Engine("chroma")
    assert ask(scan, chroma, allowed=[ChunkKey(1)]) == ("scan", [])
    assert (scan.asked, chroma.asked) == ([[ChunkKey(1)]], [])


@pytest.mark.parametrize(("is_ready", "fails"), [(False, False), (True, True)])
def test_a_forced_chroma_that_cannot_answer_is_replaced_aloud(is_ready: bool, fails: bool) -> None:
    assert ask(Engine("scan"), Engine("chroma", is_ready, fails), "chroma") == ("scan", ["vector_engine_fallback"])


def test_a_forced_scan_never_asks_chroma() -> None:
    chroma = Engine("chroma")
    assert ask(Engine("scan"), chroma, "scan") == ("scan", [])
    assert chroma.asked == []


@pytest.mark.parametrize(("is_ready", "fails"), [(False, False), (True, True)])
def test_without_any_engine_the_channel_is_silent_and_says_why(is_ready: bool, fails: bool) -> None:
    assert ask(Engine("scan", is_ready, fails), None) == (None, ["index_incompatible"])
