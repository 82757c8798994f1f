"""What people change in passages: searched and shown at once, undone, carried to other versions, kept apart."""

from __future__ import annotations

import pytest

from kb.adapters.sqlite.catalogue import SqliteCatalogue
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.integrity import SqliteIntegrity
from kb.adapters.sqlite.layers import SqliteLayers
from kb.adapters.sqlite.purge import SqlitePurge
from kb.adapters.sqlite.versions import SqliteVersions
from kb.domain.catalogue import ChunkInspection
from kb.domain.embeddings import ChunkKey
from kb.domain.errors import Conflict, InvalidInput, NotFound
from kb.domain.recipes import ChunkId
from kb.domain.spans import LineSpan
from tests.builders import MODEL, Staged, staged
from tests.contracts.library import Ports

KETTLE = "The kettle boils at ninety degrees. It whistles when the water is hot enough for tea."
WINDOW = "The window stays closed in winter. In summer the steam goes out by it every morning."
DOOR = "The door has two locks. Only one of them has ever been used by anybody in this house."


@pytest.fixture
def layers(library: Library) -> SqliteLayers:
    return SqliteLayers(library)


def look(library: Library, one: Staged, number: int = 0) -> ChunkInspection:
    found = SqliteCatalogue(library).chunk(one.chunks[number].chunk_id)
    assert found is not None
    return found


def id_of(one: Staged, number: int = 0) -> ChunkId:
    return one.chunks[number].chunk_id


def changes_after(ports: Ports, position: int) -> tuple[list[str], list[str]]:
    found = ports.log.text_changes(position, 100)
    return (list(found.remove), [entry.text for entry in found.add]) if found else ([], [])


def test_an_edit_is_shown_indexed_and_waits_for_its_vector_at_once(
    ports: Ports, library: Library, layers: SqliteLayers
) -> None:
    one = staged("a.md", KETTLE, WINDOW)
    ports.publish(one)
    ports.embed()
    before = ports.gate.facts(MODEL)
    mended = KETTLE.replace("ninety", "a hundred")
    layers.say(id_of(one), mended)
    assert ports.texts() == [mended, WINDOW]
    assert changes_after(ports, before.text_position) == ([one.document.doc_id], [mended, WINDOW])
    vectors = ports.log.vector_changes(MODEL, before.vector_position, 10)
    assert vectors is not None
    assert (len(vectors.remove), vectors.add) == (1, ())
    assert [pending.text for pending in ports.vectors.pending(MODEL, 10)] == [mended]
    ports.embed()
    assert ports.gate.facts(MODEL).vectors == 2
    found = look(library, one)
    assert (found.manually_edited, found.original, found.stored.is_edited) == (True, KETTLE, True)
    assert found.stored.chunk.source_spans == (LineSpan(3, 3),)
    assert SqliteIntegrity(library).check(None).problems == ()


def test_an_edit_undone_finds_the_vector_it_had(ports: Ports, library: Library, layers: SqliteLayers) -> None:
    one = staged("a.md", KETTLE)
    ports.publish(one)
    ports.embed()
    layers.say(id_of(one), "Something else.")
    layers.undo(id_of(one))
    assert ports.texts() == [KETTLE]
    assert not ports.vectors.pending(MODEL, 10)
    assert ports.gate.facts(MODEL).vectors == 1
    found = look(library, one)
    assert (found.manually_edited, found.original) == (False, None)
    with pytest.raises(Conflict):
        layers.undo(id_of(one))


def test_changes_are_undone_one_after_the_other(ports: Ports, library: Library, layers: SqliteLayers) -> None:
    one = staged("a.md", KETTLE)
    ports.publish(one)
    layers.say(id_of(one), "First.")
    layers.say(id_of(one), "Second.")
    layers.enable(id_of(one), enabled=False)
    layers.enable(id_of(one), enabled=True)
    layers.undo(id_of(one))
    assert not look(library, one).enabled
    layers.undo(id_of(one))
    assert ports.texts() == ["Second."]
    layers.undo(id_of(one))
    assert ports.texts() == ["First."]
    layers.undo(id_of(one))
    assert ports.texts() == [KETTLE]


