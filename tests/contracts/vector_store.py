"""What every store of vectors promises."""

from __future__ import annotations

from kb.domain.embeddings import ChunkKey
from tests.builders import MODEL, OTHER_MODEL, staged, vector_of
from tests.contracts.library import Ports


class VectorStoreContract:
    def test_pending_texts_come_shortest_first_and_each_once(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "A longer passage.", "Short."), staged("b.md", "Short."))
        assert [text.text for text in ports.vectors.pending(MODEL, 10)] == ["Short.", "A longer passage."]
        assert [text.text for text in ports.vectors.pending(MODEL, 1)] == ["Short."]

    def test_one_vector_serves_every_chunk_with_its_text(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "Short."), staged("b.md", "Short."))
        ports.embed()
        snapshot = ports.log.vector_snapshot(MODEL)
        rows = list(snapshot.rows)
        assert snapshot.count == 2
        assert [row.key for row in rows] == sorted(row.key for row in rows)
        assert {row.vector for row in rows} == {vector_of("Short.")}
        assert ports.vectors.pending(MODEL, 10) == []

    def test_a_known_text_adopts_its_vector(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "Short."))
        ports.embed()
        ports.publish(staged("b.md", "Short.", "New."))
        assert ports.vectors.adopt(MODEL) == 1
        assert [text.text for text in ports.vectors.pending(MODEL, 10)] == ["New."]
        assert ports.gate.facts(MODEL).vectors == 2

    def test_a_model_chosen_later_gets_its_records(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "Short.", parents=True))
        assert ports.vectors.adopt(OTHER_MODEL) == 0
        assert [text.text for text in ports.vectors.pending(OTHER_MODEL, 10)] == ["Short."]

    def test_vectors_of_two_models_never_meet(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "Short."))
        ports.embed()
        ports.vectors.adopt(OTHER_MODEL)
        assert ports.gate.facts(OTHER_MODEL).vectors == 0
        assert ports.log.vector_snapshot(OTHER_MODEL).count == 0
        assert ports.log.vector_changes(OTHER_MODEL, 0, 10) is None

    def test_what_is_superseded_is_not_embedded(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "Old."))
        ports.publish(staged("a.md", "New."))
        assert [text.text for text in ports.vectors.pending(MODEL, 10)] == ["New."]

    def test_parents_have_no_vector(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "One.", "Two.", parents=True))
        assert [text.text for text in ports.vectors.pending(MODEL, 10)] in (["One.", "Two."], ["Two.", "One."])
        assert ports.gate.facts(MODEL).chunks == 2

    def test_following_the_vector_log_gives_what_a_snapshot_gives(self, ports: Ports) -> None:
        held: dict[ChunkKey, bytes] = {}
        position = 0
        for step in (staged("a.md", "One."), staged("b.md", "Two.", "One."), staged("a.md", "Three.")):
            ports.publish(step)
            ports.vectors.adopt(MODEL)
            ports.embed()
            while changes := ports.log.vector_changes(MODEL, position, 2):
                for key in changes.remove:
                    held.pop(key, None)
                held |= {row.key: row.vector for row in changes.add}
                position = changes.position
        assert held == {row.key: row.vector for row in ports.log.vector_snapshot(MODEL).rows}
        assert ports.gate.facts(MODEL).vector_position == position

    def test_committing_changes_nothing_that_is_seen(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "One."))
        ports.embed()
        position = ports.gate.facts(MODEL).vector_position
        ports.vectors.commit_through(MODEL, position)
        assert ports.gate.facts(MODEL).vectors == 1
        assert ports.log.vector_changes(MODEL, position, 10) is None
        assert ports.log.vector_snapshot(MODEL).count == 1
