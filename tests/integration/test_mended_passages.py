"""Passages that people mend: every channel follows at once, whatever is read, cut or built afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.contract.answers import AnswerRequest, AskRequest
from kb.contract.backup import BackupRequest
from kb.contract.base import Empty
from kb.contract.chunks import ChunkInspection, ChunksRequest
from kb.contract.facade import Facade
from kb.contract.generations import BuildRequest, SwitchRequest
from kb.contract.items import ItemRequest
from kb.contract.layers import ChunkRequest, EditChunkRequest, EnableChunkRequest, LayersRequest, RestoreRequest
from kb.contract.library import ShowRequest
from kb.contract.search import FindRequest, SearchHit
from kb.contract.system import DoctorRequest
from kb.contract.viewer import View, ViewerOpenRequest
from kb.domain.errors import NotFound
from kb.domain.recipes import ChunkId
from tests.places import Place, at_work, backed_up, over

PADDING = " ".join(f"The {word} hangs beside the stove where it always hung." for word in ("ladle", "sieve", "pan") * 6)
NOTE = f"""# Kitchen

## Kettle

The kettle boils at ninety degrees. It whistles when the water is hot enough for tea. {PADDING}

## Window

The window stays closed in winter. In summer the steam goes out by it every morning. {PADDING}
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "here")
    made.put("kitchen.md", NOTE + "".join(f"\n## Filler {n}\n\n{'Words to fill it up. ' * 40}\n" for n in range(3)))
    return made


@pytest.fixture
def facade(place: Place) -> Iterator[Facade]:
    with place.opened() as facade:
        place.ingest(facade)
        yield facade


def passage(facade: Facade, words: str) -> ChunkInspection:
    (found,) = facade.chunks.list(ChunksRequest(doc="kitchen.md", query=words)).chunks
    return found


def edited(facade: Facade, old: str, new: str) -> ChunkInspection:
    found = passage(facade, old)
    change = facade.chunks.edit(
        EditChunkRequest(chunk_id=found.chunk_id, text=found.text.replace(old, new), expected_text_hash=found.text_hash)
    )
    assert (change.keyword, change.vector) == ("done", "disabled")
    assert change.chunk is not None
    return change.chunk


def hits(facade: Facade, query: str) -> list[SearchHit]:
    return list(facade.search.find(FindRequest(query=query, mode="lexical")).results)


def opened(facade: Facade, chunk_id: str, quote: str) -> View:
    return facade.viewer.open(ViewerOpenRequest(chunk_id=chunk_id, quote=quote))


def test_an_edit_is_found_at_once_and_opens_the_original_place(facade: Facade) -> None:
    edited(facade, "ninety", "onehundred")
    assert not hits(facade, "ninety")
    (hit,) = hits(facade, "onehundred")
    assert hit.citation.uri == "kitchen.md#L5"
    view = opened(facade, hit.chunk_id, "The kettle boils at onehundred degrees.")
    assert (view.state, view.edited, view.lines and view.lines.start) == ("exact", True, 5)
    assert view.quote == "The kettle boils at onehundred degrees."
    assert view.original == "The kettle boils at ninety degrees."
    # What an answer of before quoted stands there still.
    before = opened(facade, hit.chunk_id, "boils at ninety degrees")
    assert (before.state, before.edited, before.quote) == ("exact", True, "boils at ninety degrees")
    assert before.lines is not None
    assert before.lines.start == 5


def test_an_answer_says_that_it_cites_an_edited_passage(facade: Facade) -> None:
    question = "At how many degrees does the kettle boil?"
    plain = facade.answers.ask(AskRequest(question=question, mode="lexical"))
    assert [cited.edited for cited in plain.citations if cited.marker] == [None]
    edited(facade, "ninety", "onehundred")
    answer = facade.answers.ask(AskRequest(question=question, mode="lexical"))
    (cited,) = (cited for cited in answer.citations if cited.marker)
    assert cited.edited
    assert "onehundred" in (cited.quote or "")
    kept = facade.answers.get(AnswerRequest(trace_id=answer.retrieval.trace_id))
    assert [(one.edited, one.citation.uri) for one in kept.citations if one.marker] == [(True, "kitchen.md#L5")]


def test_the_last_passage_gone_leaves_nothing_searchable_and_comes_back(place: Place) -> None:
    place.put("kitchen.md", "# Kitchen\n\nThe kettle boils at ninety degrees.\n")
    with place.opened() as facade:
        place.ingest(facade)
        (only,) = facade.chunks.list(ChunksRequest(doc="kitchen.md")).chunks
        assert facade.chunks.delete(ChunkRequest(chunk_id=only.chunk_id)).nothing_searchable
        assert not hits(facade, "kettle")
        document = facade.library.show(ShowRequest(doc="kitchen.md")).document
        item = facade.library.item(ItemRequest(doc="kitchen.md")).item
        assert (document.nothing_searchable, item.nothing_searchable, item.state) == (True, True, "ready")
        with pytest.raises(NotFound):
            opened(facade, only.chunk_id, "kettle")
        (listed,) = facade.chunks.list(ChunksRequest(doc="kitchen.md")).chunks
        assert listed.state == "deleted"
        change = facade.chunks.restore(RestoreRequest(chunk_id=only.chunk_id))
        assert not change.nothing_searchable
        assert len(hits(facade, "kettle")) == 1
        assert facade.library.show(ShowRequest(doc="kitchen.md")).document.nothing_searchable is None