def test_an_edit_of_what_was_changed_meanwhile_is_refused(ports: Ports, library: Library, layers: SqliteLayers) -> None:
    one = staged("a.md", KETTLE)
    ports.publish(one)
    read = look(library, one).text_hash
    layers.say(id_of(one), "First.", read)
    with pytest.raises(Conflict):
        layers.say(id_of(one), "Second.", read)
    assert ports.texts() == ["First."]


def test_a_passage_taken_out_leaves_at_once_and_comes_back(
    ports: Ports, library: Library, layers: SqliteLayers
) -> None:
    one = staged("a.md", KETTLE, WINDOW)
    ports.publish(one)
    layers.enable(id_of(one), enabled=False)
    assert ports.texts() == [WINDOW]
    assert ports.gate.facts(None).chunks == 1
    layers.delete(id_of(one, 1))
    assert ports.texts() == []
    assert [look(library, one, number).is_deleted for number in (0, 1)] == [False, True]
    document = SqliteCatalogue(library).document(one.document.doc_id)
    assert document is not None
    assert (document.chunk_count, document.searchable) == (2, 0)
    with pytest.raises(Conflict, match="deleted"):
        layers.say(id_of(one, 1), "Something else.")
    layers.enable(id_of(one), enabled=True)
    layers.restore(id_of(one, 1))
    assert ports.texts() == [KETTLE, WINDOW]


def test_layers_stay_when_a_file_is_cut_otherwise(ports: Ports, library: Library, layers: SqliteLayers) -> None:
    ports.publish(one := staged("a.md", KETTLE, WINDOW, DOOR))
    mended = KETTLE.replace("ninety", "a hundred")
    layers.say(id_of(one), mended)
    layers.delete(id_of(one, 2))
    other = staged("a.md", KETTLE, WINDOW, DOOR, policy="policy-2")
    ports.publish(other)
    assert ports.texts() == [mended, WINDOW]
    assert look(library, other).original == KETTLE
    assert look(library, other, 2).is_deleted
    assert [layer.lost for layer in layers.layers().entries] == [None, None]


def test_what_fits_no_more_is_listed_and_tried_again(ports: Ports, library: Library, layers: SqliteLayers) -> None:
    ports.publish(one := staged("a.md", KETTLE, WINDOW))
    mended = KETTLE.replace("ninety", "a hundred")
    layers.say(id_of(one), mended)
    ports.publish(staged("a.md", DOOR, WINDOW))
    assert ports.texts() == [DOOR, WINDOW]
    (lost,) = layers.layers(lost=True).entries
    assert lost.new_text == mended
    assert lost.lost
    ports.publish(staged("a.md", DOOR, KETTLE))
    assert ports.texts() == [DOOR, mended]
    assert not layers.layers(lost=True).entries
    # And the file as it was before.
    ports.publish(one)
    assert ports.texts() == [mended, WINDOW]
    assert SqliteIntegrity(library).check(None).problems == ()


def test_a_change_made_meanwhile_is_there_when_an_earlier_text_comes_back(ports: Ports, layers: SqliteLayers) -> None:
    ports.publish(one := staged("a.md", KETTLE, WINDOW))
    ports.embed()
    ports.publish(other := staged("a.md", KETTLE, WINDOW, DOOR))
    mended = WINDOW.replace("winter", "autumn")
    layers.say(id_of(other, 1), mended)
    before = ports.gate.facts(MODEL)
    ports.publish(one)
    assert ports.texts() == [KETTLE, mended]
    removed, added = changes_after(ports, before.text_position)
    assert one.document.doc_id in removed
    assert sorted(added) == sorted([KETTLE, mended])
    ports.vectors.adopt(MODEL)
    assert [pending.text for pending in ports.vectors.pending(MODEL, 9)] == [mended]


def test_a_lost_layer_can_be_forgotten(ports: Ports, layers: SqliteLayers) -> None:
    ports.publish(one := staged("a.md", KETTLE))
    layers.say(id_of(one), "Something else that is long enough.")
    ports.publish(staged("a.md", DOOR))
    (lost,) = layers.layers(lost=True).entries
    layers.take_off(lost.layer_id)
    assert not layers.layers().entries
    with pytest.raises(NotFound):
        layers.take_off(lost.layer_id)


