"""Collections and kept searches in a library that is opened: scope, settings, words, command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.app.config_file import load_configuration
from kb.app.gateway import open_own_library
from kb.contract.answers import AskRequest
from kb.contract.collection_requests import CollectionRequest, CreateCollectionRequest
from kb.contract.collection_settings import OwnRetrieval, RuleGiven
from kb.contract.facade import Facade
from kb.contract.ingest import IngestRequest
from kb.contract.search import Filters, FindRequest
from kb.domain.errors import InvalidInput, NotFound
from tests.homes import Home
from tests.integration.test_old_library import over


def folder(value: str) -> tuple[RuleGiven, ...]:
    return (RuleGiven(kind="folder", value=value),)


@pytest.fixture
def facade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Facade]:
    for name in ("tax/a.md", "tax/b.md", "home/c.md"):
        (tmp_path / "ws" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "ws" / name).write_text(f"# {name}\n\nThe oven of {name} is paid in May.\n", encoding="utf-8")
    monkeypatch.setenv("KB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KB_WORKSPACE_ROOT", str(tmp_path / "ws"))
    monkeypatch.setenv("KB_MODELS_EMBEDDING_PROVIDER", "none")
    with open_own_library(load_configuration(), owner="test") as facade:
        over(facade, facade.library.ingest(IngestRequest()))
        yield facade


def test_the_settings_of_one_collection_stand_between_the_request_and_the_workspace(facade: Facade) -> None:
    facade.collections.create(CreateCollectionRequest(name="Tax", rules=folder("tax"), retrieval=OwnRetrieval(top_k=1)))
    facade.collections.create(CreateCollectionRequest(name="Home", rules=folder("home")))
    one = facade.search.find(FindRequest(query="oven", collections=("TAX",)))
    assert (one.settings.top_k, len(one.results)) == (1, 1)
    asked = facade.search.find(FindRequest(query="oven", collections=("Tax",), top_k=2))
    assert {hit.doc_path for hit in asked.results} == {"tax/a.md", "tax/b.md"}
    both = facade.search.find(FindRequest(query="oven", collections=("Tax", "Home")))
    assert (both.settings.top_k, len(both.results)) == (6, 3)


def test_an_answer_is_held_to_its_collection(facade: Facade) -> None:
    facade.collections.create(CreateCollectionRequest(name="Home", rules=folder("home")))
    answer = facade.answers.ask(AskRequest(question="When is the oven paid?", collections=("Home",)))
    assert answer.grounded
    assert {cited.citation.uri.partition("#")[0] for cited in answer.citations} == {"home/c.md"}


def test_an_empty_collection_finds_nothing_and_says_so(facade: Facade) -> None:
    made = facade.collections.create(CreateCollectionRequest(name="Empty")).collection
    found = facade.search.find(FindRequest(query="oven", collections=("Empty",)))
    assert found.results == ()
    assert "empty_scope" in {lost.reason for lost in found.diagnostics.degraded_channels}
    assert not facade.answers.ask(AskRequest(question="When is the oven paid?", collections=("Empty",))).grounded
    facade.collections.archive(CollectionRequest(collection=made.collection_id, revision=1))
    with pytest.raises(InvalidInput, match="archived"):
        facade.search.find(FindRequest(query="oven", collections=("Empty",)))
    with pytest.raises(NotFound):
        facade.search.find(FindRequest(query="oven", collections=("Nobody",)))


def test_a_search_among_items_takes_paths_and_refuses_what_is_not_there(facade: Facade) -> None:
    found = facade.search.find(FindRequest(query="oven", filters=Filters(items=("tax/b.md",))))
    assert [hit.doc_path for hit in found.results] == ["tax/b.md"]
    with pytest.raises(NotFound):
        facade.search.find(FindRequest(query="oven", filters=Filters(items=("nowhere.md",))))


def test_kept_searches_and_collections_work_from_the_command_line(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.put("tax/a.md", "# Tax\n\nThe oven is taxed in May.\n")
    home.put("b.md", "# B\n\nThe oven is hot.\n")
    home.ok("init")
    home.ok("ingest")
    home.ok("collections", "create", "Tax", "--folder", "tax")
    assert "1 file" in home.ok("collections", "list")
    assert "b.md" not in home.ok("search", "oven", "--collection", "tax", "--save", "ovens")
    assert "ovens" in home.ok("search", "--saved")
    found = json.loads(home.ok("search", "--saved", "Ovens", "--json"))
    assert [hit["doc_path"] for hit in found["results"]] == ["tax/a.md"]
    home.ok("collections", "add", "Tax", "b.md")
    home.ok("collections", "remove", "Tax", "tax/a.md")
    assert "b.md  (put in by hand)" in home.ok("collections", "show", "Tax")
