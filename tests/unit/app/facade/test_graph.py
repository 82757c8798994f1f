"""Links in the whole program: read by an ingest, followed by a search, changed by people, helpful and harmless."""

from __future__ import annotations

import pytest

from kb.contract.facade import Facade
from kb.contract.graph import AddLinkRequest, GraphLinksRequest, GraphStateRequest, LinkRequest
from kb.contract.graph_reading import GraphReadRequest
from kb.contract.jobs import JobRequest
from kb.contract.library import DocumentsRequest
from kb.contract.search import FindRequest
from kb.domain.errors import InvalidInput, NotFound
from tests.unit.app.facade.conftest import Desk, Home

ON = {"KB_GRAPH_ENABLED": "true"}
OFF = {"KB_GRAPH_ENABLED": "false"}
TOPICS = ("Falcon", "Harbour", "Lantern", "Mosaic", "Quarry", "Saddle", "Thicket", "Violin")
WORDS = ("amber", "birch", "copper", "delta", "ember", "fjord", "glade", "heath")


def fill(home: Home) -> None:
    """Eight notes; the answer to each question stands in a linked note that shares no word with the question."""
    for number, (topic, word) in enumerate(zip(TOPICS, WORDS, strict=True)):
        home.put(f"topics/{topic}.md", f"# {topic}\n\n{topic} lives as told in [[sheet {number}|the sheet]].\n")
        home.put(f"sheets/sheet {number}.md", f"# Sheet {number}\n\nGive {word} twice, then rest.\n")
        for place in ("attic", "cellar", "garden"):
            home.put(f"{place}/{topic} seen.md", f"# {place.title()}\n\nOne {topic} was in the {place}.\n")


def read(desk: Desk) -> None:
    job = desk.facade.graph.rebuild(GraphReadRequest())
    while job.finished_at is None:
        job = desk.facade.jobs.get(JobRequest(job_id=job.id))
    assert job.status == "succeeded"
    assert desk.facade.graph.rebuilt(JobRequest(job_id=job.id)).links["wiki"] == 8


def graph_state_of_a_document(desk: Desk) -> str:
    states = desk.facade.library.documents(DocumentsRequest()).documents[0].states
    assert states is not None
    return states.graph


def found(facade: Facade, query: str) -> list[str]:
    return [hit.doc_path for hit in facade.search.find(FindRequest(query=query)).results]


def test_an_answer_in_a_linked_note_without_a_common_word_is_found_only_over_links(home: Home) -> None:
    fill(home)
    questions = [(f"How does {topic} live?", f"sheets/sheet {n}.md") for n, topic in enumerate(TOPICS)]
    with home.opened(OFF) as desk:
        desk.ingest()
        assert desk.facade.graph.state(GraphStateRequest()).state == "off"
        assert sum(path in found(desk.facade, query) for query, path in questions) == 0
        assert graph_state_of_a_document(desk) == "disabled"
    with home.opened(ON) as desk:
        assert desk.facade.graph.state(GraphStateRequest()).state == "on_demand"
        read(desk)
        assert desk.facade.graph.state(GraphStateRequest()).state == "done"
        assert sum(path in found(desk.facade, query) for query, path in questions) == 8
        assert graph_state_of_a_document(desk) == "done"


def test_what_was_first_without_links_stays_first_with_them(home: Home) -> None:
    fill(home)
    asked = [(f"How does {topic} live?", f"topics/{topic}.md") for topic in TOPICS]
    asked += [(f"Give {word} twice", f"sheets/sheet {n}.md") for n, word in enumerate(WORDS)]
    asked += [(f"{topic} in the garden", f"garden/{topic} seen.md") for topic in TOPICS]
    with home.opened(OFF) as desk:
        desk.ingest()
        first = [found(desk.facade, query)[0] for query, _ in asked]
    with home.opened(ON) as desk:
        read(desk)
        assert [found(desk.facade, query)[0] for query, _ in asked] == first
    assert sum(path == expected for path, (_, expected) in zip(first, asked, strict=True)) >= len(asked) * 0.9


def test_an_ingest_reads_the_links_of_what_is_new_and_a_search_follows_them(home: Home) -> None:
    home.put("a.md", "# Falcon\n\nSee [the pad](b.md).\n")
    home.put("b.md", "# Pad\n\nKerosene at dawn.\n")
    with home.opened(ON) as desk:
        desk.ingest()
        assert found(desk.facade, "falcon") == ["a.md", "b.md"]
        home.put("c.md", "# Third\n\nWater at noon, says [[b]].\n")
        desk.ingest()
        links = desk.facade.graph.links(GraphLinksRequest(doc="b.md")).links
        assert [(link.direction, link.doc_path, link.kind) for link in links] == [
            ("in", "a.md", "link"),
            ("in", "c.md", "wiki"),
        ]


def test_links_survive_a_rename_and_go_with_their_file(home: Home) -> None:
    home.put("a.md", "# Falcon\n\nSee [[b]].\n")
    home.put("b.md", "# Pad\n\nKerosene at dawn.\n")
    home.put("c.md", "# Other\n\nNothing of all that.\n")
    with home.opened(ON) as desk:
        desk.ingest()
        desk.facade.graph.add(AddLinkRequest(source="c.md", target="b.md", note="mine"))
        (home.workspace / "c.md").rename(home.workspace / "moved.md")
        desk.ingest()
        (mine,) = desk.facade.graph.links(GraphLinksRequest(doc="moved.md")).links
        assert (mine.doc_path, mine.origin, mine.evidence) == ("b.md", "manual", "mine")
        (home.workspace / "b.md").unlink()
        desk.ingest()
        assert desk.facade.graph.links(GraphLinksRequest(doc="moved.md")).links == ()
        state = desk.facade.graph.state(GraphStateRequest())
        assert [(target.target, target.outcome) for target in state.open_targets] == [("b", "unresolved")]


def test_links_by_hand_are_kept_while_links_are_off_and_a_wrong_request_says_why(home: Home) -> None:
    home.put("a.md", "# Falcon\n\nText.\n")
    home.put("b.md", "# Pad\n\nKerosene at dawn.\n")
    with home.opened(OFF) as desk:
        desk.ingest()
        graph = desk.facade.graph
        (made,) = graph.add(AddLinkRequest(source="a.md", target="b.md")).links
        assert made.active
        assert found(desk.facade, "falcon") == ["a.md"]
        with pytest.raises(InvalidInput, match="with itself"):
            graph.add(AddLinkRequest(source="a.md", target="a.md"))
        with pytest.raises(NotFound):
            graph.remove(LinkRequest(source="b.md", target="a.md"))
        (gone,) = graph.remove(LinkRequest(source="a.md", target="b.md")).links
        assert not gone.active