def test_edits_are_there_after_a_build_by_other_settings_a_switch_and_the_way_back(place: Place) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        edited(facade, "ninety", "onehundred")
    other = Place(place.folder, {"KB_CHUNKING_TARGET_CHARACTERS": "400", "KB_CHUNKING_OVERLAP_CHARACTERS": "0"})
    with other.opened() as facade:
        over(facade, facade.generations.build(BuildRequest()))
        # What is changed while both are there is carried to the one that waits.
        edited(facade, "winter", "autumnal")
        over(facade, facade.generations.switch(SwitchRequest()))
        assert [hit.citation.uri for hit in hits(facade, "onehundred")] == ["kitchen.md#L5"]
        assert [hit.citation.uri for hit in hits(facade, "autumnal")] == ["kitchen.md#L9"]
        assert not hits(facade, "winter")
        assert len(facade.chunks.layers(LayersRequest()).layers) == 2
        edited(facade, "whistles", "hums")
        over(facade, facade.generations.rollback(Empty()))
        for word in ("onehundred", "autumnal", "hums"):
            assert len(hits(facade, word)) == 1, word
        assert not hits(facade, "whistles")
        assert not facade.chunks.layers(LayersRequest(lost=True)).layers
        sqlite = next(c for c in facade.system.doctor(DoctorRequest(deep=True)).checks if c.name == "sqlite_open")
        assert sqlite.ok, sqlite.detail


def test_edits_survive_a_file_that_changes_and_comes_back(place: Place) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        edited(facade, "ninety", "onehundred")
        place.put("kitchen.md", "# Kitchen\n\nNothing is left of it.\n")
        place.ingest(facade)
        (lost,) = facade.chunks.layers(LayersRequest(doc="kitchen.md", lost=True)).layers
        assert lost.chunk_ids == ()
        assert "onehundred" in (lost.new_text or "")
        place.put("kitchen.md", f"# Another beginning\n\nOf the same note.\n\n{NOTE}")
        place.ingest(facade)
        (hit,) = hits(facade, "onehundred")
        assert hit.citation.uri == "kitchen.md#L9"
        assert not facade.chunks.layers(LayersRequest(lost=True)).layers


def test_a_secret_in_an_edit_is_masked(facade: Facade) -> None:
    found = passage(facade, "ninety")
    key = "ghp_" + "a8Kd93jXq2Lm5Pz7Rt1" + "Vw6Yb4Nc0Hs8Ge3Uf"
    change = facade.chunks.edit(EditChunkRequest(chunk_id=found.chunk_id, text=f"The key of the kettle is {key}."))
    assert change.masked == 1
    assert change.chunk is not None
    assert key not in change.chunk.text
    assert change.chunk.text.startswith("The key of the kettle is [masked:")


def test_a_merged_backup_brings_the_edits_along(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "there.kbbackup"
    with place.opened() as facade:
        place.ingest(facade)
        edited(facade, "ninety", "onehundred")
        window = passage(facade, "winter")
        facade.chunks.enable(EnableChunkRequest(chunk_id=window.chunk_id, enabled=False))
        backed_up(facade, file)
    other = Place(tmp_path / "other")
    other.put("else.md", "# Else\n\nSomething else.\n")
    with other.opened() as facade:
        other.ingest(facade)
        over(facade, facade.backup.merge(BackupRequest(file=str(file))))
        assert len(hits(facade, "onehundred")) == 1
        assert not hits(facade, "ninety")
        assert {c.state for c in facade.chunks.list(ChunksRequest(doc="kitchen.md")).chunks} >= {"enabled"}
        kinds = sorted(layer.kind for layer in facade.chunks.layers(LayersRequest()).layers)
        assert kinds == ["disabled", "text"]
        undone = facade.chunks.undo(ChunkRequest(chunk_id=passage(facade, "onehundred").chunk_id))
        assert undone.chunk is not None


def test_an_edit_that_a_crash_kept_from_the_index_is_found_after_the_next_run(place: Place) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        found = passage(facade, "ninety")
    with at_work(place) as (parts, _):
        # Committed, and nothing after it.
        parts.layers.say(ChunkId(found.chunk_id), found.text.replace("ninety", "onehundred"))
    with place.opened() as facade:
        # Nothing wrong is shown before.
        assert not [hit for hit in hits(facade, "ninety") if "ninety" in hit.snippet]
        place.ingest(facade)
        assert [hit.citation.uri for hit in hits(facade, "onehundred")] == ["kitchen.md#L5"]
        assert not hits(facade, "ninety")
        assert all(check.ok for check in facade.system.doctor(DoctorRequest(deep=True)).checks if "index" in check.name)
