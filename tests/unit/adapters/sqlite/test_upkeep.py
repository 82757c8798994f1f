"""What `kb doctor` compares with, and mends, in the library file itself."""

from __future__ import annotations

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.upkeep import SqliteUpkeep
from tests.builders import MODEL, staged
from tests.contracts.library import Ports


def damage_one(library: Library) -> None:
    with library.transaction() as connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(length(vector)) WHERE rowid = 1")


def embedded(ports: Ports) -> None:
    ports.publish(staged("a.md", "One.", "Two."))
    ports.embed()


def test_what_is_shown_and_embedded_is_what_the_indexes_should_hold(library: Library, ports: Ports) -> None:
    upkeep = SqliteUpkeep(library)
    assert (upkeep.text_keys().keys, upkeep.vector_keys(MODEL).keys) == (frozenset(), frozenset())
    ports.publish(staged("a.md", "One.", "Two."))
    assert (len(upkeep.text_keys().keys), len(upkeep.vector_keys(MODEL).keys)) == (2, 0)
    ports.embed()
    assert upkeep.vector_keys(MODEL).keys == upkeep.text_keys().keys


def test_a_damaged_vector_is_counted_left_out_of_the_sample_and_made_pending(library: Library, ports: Ports) -> None:
    upkeep = SqliteUpkeep(library)
    embedded(ports)
    damage_one(library)
    found = upkeep.damaged_vectors()
    assert (found.looked_at, found.damaged) == (2, 1)
    assert len(upkeep.some_vectors(MODEL, 10)) == 1
    assert upkeep.drop_damaged_vectors() == 1
    assert upkeep.unfinished().texts == 1
    assert upkeep.damaged_vectors().damaged == 0


def test_a_file_to_be_read_again_loses_its_fingerprint_and_stays_shown(library: Library, ports: Ports) -> None:
    upkeep = SqliteUpkeep(library)
    embedded(ports)
    ((doc_id,),) = library.rows("SELECT active_doc_id FROM items")
    assert list(upkeep.read_again([doc_id])) == ["a.md"]
    assert library.rows("SELECT fingerprint, active_doc_id FROM items") == [(None, doc_id)]


def test_only_a_pdf_or_a_recording_has_artifacts(library: Library, ports: Ports) -> None:
    upkeep = SqliteUpkeep(library)
    embedded(ports)
    ((doc_id,),) = library.rows("SELECT doc_id FROM documents")
    assert list(upkeep.with_artifacts()) == []
    for kind in ("pdf", "audio", "video"):
        with library.transaction() as connection:
            connection.execute("UPDATE documents SET media_type = ?", (kind,))
        assert list(upkeep.with_artifacts()) == [doc_id]
