from __future__ import annotations

import pytest

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.index_log import SqliteIndexLog
from kb.domain.failures import StorageFailed
from tests.builders import MODEL, staged
from tests.contracts.library import Ports


def test_a_trimmed_log_still_tells_where_it_ends(library: Library, ports: Ports) -> None:
    log = SqliteIndexLog(library)
    ports.publish(staged("a.md", "One."), staged("b.md", "Two."))
    ports.embed()
    before = ports.gate.facts(MODEL)
    log.trim(before.text_position, before.vector_position)
    assert ports.gate.facts(MODEL) == before
    assert library.rows("SELECT count(*) FROM index_log") == [(2,)]
    assert log.text_changes(before.text_position, 5) is None
    assert log.vector_changes(MODEL, before.vector_position, 5) is None


def test_an_index_behind_the_trimmed_log_is_told_to_rebuild(library: Library, ports: Ports) -> None:
    log = SqliteIndexLog(library)
    ports.publish(staged("a.md", "One."), staged("b.md", "Two."), staged("c.md", "Three."))
    log.trim(3, 0)
    with pytest.raises(StorageFailed, match="does not belong") as caught:
        log.text_changes(1, 5)
    assert caught.value.hint == "run `kb index rebuild`"
    changes = log.text_changes(2, 5)
    assert changes is not None
    assert [entry.text for entry in changes.add] == ["Three."]


def test_an_index_ahead_of_the_library_is_told_to_rebuild(ports: Ports) -> None:
    ports.publish(staged("a.md", "One."))
    with pytest.raises(StorageFailed, match="does not belong"):
        ports.log.text_changes(99, 5)
    with pytest.raises(StorageFailed, match="does not belong"):
        ports.log.vector_changes(MODEL, 99, 5)


def test_positions_are_never_given_twice(library: Library, ports: Ports) -> None:
    ports.publish(staged("a.md", "One."))
    with library.transaction() as connection:
        connection.execute("DELETE FROM index_log")
    ports.publish(staged("b.md", "Two."))
    assert ports.gate.facts(MODEL).text_position == 2


def test_a_snapshot_shows_one_moment_while_the_library_changes(ports: Ports) -> None:
    ports.publish(*(staged(f"{number}.md", f"Passage {number}.") for number in range(30)))
    ports.embed()
    text, vectors = ports.log.text_snapshot(), ports.log.vector_snapshot(MODEL)
    ports.items.delete_items([staged("7.md").item.item_id])
    ports.publish(staged("new.md", "New."))
    assert [entry.text for entry in text.entries] == [f"Passage {number}." for number in range(30)]
    assert len(list(vectors.rows)) == vectors.count == 30
    changes = ports.log.text_changes(text.position, 100)
    assert changes is not None
    assert len(changes.remove) == 1
    assert [entry.text for entry in changes.add] == ["New."]


def test_an_entry_carries_all_that_filters_ask(ports: Ports) -> None:
    ports.publish(staged("notes/a.md", "One.", title="Grill", tags=("b", "a"), lang="ko"))
    (entry,) = ports.log.text_snapshot().entries
    assert (entry.path, entry.heading, entry.lang) == ("notes/a.md", "Grill", "ko")
    assert (entry.tags, entry.trust_rank, entry.kinds) == (("a", "b"), 2, ("note", "markdown"))


def test_more_entries_than_may_be_held_are_read_whenever_they_are_gone_through(library: Library, ports: Ports) -> None:
    ports.publish(*(staged(f"{number}.md", f"Passage {number}.") for number in range(4)))
    held = SqliteIndexLog(library, most_held=4).text_changes(0, 10)
    changes = SqliteIndexLog(library, most_held=3).text_changes(0, 10)
    assert held is not None
    assert changes is not None
    assert isinstance(held.add, tuple)
    assert not isinstance(changes.add, tuple)
    assert list(changes.add) == list(changes.add) == list(held.add)
    ports.items.delete_items([staged("2.md").item.item_id])
    assert [entry.text for entry in changes.add] == ["Passage 0.", "Passage 1.", "Passage 3."]
