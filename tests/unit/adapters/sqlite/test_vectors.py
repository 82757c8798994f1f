from __future__ import annotations

import struct

import pytest

from kb.adapters.sqlite.catalogue import SqliteCatalogue
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.float16 import is_sound, pack, unpack
from kb.adapters.sqlite.integrity import SqliteIntegrity
from kb.domain.embeddings import Vector
from kb.domain.failures import StorageFailed
from tests.builders import MODEL, a_vector, staged, vector_of
from tests.contracts.library import Ports


def states(library: Library) -> list[str]:
    return [state for (state,) in library.rows("SELECT state FROM embedding_records ORDER BY chunk_key")]


def flip_a_bit(library: Library, text: str) -> None:
    with library.transaction() as connection:
        condition = "text_hash = (SELECT text_hash FROM chunks WHERE text = ?)"
        (blob,) = connection.execute(f"SELECT vector FROM vectors WHERE {condition}", (text,)).fetchone()
        flipped = bytes([blob[0] ^ 1]) + blob[1:]
        connection.execute(f"UPDATE vectors SET vector = ? WHERE {condition}", (flipped, text))


def test_a_vector_is_kept_in_half_precision_with_a_checksum() -> None:
    blob, checksum = pack(a_vector(0.5, -0.25, 0.0, 1.0))
    assert blob == struct.pack("<4e", 0.5, -0.25, 0.0, 1.0)
    assert unpack(blob) == a_vector(0.5, -0.25, 0.0, 1.0)
    assert is_sound(blob, checksum, 4)
    assert not is_sound(blob, checksum, 5)
    assert not is_sound(blob[:-1] + b"\x01", checksum, 4)


def test_half_precision_moves_a_number_by_less_than_a_two_thousandth() -> None:
    numbers = [0.0511, -0.0372, 0.1299, 0.9]
    kept = struct.unpack("<4f", unpack(pack(a_vector(*numbers))[0]))
    assert kept == pytest.approx(numbers, rel=1 / 2000)


def test_a_record_goes_from_pending_to_written_to_committed(library: Library, ports: Ports) -> None:
    ports.publish(staged("a.md", "One.", "Two, longer."))
    assert states(library) == ["pending", "pending"]
    first = ports.vectors.pending(MODEL, 1)
    ports.vectors.save(MODEL, [(text, vector_of(text.text)) for text in first])
    assert states(library) == ["written", "pending"]
    position = ports.gate.facts(MODEL).vector_position
    ports.embed()
    ports.vectors.commit_through(MODEL, position)
    assert states(library) == ["committed", "written"]
    ports.vectors.commit_through(MODEL, position + 1)
    assert states(library) == ["committed", "committed"]


def test_a_damaged_vector_is_left_out_counted_and_made_again(library: Library, ports: Ports) -> None:
    ports.publish(staged("a.md", "One.", "Two."), staged("b.md", "One."))
    ports.embed()
    flip_a_bit(library, "One.")
    assert "1 of 2 vectors looked at are damaged" in SqliteIntegrity(library).check().problems[0]
    snapshot = ports.log.vector_snapshot(MODEL)
    assert (snapshot.count, [row.vector for row in snapshot.rows]) == (1, [vector_of("Two.")])
    assert states(library) == ["pending", "written", "pending"]
    assert [text.text for text in ports.vectors.pending(MODEL, 5)] == ["One."]
    assert ports.vectors.adopt(MODEL) == 0
    assert SqliteCatalogue(library).summary(MODEL).vectors_damaged == 1
    ports.embed()
    assert ports.log.vector_snapshot(MODEL).count == 3
    assert SqliteIntegrity(library).check().problems == ()


def test_a_vector_damaged_before_an_index_took_it_is_withdrawn_from_the_log(library: Library, ports: Ports) -> None:
    ports.publish(staged("a.md", "One.", "Two."))
    ports.embed()
    flip_a_bit(library, "Two.")
    changes = ports.log.vector_changes(MODEL, 0, 10)
    assert changes is not None
    assert [row.vector for row in changes.add] == [vector_of("One.")]
    ports.embed()
    later = ports.log.vector_changes(MODEL, changes.position, 10)
    assert later is not None
    assert (len(later.remove), [row.vector for row in later.add]) == (1, [vector_of("Two.")])


def test_a_vector_of_the_wrong_size_stores_nothing(library: Library, ports: Ports) -> None:
    ports.publish(staged("a.md", "One.", "Two."))
    one, two = ports.vectors.pending(MODEL, 2)
    with pytest.raises(StorageFailed, match="2 dimensions came from a model of 4"):
        ports.vectors.save(MODEL, [(one, vector_of("x")), (two, Vector(b"\0" * 8))])
    assert library.rows("SELECT count(*) FROM vectors") == [(0,)]
    assert states(library) == ["pending", "pending"]


def test_chunks_staged_before_any_model_are_enrolled_once(library: Library, ports: Ports) -> None:
    one = staged("a.md", "One.", parents=True)
    ports.documents.stage(one.item, one.asset, one.document, one.chunks, None)
    assert states(library) == []
    ports.vectors.adopt(MODEL)
    ports.vectors.adopt(MODEL)
    assert states(library) == ["pending"]


def test_a_document_that_comes_back_without_a_model_is_enrolled_again(library: Library, ports: Ports) -> None:
    a, b = staged("a.md", "One."), staged("a.md", "Two.")
    ports.publish(a)
    ports.embed()
    ports.publish(b)
    ports.vectors.adopt(MODEL)
    ports.documents.stage(a.item, a.asset, a.document, a.chunks, None)
    ports.documents.activate([a.document.doc_id])
    assert ports.vectors.adopt(MODEL) == 1
    assert ports.gate.facts(MODEL).vectors == 1


def test_the_texts_of_some_documents_are_asked_for_alone(library: Library, ports: Ports) -> None:
    mine, other = staged("mine.md", "Mine.", "Shared."), staged("other.md", "Of another.", "Shared.")
    ports.publish(other)
    ports.publish(mine)
    doc_ids = [mine.document.doc_id]
    assert [text.text for text in ports.vectors.pending(MODEL, 9, doc_ids)] == ["Mine.", "Shared."]
    assert ports.vectors.pending(MODEL, 9, []) == []
    (shared,) = [text for text in ports.vectors.pending(MODEL, 9) if text.text == "Shared."]
    ports.vectors.save(MODEL, [(shared, vector_of("Shared."))])
    assert ports.vectors.adopt(MODEL, doc_ids) == 0
    assert [text.text for text in ports.vectors.pending(MODEL, 9, doc_ids)] == ["Mine."]
    assert [text.text for text in ports.vectors.pending(MODEL, 9)] == ["Mine.", "Of another."]
