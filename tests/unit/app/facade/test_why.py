"""`search.why` over a real library: each step names itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kb.app.config_file import load_configuration
from kb.app.gateway import open_own_library
from kb.contract.facade import Facade
from kb.contract.ingest import IngestRequest
from kb.contract.items import ItemRequest
from kb.contract.jobs import JobRequest
from kb.contract.search import FindRequest
from kb.contract.why import Why, WhyRequest

NOTES = {
    "rope.md": "# Ropes\n\nA rope of hemp needs tar against the salt water.\n",
    "removed.md": "# Removed\n\nA rope nobody should see.\n",
    "wind.md": "# Wind\n\nThe barometer falls before the storm.\n",
    "broken.pdf": "%PDF-1.4 this is no document",
    "empty.md": "",
    **{f"ropes/{n:02}.md": f"# Rope {n}\n\nrope rope rope number {n}\n" for n in range(12)},
}


@pytest.fixture(scope="module")
def facade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Facade]:
    folder = tmp_path_factory.mktemp("library")
    for name, text in NOTES.items():
        file = folder / "workspace" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KB_HOME", str(folder / "home"))
        patch.setenv("KB_WORKSPACE_ROOT", str(folder / "workspace"))
        patch.setenv("KB_MODELS_EMBEDDING_PROVIDER", "none")
        with open_own_library(load_configuration(), owner="test") as facade:
            job = facade.library.ingest(IngestRequest())
            while facade.jobs.get(JobRequest(job_id=job.id)).status in {"pending", "running"}:
                threading.Event().wait(0.02)
            facade.versions.remove(ItemRequest(doc="removed.md"))
            yield facade


def why(facade: Facade, expected: str, query: str = "rope", **fields: Any) -> Why:
    return facade.search.why(WhyRequest.model_validate({"query": query, "expected": expected, **fields}))


def test_a_name_nothing_has_is_not_in_the_library(facade: Facade) -> None:
    assert why(facade, "nowhere.md").step == "not_in_library"


def test_a_file_that_could_not_be_read_says_why(facade: Facade) -> None:
    found = why(facade, "broken.pdf")
    assert found.step == "not_read"
    assert found.detail


def test_a_file_taken_out_is_hidden_and_the_rule_is_named(facade: Facade) -> None:
    found = why(facade, "removed.md")
    assert (found.step, found.detail) == ("hidden", "removed")


def test_the_filter_that_leaves_it_out_is_named(facade: Facade) -> None:
    found = why(facade, "rope.md", filters={"path_glob": "ropes/**", "excluded": ("storm",)})
    assert (found.step, found.detail) == ("filtered", "path_glob")
    assert why(facade, "rope.md", filters={"phrases": ("hemp needs tar",)}).step == "found"
    assert why(facade, "rope.md", filters={"excluded": ("hemp",)}).detail == "excluded"


def test_no_channel_finds_what_shares_no_word(facade: Facade) -> None:
    found = why(facade, "wind.md")
    assert (found.step, found.rank) == ("no_channel", None)
    assert [(one.channel, one.rank) for one in found.channels] == [("lexical", None)]


def test_a_candidate_too_far_behind_says_its_rank_in_the_channel(facade: Facade) -> None:
    found = why(facade, "rope.md", top_k=1, candidate_multiplier=2)
    assert (found.step, found.needed_rank) == ("no_channel", 2)
    assert (found.rank or 0) > 2
    # Channels rank before the gate: what was taken out is among the 14.
    assert found.channels[0].of == 14


def test_what_fusion_put_behind_says_what_was_needed(facade: Facade) -> None:
    found = why(facade, "rope.md", top_k=3, candidate_multiplier=10)
    assert (found.step, found.needed_rank) == ("fusion", 3)
    assert (found.score or 1.0) <= (found.needed_score or 0.0)
    assert found.candidate is not None
    assert found.candidate.fused_rank == found.rank


def test_what_is_there_says_its_rank(facade: Facade) -> None:
    response = facade.search.find(FindRequest(query="barometer storm", explain=True))
    found = why(facade, response.results[0].chunk_id, query="barometer storm")
    assert (found.step, found.rank, found.doc_path) == ("found", 1, "wind.md")
    assert response.diagnostics.candidates is not None
    assert response.diagnostics.candidates[0].rank == 1


def test_the_query_syntax_filters_and_the_reply_says_what_was_typed(facade: Facade) -> None:
    typed = 'rope path:rope.md -storm "salt water"'
    response = facade.search.find(FindRequest(query=typed, syntax="query"))
    assert [hit.doc_path for hit in response.results] == ["rope.md"]
    assert response.query == typed


def test_searches_are_counted_and_asking_why_is_none(facade: Facade) -> None:
    from kb.contract.counters import CountersRequest

    before = facade.search.counters(CountersRequest()).searches
    why(facade, "rope.md")
    facade.search.find(FindRequest(query="rope"))
    counted = facade.search.counters(CountersRequest())
    assert counted.searches == before + 1
    assert "rope" not in counted.model_dump_json()
