"""The final gate, switch by switch: each hides on its own, and everywhere."""

from __future__ import annotations

import pytest

from kb.adapters.sqlite.catalogue import SqliteCatalogue
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.gate import VISIBLE_BY_DOCUMENT, VISIBLE_CHUNKS
from kb.adapters.sqlite.pace import Pace
from kb.domain.search import SearchFilters
from tests.builders import MODEL, staged
from tests.contracts.library import Ports

HIDING = {
    "item deleted": "UPDATE items SET deleted_at = 'now' WHERE workspace_path = 'a.md'",
    "item excluded": "UPDATE items SET included = 0 WHERE workspace_path = 'a.md'",
    "item archived": "UPDATE items SET archived_at = 'now' WHERE workspace_path = 'a.md'",
    "another document active": "UPDATE items SET active_doc_id = 'x' WHERE workspace_path = 'a.md'",
    "version not ready": "UPDATE document_versions SET state = 'indexing' WHERE item_id = 'item-a.md'",
    "chunked otherwise": "UPDATE chunks SET chunking_key = (SELECT chunking_key FROM chunkings WHERE policy_hash = '')"
    " WHERE doc_id = (SELECT active_doc_id FROM items WHERE workspace_path = 'a.md')",
    "masking stale": "UPDATE documents SET privacy_state = 'stale' WHERE workspace_path = 'a.md'",
    "chunk disabled": "UPDATE chunks SET enabled = 0 WHERE text LIKE 'Hidden%'",
    "chunk a parent": "UPDATE chunks SET role = 'parent' WHERE text LIKE 'Hidden%'",
    "generation retired": "UPDATE document_versions SET generation_id = 2 WHERE item_id = 'item-a.md'",
}


@pytest.fixture
def ready(library: Library, ports: Ports) -> Library:
    ports.publish(staged("a.md", "Hidden one.", "Hidden two."), staged("b.md", "Shown."), staged("empty.md"))
    ports.embed()
    with library.transaction() as connection:
        connection.execute(
            "INSERT INTO generations (generation_id, fingerprint, state, created_at) VALUES (2, '', 'retired', 'now')"
        )
    return library


def everywhere(library: Library, ports: Ports) -> dict[str, object]:
    """Every way to a chunk that there is."""
    catalogue = SqliteCatalogue(library)
    keys = [key for (key,) in library.rows("SELECT chunk_key FROM chunks ORDER BY chunk_key")]
    documents = [doc_id for (doc_id,) in library.rows("SELECT doc_id FROM documents")]
    return {
        "visible": [stored.chunk.text for stored in ports.gate.visible(keys).values()],
        "matching": ports.texts(),
        "neighbours": {s.chunk.text for key in keys for s in ports.gate.neighbours(key, 1)},
        "listed": [s.chunk.text for doc_id in documents for s in catalogue.chunks(doc_id).entries],
    }


@pytest.mark.parametrize("switch", HIDING)
def test_each_switch_hides_a_chunk_everywhere(ready: Library, ports: Ports, switch: str) -> None:
    assert set(ports.texts()) == {"Hidden one.", "Hidden two.", "Shown."}
    with ready.transaction() as connection:
        assert connection.execute(HIDING[switch]).rowcount > 0
    assert everywhere(ready, ports) == {
        "visible": ["Shown."],
        "matching": ["Shown."],
        "neighbours": set(),
        "listed": ["Shown."],
    }


@pytest.mark.parametrize("switch", sorted(set(HIDING) - {"chunked otherwise", "chunk a parent"}))
def test_counts_ask_the_gate_too(ready: Library, ports: Ports, switch: str) -> None:
    assert ports.gate.facts(MODEL).chunks == 3
    with ready.transaction() as connection:
        connection.execute(HIDING[switch])
    facts = ports.gate.facts(MODEL)
    assert (facts.chunks, facts.vectors) == (1, 1)
    summary = SqliteCatalogue(ready).summary(MODEL)
    assert (summary.chunks, summary.vectors, summary.vectors_pending) == (1, 1, 0)


def test_fifty_chunks_are_one_statement(ready: Library, ports: Ports) -> None:
    statements: list[str] = []
    ready.reader().set_trace_callback(statements.append)
    ports.gate.visible(list(range(1, 51)))  # type: ignore[arg-type]
    ready.reader().set_trace_callback(None)
    assert len(statements) == 1


def test_the_gate_of_chosen_chunks_scans_no_table(ready: Library) -> None:
    plan = ready.rows(f"EXPLAIN QUERY PLAN SELECT c.text FROM {VISIBLE_CHUNKS} AND c.chunk_key IN (1, 2, 3)")
    scans = [step[3] for step in plan if step[3].startswith("SCAN")]
    assert scans == ["SCAN documents USING INDEX documents_hidden"]


def test_a_broad_filter_reads_the_index_and_not_the_text(ready: Library) -> None:
    plan = ready.rows(f"EXPLAIN QUERY PLAN SELECT c.chunk_key FROM {VISIBLE_BY_DOCUMENT}")
    assert [step[3] for step in plan if " c " in step[3]] == [
        "SEARCH c USING COVERING INDEX chunks_doc (doc_id=? AND chunking_key=?)"
    ]


def test_facts_are_counted_once_per_change(ready: Library, ports: Ports) -> None:
    first = ports.gate.facts(MODEL)
    assert ports.gate.facts(MODEL) is first
    ports.publish(staged("c.md", "More."))
    assert ports.gate.facts(MODEL).chunks == 4


def test_more_keys_than_one_statement_holds(library: Library, ports: Ports) -> None:
    ports.publish(staged("long.md", *(f"Paragraph {number}." for number in range(1203))))
    keys = ports.gate.matching(SearchFilters())
    assert len(ports.gate.visible(keys)) == 1203


def test_counts_of_a_moment_ago_come_with_the_positions_of_now(
    ready: Library, ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ports.gate.facts(MODEL)
    monkeypatch.setattr(Pace, "is_due", lambda _pace: False)
    ports.publish(staged("c.md", "Another."))
    ports.embed()
    facts = ports.gate.facts(MODEL)
    assert facts.chunks == first.chunks
    assert facts.text_position > first.text_position
    assert facts.vector_position > first.vector_position
