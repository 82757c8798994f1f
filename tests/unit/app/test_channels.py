"""After a change of passages the indexes follow: keywords first, then vectors, for a while and never at its cost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from kb.app.channels import Channels
from kb.domain.embeddings import EmbeddingModel, Vector
from kb.domain.errors import Unreadable
from kb.domain.index import TextChanges
from tests.builders import staged
from tests.contracts.library import Ports
from tests.fakes.index_log import FakeIndexLog
from tests.fakes.indexes import MemoryTextIndex, MemoryVectorIndex
from tests.fakes.library import FakeDocumentWriter, FakeGatedChunks, FakeItemStore, FakeLibrary, FakeVectorStore
from tests.fakes.models import FakeEmbedder

NOTE = staged("a.md", "The kettle boils.", "The window stays closed.")
DOC = NOTE.document.doc_id


class SlowTextIndex(MemoryTextIndex):
    """Applies nothing until it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_go_on = threading.Event()

    def apply(self, changes: TextChanges) -> None:
        assert self.may_go_on.wait(30)
        super().apply(changes)


class Choosy(FakeEmbedder):
    """Makes no vector of a certain text."""

    def embed_passage(self, text: str) -> Vector:
        if text == "short":
            raise Unreadable("too short", reason="too_short")
        return super().embed_passage(text)


@dataclass
class SomeParts:
    """What following needs of an opened library."""

    library: FakeLibrary = field(default_factory=FakeLibrary)
    text_index: MemoryTextIndex = field(default_factory=MemoryTextIndex)
    scan: MemoryVectorIndex = field(default_factory=lambda: MemoryVectorIndex("scan"))
    embedder: FakeEmbedder | None = field(default_factory=FakeEmbedder)

    def __post_init__(self) -> None:
        self.log, self.vectors = FakeIndexLog(self.library), FakeVectorStore(self.library)
        ports = Ports(
            FakeItemStore(self.library),
            FakeDocumentWriter(self.library),
            self.vectors,
            self.log,
            FakeGatedChunks(self.library),
        )
        self.text_index.rebuild(self.log.text_snapshot())
        self.publish = ports.publish
        self.publish(NOTE)

    @property
    def model(self) -> EmbeddingModel | None:
        return self.embedder.model if self.embedder else None

    @property
    def vector_indexes(self) -> list[MemoryVectorIndex]:
        return [self.scan]


@pytest.fixture
def closing() -> Iterator[list[Channels]]:
    opened: list[Channels] = []
    yield opened
    for channels in opened:
        channels.close()


def channels_of(parts: SomeParts, closing: list[Channels], wait_s: float = 20) -> Channels:
    channels = Channels(parts, wait_s=wait_s)
    closing.append(channels)
    return channels


def test_words_and_vectors_are_there_when_it_returns(closing: list[Channels]) -> None:
    parts = SomeParts()
    followed = channels_of(parts, closing).follow(DOC)
    assert (followed.keyword, followed.vector, followed.note, followed.window) == ("done", "done", "", 500)
    assert sorted(parts.text_index.texts()) == ["The kettle boils.", "The window stays closed."]
    assert parts.embedder is not None
    assert sorted(parts.embedder.calls) == ["The kettle boils.", "The window stays closed."]
    assert parts.scan.position(parts.embedder.model) is not None


def test_without_a_model_vectors_are_off_and_with_one_that_is_away_they_wait(closing: list[Channels]) -> None:
    followed = channels_of(SomeParts(embedder=None), closing).follow(DOC)
    assert (followed.keyword, followed.vector) == ("done", "disabled")
    followed = channels_of(SomeParts(embedder=FakeEmbedder(unavailable=True)), closing).follow(DOC)
    assert (followed.keyword, followed.vector) == ("done", "waiting")
    assert followed.note == "the fake model is away"


def test_a_slow_index_is_waited_for_only_so_long_and_goes_on(closing: list[Channels]) -> None:
    index = SlowTextIndex()
    channels = channels_of(SomeParts(text_index=index), closing, wait_s=0.05)
    followed = channels.follow(DOC)
    assert (followed.keyword, followed.vector) == ("waiting", "waiting")
    index.may_go_on.set()
    channels.close()
    assert len(index.texts()) == 2


def test_an_index_that_fails_is_said_and_made_up_for_later(closing: list[Channels]) -> None:
    parts = SomeParts()
    parts.text_index.failures = 2  # neither brought up nor built anew
    followed = channels_of(parts, closing).follow(DOC)
    assert (followed.keyword, followed.note) == ("waiting", "the disk is full")
    assert channels_of(parts, closing).follow(DOC).keyword == "done"
    assert len(parts.text_index.texts()) == 2


def test_an_edited_passage_among_many_without_a_vector_gets_its_own() -> None:
    note = staged("b.md", *(f"Passage number {n}." for n in range(80)), "What was edited is the longest. " * 5)
    parts = SomeParts()
    parts.publish(note)
    channels = Channels(parts, wait_s=20)
    followed = channels.follow(note.document.doc_id)
    channels.close()
    assert followed.vector == "done"
    assert parts.vectors.pending(FakeEmbedder().model, 100, [note.document.doc_id]) == []


def test_a_text_the_model_refuses_keeps_no_other_from_its_vector_and_is_said() -> None:
    note = staged("b.md", "short", "A longer passage.")
    parts = SomeParts(embedder=Choosy())
    parts.publish(note)
    channels = Channels(parts, wait_s=20)
    followed = channels.follow(note.document.doc_id)
    channels.close()
    assert (followed.keyword, followed.vector) == ("done", "waiting")
    assert "wait for their vector" in followed.note
    assert [one.text for one in parts.vectors.pending(FakeEmbedder().model, 9, [note.document.doc_id])] == ["short"]
