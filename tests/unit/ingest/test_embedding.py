"""Vectors: made once, shortest first, saved as they come, missed out loud."""

from __future__ import annotations

from kb.domain.search import Degradation
from tests.fakes.indexes import CountingEmbedder
from tests.unit.ingest.world import World, counts


def world_of(*texts: str) -> World:
    world = World()
    for number, text in enumerate(texts):
        world.files.write(f"{number:03}.md", text)
    return world


def test_the_shortest_texts_are_embedded_first() -> None:
    world = world_of("a middling text", "the longest text of all three", "short")
    world.ingest()
    assert world.embedder is not None
    assert world.embedder.texts == ["short", "a middling text", "the longest text of all three"]


def test_vectors_are_saved_64_at_a_time() -> None:
    world = world_of(*(f"text number {number:03}" for number in range(150)))
    world.ingest()
    assert sum(world.library.saves) == 150
    assert all(size <= 66 for size in world.library.saves)
    assert len(world.library.saves) <= 3


def test_several_workers_make_the_same_vectors() -> None:
    texts = [f"text number {number:03}" for number in range(100)]
    one, three = world_of(*texts), world_of(*texts)
    one.ingest(workers=1)
    three.ingest(workers=3)
    assert three.embedded() == 100
    assert three.state() == one.state()


def test_without_an_embedder_there_is_text_and_a_word_about_the_vectors() -> None:
    world = world_of("Apples are red.")
    world.embedder = None
    report = world.ingest()
    assert world.text_index.texts() == ["Apples are red."]
    (notice,) = report.notices
    assert notice.reason is Degradation.NO_EMBEDDING_MODEL
    assert notice.hint


def test_vectors_are_caught_up_once_there_is_a_model() -> None:
    world = world_of("Apples are red.")
    world.embedder = CountingEmbedder(unavailable=True)
    report = world.ingest()
    (notice,) = report.notices
    assert (notice.reason, notice.hint) == (Degradation.NO_EMBEDDING_MODEL, "run `kb models pull`")
    assert world.library.visible() == {"000.md": ["Apples are red."]}
    world.embedder.unavailable = False
    assert counts(world.ingest()) == {"scanned": 1, "skipped": 1, "embedded": 1}
    assert len(world.scan_index.rows) == 1


def test_one_text_the_model_refuses_does_not_cost_the_others_their_vectors() -> None:
    world = world_of("Apples are red.", "odd")
    world.embedder = CountingEmbedder(refuses="odd")
    report = world.ingest()
    assert report.embedded == 1
    assert [notice.reason for notice in report.notices] == [Degradation.PARTIAL_VECTORS]
    assert len(world.scan_index.rows) == 1


def test_a_stop_between_passages_saves_the_vectors_made() -> None:
    world = world_of(*(f"text number {number:03}" for number in range(50)))
    report = world.ingest(should_stop=lambda: world.embedded() >= 5)
    assert report.canceled
    assert 5 <= report.embedded < 50
    assert world.library.vector_count() == report.embedded
    assert counts(world.ingest())["embedded"] == 50 - report.embedded
    assert len(world.scan_index.rows) == 50


def test_a_text_that_comes_back_takes_the_vector_it_had() -> None:
    world = world_of("Apples are red.")
    world.ingest()
    world.files.write("copy.md", "Apples are red.")
    report = world.ingest()
    assert (report.embedded, report.adopted) == (0, 1)
    assert len(world.scan_index.rows) == 2
