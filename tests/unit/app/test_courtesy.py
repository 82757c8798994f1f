"""Background work lets a question that is being answered go first, but not for ever."""

from __future__ import annotations

import threading

from kb.app.bootstrap.searching import Turnstile
from kb.app.counting import CountingEmbedder
from kb.domain.embeddings import EmbeddingModel, Vector
from tests.builders import MODEL


class Notes:
    """Writes down what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    @property
    def model(self) -> EmbeddingModel:
        return MODEL

    def embed_passage(self, text: str) -> Vector:
        self.calls.append(text)
        return Vector(b"")

    def embed_query(self, text: str) -> Vector:
        self.calls.append(text)
        return Vector(b"")

    def count(self, text: str) -> int:
        return len(text)

    def fitting_prefix(self, text: str, max_tokens: int) -> int:
        return min(len(text), max_tokens)


def test_a_passage_waits_until_the_search_is_through() -> None:
    turnstile = Turnstile()
    order: list[str] = []
    entered = threading.Event()

    def work() -> None:
        entered.set()
        turnstile.let_by()
        order.append("passage")

    with turnstile.searching():
        background = threading.Thread(target=work)
        background.start()
        entered.wait(10)
        order.append("search")
    background.join(10)
    assert order == ["search", "passage"]


def test_background_work_goes_on_while_people_search_without_end() -> None:
    turnstile = Turnstile()
    with turnstile.searching():
        turnstile.let_by()


def test_passages_let_questions_by_and_questions_wait_for_nothing() -> None:
    notes = Notes()
    embedder = CountingEmbedder(notes, notes, lambda: notes.calls.append("let by"))
    embedder.embed_passage("passage")
    embedder.embed_query("question")
    assert notes.calls == ["let by", "passage", "question"]
    assert embedder.passages == 1