def test_the_verification_of_a_staged_version_asks_for_what_it_says(
    ports: Ports, library: Library, layers: SqliteLayers
) -> None:
    ports.publish(one := staged("a.md", KETTLE, WINDOW))
    mended = f"{KETTLE} And it is made of copper, which nobody would have thought."
    layers.say(id_of(one), mended)
    layers.enable(id_of(one, 1), enabled=False)
    ports.stage(other := staged("a.md", KETTLE, WINDOW, policy="policy-2"))
    (probe,) = SqliteVersions(library).probes([other.document.doc_id])
    entries = {entry.key: entry.text for entry in ports.log.text_snapshot().entries}
    assert probe.text == mended
    assert entries[ChunkKey(probe.key)] == probe.text
    assert probe.entries == len(entries) == 4


def test_parents_say_what_their_passages_say_and_cannot_be_edited(
    ports: Ports, library: Library, layers: SqliteLayers
) -> None:
    ports.publish(one := staged("a.md", KETTLE, WINDOW, parents=True))
    parent, first, second = (chunk.chunk_id for chunk in one.chunks)
    mended = KETTLE.replace("ninety", "a hundred")
    layers.say(first, mended)
    layers.delete(second)
    found = SqliteCatalogue(library).chunk(parent)
    assert found is not None
    assert "a hundred" in found.stored.chunk.text
    assert "window" not in found.stored.chunk.text
    assert found.enabled
    with pytest.raises(InvalidInput):
        layers.say(parent, "Something else.")
    layers.undo(second)
    layers.undo(first)
    found = SqliteCatalogue(library).chunk(parent)
    assert found is not None
    assert found.original is None


def test_every_passage_is_listed_and_found_in_its_document(
    ports: Ports, library: Library, layers: SqliteLayers
) -> None:
    ports.publish(one := staged("a.md", KETTLE, WINDOW, DOOR))
    layers.delete(id_of(one, 1))
    catalogue = SqliteCatalogue(library)
    page = catalogue.every_chunk(one.document.doc_id, limit=2)
    assert [entry.is_deleted for entry in page.entries] == [False, True]
    rest = catalogue.every_chunk(one.document.doc_id, int(page.next or "9"), 2)
    assert [entry.stored.chunk.text for entry in rest.entries] == [DOOR]
    assert rest.next is None
    found = catalogue.every_chunk(one.document.doc_id, holding="ＷＩＮＤＯＷ stays")
    assert [entry.stored.chunk.text for entry in found.entries] == [WINDOW]


def test_layers_go_with_their_item(ports: Ports, library: Library, layers: SqliteLayers) -> None:
    ports.publish(one := staged("a.md", KETTLE, WINDOW))
    layers.say(id_of(one), "Something else.")
    ports.items.delete_items([one.item.item_id])
    SqlitePurge(library).purge(0)
    for table in ("chunk_layers", "chunk_layer_places", "chunk_originals", "chunk_layer_losses"):
        assert library.rows(f"SELECT count(*) FROM {table}") == [(0,)]
    assert SqliteIntegrity(library).check(None).problems == ()


def test_a_check_tells_what_an_edit_must_never_leave(ports: Ports, library: Library, layers: SqliteLayers) -> None:
    ports.publish(one := staged("a.md", KETTLE, WINDOW))
    layers.say(id_of(one), "Something else.")
    with library.transaction() as connection:
        connection.execute("UPDATE chunks SET text = 'Nobody said so.' WHERE manually_edited = 1")
        connection.execute("UPDATE chunks SET enabled = 0 WHERE manually_edited = 0")
    problems = SqliteIntegrity(library).check(None).problems
    assert problems == (
        "1 passages are taken out though nobody took them out",
        "1 edited passages are not what their hash says",
    )
    with library.transaction() as connection:
        connection.execute("DELETE FROM chunk_originals")
    assert "1 edited passages have lost what the file says" in SqliteIntegrity(library).check(None).problems
