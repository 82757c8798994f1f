"""Generations in the library: nothing of one is seen before the switch, which is all or nothing, and can be undone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.gate import SqliteGatedChunks
from kb.adapters.sqlite.generation_build import SqliteGenerationBuild
from kb.adapters.sqlite.generation_switch import SqliteGenerationSwitch
from kb.adapters.sqlite.generations import SqliteGenerations
from kb.adapters.sqlite.outbox import SqliteOutbox
from kb.adapters.sqlite.purge import SqlitePurge
from kb.adapters.sqlite.reading import SqliteReading
from kb.domain.chunks import ChunkPolicy
from kb.domain.errors import NotFound
from kb.domain.failures import StorageFailed
from kb.domain.generations import FIRST, Generation, GenerationId, GenerationState, Recipe
from kb.domain.recipes import ChunkId, DocumentId
from kb.domain.search import SearchFilters
from tests.builders import MODEL, OTHER_MODEL, Staged, path_of, staged, vector_of
from tests.contracts.library import Ports
from tests.logical_state import logical_state

OLD = Recipe(ChunkPolicy(max_tokens=500), "c", {"markdown": "md-1"}, MODEL, "e5")
NEW = replace(OLD, model=OTHER_MODEL, policy=ChunkPolicy(target_characters=800, max_tokens=500))
NOTES = (staged("a.md", "First.", "Same."), staged("b.md", "Second.", "Same."))


class Two:
    """A library whose documents are in one generation, and built for another, cut otherwise, by another model."""

    def __init__(self, library: Library, ports: Ports) -> None:
        self.library, self.ports = library, ports
        self.generations = SqliteGenerations(library)
        self.build = SqliteGenerationBuild(library)
        ports.publish(*NOTES)
        ports.embed()
        self.generations.set_recipe(FIRST, OLD)
        self.new = self.generations.begin(NEW)

    def make(self, *documents: Staged) -> None:
        """Cut documents otherwise for the new generation, embed, and say that it is ready."""
        shown = {one.item.path: one for one in self.build.outdated(self.new.generation_id)}
        for one in documents:
            other = [replace(c, chunk_id=ChunkId(f"new-{c.chunk_id}"), policy_hash="policy-2") for c in one.chunks]
            self.build.stage(self.new.generation_id, shown[one.item.path], one.document, other, "new")
        self.embed(self.new, OTHER_MODEL)
        self.generations.make_ready(self.new.generation_id)

    def embed(self, generation: Generation, model: object) -> int:
        assert model is OTHER_MODEL
        texts = self.build.pending(generation.generation_id, OTHER_MODEL, 100)
        self.ports.vectors.save(OTHER_MODEL, [(text, vector_of(text.text)) for text in texts])
        return len(texts)

    def switch(self, to: GenerationId, recipe: Recipe) -> None:
        SqliteGenerationSwitch(self.library).switch(to, recipe.model)

    def states(self) -> dict[int, str]:
        return {one.generation_id: one.state.value for one in self.generations.all()}

    def policies(self) -> set[str]:
        keys = self.ports.gate.matching(SearchFilters())
        return {stored.chunk.policy_hash for stored in self.ports.gate.visible(keys).values()}

    def said(self) -> dict[str, list[tuple[object, ...]]]:
        with self.library.view() as view:
            return logical_state(view)


@pytest.fixture
def two(library: Library, ports: Ports) -> Two:
    return Two(library, ports)


def test_what_is_built_is_neither_seen_nor_indexed_before_the_switch(two: Two) -> None:
    before = two.said()
    text = [entry.key for entry in two.ports.log.text_snapshot().entries]
    two.make(*NOTES)
    assert (two.policies(), two.ports.gate.facts(MODEL).chunks) == ({"policy-1"}, 4)
    assert [entry.key for entry in two.ports.log.text_snapshot().entries] == text
    assert two.said() == before
    assert two.ports.vectors.pending(MODEL, 10) == []


def test_a_passage_of_a_generation_that_never_served_opens_nowhere(two: Two) -> None:
    two.make(*NOTES)
    reading, first = SqliteReading(two.library), NOTES[0].chunks[0].chunk_id
    assert reading.kept_chunk(ChunkId(f"new-{first}")) is None
    two.switch(two.new.generation_id, NEW)
    for chunk_id in (first, ChunkId(f"new-{first}")):
        assert reading.kept_chunk(chunk_id) is not None


def test_equal_texts_are_embedded_once(two: Two) -> None:
    two.make()
    for one in NOTES:
        two.build.take_over(two.new.generation_id, [one.item.item_id])
    assert two.embed(two.new, OTHER_MODEL) == 3
    counts = two.generations.counts(two.new)
    assert (counts.documents, counts.documents_total, counts.passages) == (2, 2, 4)
    assert (counts.vectors, counts.distinct_texts, counts.failed) == (4, 3, 0)


def test_the_indexes_of_a_generation_are_given_what_the_switch_shows(two: Two) -> None:
    two.make(*NOTES)
    made = two.build.text_snapshot(two.new.generation_id)
    vectors = two.build.vector_snapshot(two.new.generation_id, OTHER_MODEL)
    entries, rows = list(made.entries), list(vectors.rows)
    two.switch(two.new.generation_id, NEW)
    after = two.ports.log.text_snapshot()
    assert list(after.entries) == entries
    assert after.position == made.position
    shown = two.ports.log.vector_snapshot(OTHER_MODEL)
    assert (list(shown.rows), shown.count, shown.position) == (rows, vectors.count, vectors.position)
    assert vectors.count == len(rows) == 4


def test_the_switch_shows_all_of_the_other_generation_and_goes_back(two: Two) -> None:
    before, facts = two.said(), two.ports.gate.facts(MODEL)
    two.make(*NOTES)
    two.switch(two.new.generation_id, NEW)
    assert two.policies() == {"policy-2"}
    assert two.states() == {1: "retired", 2: "serving"}
    assert (two.ports.gate.facts(OTHER_MODEL).vectors, two.ports.gate.facts(MODEL).vectors) == (4, 0)
    two.switch(FIRST, OLD)
    assert two.states() == {1: "serving", 2: "retired"}
    assert two.policies() == {"policy-1"}
    back = two.ports.gate.facts(MODEL)
    assert (back.chunks, back.vectors) == (facts.chunks, facts.vectors)
    assert two.said() == before


def test_a_generation_that_lacks_a_change_is_not_switched_to(two: Two) -> None:
    two.make(*NOTES)
    changed = staged("a.md", "Changed.")
    two.ports.publish(changed)
    assert [one.item.path for one in two.build.outdated(two.new.generation_id)] == ["a.md"]
    before = two.said()
    with pytest.raises(StorageFailed, match="lacks 1 documents"):
        two.switch(two.new.generation_id, NEW)
    assert (two.said(), two.states()) == (before, {1: "serving", 2: "ready"})
    two.make(changed)
    two.switch(two.new.generation_id, NEW)
    assert two.policies() == {"policy-2"}
    # What changed meanwhile is not lost by going back either.
    assert [one.item.path for one in two.build.outdated(FIRST)] == []


def test_what_changed_after_the_switch_is_caught_up_when_going_back(two: Two) -> None:
    two.make(*NOTES)
    two.switch(two.new.generation_id, NEW)
    two.ports.publish(staged("b.md", "Changed."))
    assert [one.item.path for one in two.build.outdated(FIRST)] == ["b.md"]
    two.ports.items.delete_items([NOTES[1].item.item_id])
    assert two.build.outdated(FIRST) == []
    two.switch(FIRST, OLD)
    assert two.ports.texts() == ["First.", "Same."]


class Died(Exception):
    """The process ended here."""


STEPS = 15


@pytest.mark.parametrize("step", range(STEPS))
def test_a_switch_that_ends_anywhere_leaves_the_old_generation_whole(
    two: Two, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    two.make(*NOTES)
    before, texts = two.said(), two.ports.texts()
    transaction = two.library.transaction

    class Dying:
        def __init__(self, connection: sqlite3.Connection) -> None:
            self.connection, self.left = connection, step

        def execute(self, *arguments: object) -> sqlite3.Cursor:
            if not self.left:
                raise Died
            self.left -= 1
            return self.connection.execute(*arguments)  # type: ignore[arg-type]

    @contextmanager
    def dying() -> Iterator[Dying]:
        with transaction() as connection:
            yield Dying(connection)

    monkeypatch.setattr(two.library, "transaction", dying)
    with pytest.raises(Died):
        two.switch(two.new.generation_id, NEW)
    monkeypatch.undo()
    assert (two.said(), two.ports.texts(), two.states()) == (before, texts, {1: "serving", 2: "ready"})
    two.switch(two.new.generation_id, NEW)
    assert two.policies() == {"policy-2"}


def test_a_staged_version_that_is_not_shown_yet_is_read_again_after_the_switch(two: Two) -> None:
    two.make(*NOTES)
    two.ports.stage(staged("a.md", "Changed."))
    two.switch(two.new.generation_id, NEW)
    assert two.ports.documents.staged() == []
    assert two.ports.items.live_items()[path_of("a.md")].fingerprint is None
    assert "Changed." not in two.ports.texts()


def test_a_third_generation_lets_go_of_the_first(two: Two) -> None:
    two.make(*NOTES)
    two.switch(two.new.generation_id, NEW)
    third = two.generations.begin(replace(NEW, chunker="d"))
    two.build.take_over(third.generation_id, [one.item.item_id for one in NOTES])
    two.switch(third.generation_id, NEW)
    assert two.states() == {3: "serving", 2: "retired"}
    with pytest.raises(NotFound):
        two.generations.get(FIRST)


def test_discarding_removes_what_only_that_generation_needs(two: Two) -> None:
    before = {name: two.library.rows(f"SELECT count(*) FROM {name}") for name in ("documents", "chunks", "vectors")}
    two.make(*NOTES)
    assert two.library.rows("SELECT count(*) FROM chunks") != before["chunks"]
    two.generations.discard(two.new.generation_id)
    assert {name: two.library.rows(f"SELECT count(*) FROM {name}") for name in before} == before
    assert two.states() == {1: "serving"}
    assert two.ports.texts() == ["First.", "Same.", "Second.", "Same."]


def test_what_only_a_discarded_generation_had_goes_from_the_disk_through_the_outbox(two: Two) -> None:
    other = DocumentId("f" * 32)
    document = replace(NOTES[0].document, doc_id=other, blocks=())
    chunk = replace(NOTES[0].chunks[0], doc_id=other, chunk_id=ChunkId("read-otherwise"), text="Read otherwise.")
    shown = {one.item.path: one for one in two.build.outdated(two.new.generation_id)}[path_of("a.md")]
    two.build.stage(two.new.generation_id, shown, document, [chunk], "new")
    two.embed(two.new, OTHER_MODEL)
    two.generations.discard(two.new.generation_id)
    waiting = SqliteOutbox(two.library).waiting(0, 10)
    assert [(removal.kind, removal.name) for removal in waiting] == [("artifacts", other)]
    assert two.library.rows("SELECT count(*) FROM vectors WHERE text_hash NOT IN (SELECT text_hash FROM chunks)") == [
        (0,)
    ]


def test_what_a_generation_showed_when_it_began_to_serve_is_purged_like_any_other_version(two: Two) -> None:
    two.make(*NOTES)
    two.switch(two.new.generation_id, NEW)
    two.generations.discard(FIRST)
    two.ports.publish(staged("a.md", "Changed."))
    assert SqlitePurge(two.library).purge(0).pinned == 0
    assert two.library.rows("SELECT count(*) FROM chunks WHERE text = 'First.'") == [(0,)]


def test_no_generation_keeps_the_text_of_a_file_that_is_gone_for_long(two: Two) -> None:
    two.make(*NOTES)
    two.switch(two.new.generation_id, NEW)
    two.ports.items.delete_items([NOTES[0].item.item_id])
    purge = SqlitePurge(two.library)
    purge.purge(0, keep_deleted_days=30)
    assert two.library.rows("SELECT count(*) FROM chunks WHERE text = 'First.'") == [(2,)]
    expected = purge.expected(0, keep_deleted_days=0)
    assert (purge.purge(0, keep_deleted_days=0).versions, expected.versions) == (2, 2)
    assert two.library.rows("SELECT count(*) FROM chunks WHERE text = 'First.'") == [(0,)]
    two.switch(FIRST, OLD)
    assert two.ports.texts() == ["Second.", "Same."]


def test_what_other_rules_masked_leaves_every_generation_that_may_come_to_serve(two: Two) -> None:
    two.make(*NOTES)
    two.switch(two.new.generation_id, NEW)
    version = NOTES[0].document.parser_version
    two.generations.forget(lambda one: one == version)
    assert two.build.outdated(FIRST) == []
    two.generations.forget(lambda one: one != version)
    assert [one.item.path for one in two.build.outdated(FIRST)] == ["a.md", "b.md"]
    with pytest.raises(StorageFailed, match="lacks 2 documents"):
        two.switch(FIRST, OLD)


def test_a_build_goes_on_with_what_it_had_and_another_recipe_begins_anew(two: Two) -> None:
    two.build.take_over(two.new.generation_id, [NOTES[0].item.item_id])
    again = two.generations.begin(NEW)
    assert (again.generation_id, again.state) == (two.new.generation_id, GenerationState.BUILDING)
    assert [one.item.path for one in two.build.outdated(again.generation_id)] == ["b.md"]
    other = two.generations.begin(replace(NEW, chunker="d"))
    assert two.states() == {1: "serving", other.generation_id: "building"}


def test_what_a_generation_would_show_passes_the_same_gate(two: Two, library: Library) -> None:
    two.make(*NOTES)
    gate = SqliteGatedChunks(library, two.new.generation_id)
    keys = gate.matching(SearchFilters())
    assert {stored.chunk.policy_hash for stored in gate.visible(keys).values()} == {"policy-2"}
    assert (gate.facts(OTHER_MODEL).chunks, gate.facts(OTHER_MODEL).vectors) == (4, 4)
    assert sorted(gate.sample(10)) == sorted(keys)
    with library.transaction() as connection:
        connection.execute("UPDATE items SET included = 0 WHERE workspace_path = 'a.md'")
    assert {stored.path for stored in gate.visible(keys).values()} == {"b.md"}


def test_a_document_that_could_not_be_read_again_is_counted_and_read_after_the_switch(two: Two) -> None:
    two.build.take_over(two.new.generation_id, [NOTES[0].item.item_id], whole=False)
    two.build.take_over(two.new.generation_id, [NOTES[1].item.item_id])
    assert two.generations.counts(two.new).failed == 1
    two.switch(two.new.generation_id, NEW)
    assert two.ports.items.live_items()[path_of("a.md")].fingerprint is None
    assert two.ports.texts() == ["First.", "Same.", "Second.", "Same."]
