"""`kb chunks`: what is asked of the facade, and what people read."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.contract.layers import (
    ChunkChange,
    ChunkRequest,
    EditChunkRequest,
    EnableChunkRequest,
    LayersRequest,
    RestoreRequest,
)
from tests.fakes.facade import FakeFacade
from tests.unit.cli.conftest import Kb


def test_a_document_needs_no_command_to_be_listed(kb: Kb, facade: FakeFacade) -> None:
    ran = kb("chunks", "notes/a.md", "--query", "kettle")
    assert ran.code == 0
    assert facade.calls[-1][:2] == ("chunks", "list")
    assert (facade.calls[-1][2].doc, facade.calls[-1][2].query) == ("notes/a.md", "kettle")  # type: ignore[attr-defined]
    assert "9b4a8c1e7d3f2a059b4a8c1e7d3f2a05" in ran.out
    assert kb("chunks", "list", "edit").code == 0
    assert facade.calls[-1][2].doc == "edit"  # type: ignore[attr-defined]


def test_a_page_that_is_not_there_is_an_error(kb: Kb) -> None:
    ran = kb("chunks", "notes/a.md", "--page", "2")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: there are only 1 page")


def test_an_edit_says_what_became_of_it(kb: Kb, facade: FakeFacade, tmp_path: Path) -> None:
    ran = kb("chunks", "edit", "c", "--text", "It boils.", "--expect", "a" * 64)
    asked = EditChunkRequest(chunk_id="c", text="It boils.", expected_text_hash="a" * 64)
    assert facade.calls == [("chunks", "edit", asked)]
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "it says now what you gave",
        "masked: 1 secret of it, as in files",
        "its vector is not made yet: the next `kb ingest` makes it",
    ]
    assert "kept when the file is read again" in ran.err
    assert "`kb chunks layers --lost`" in ran.err
    file = tmp_path / "text"
    file.write_text("It boils.\n\nAlways.\n", encoding="utf-8")
    assert kb("chunks", "edit", "c", "--file", str(file)).code == 0
    assert facade.calls[-1][2] == EditChunkRequest(chunk_id="c", text="It boils.\n\nAlways.")


@pytest.mark.parametrize("text", ["", " \n ", "x" * 16_001])
def test_a_passage_cannot_be_made_empty_or_endless(kb: Kb, facade: FakeFacade, text: str) -> None:
    ran = kb("chunks", "edit", "c", "--text", text)
    assert ran.code == 2
    assert not facade.calls


@pytest.mark.parametrize(
    ("arguments", "method", "request_"),
    [
        (("enable", "c"), "enable", EnableChunkRequest(chunk_id="c", enabled=True)),
        (("disable", "c"), "enable", EnableChunkRequest(chunk_id="c", enabled=False)),
        (("delete", "c"), "delete", ChunkRequest(chunk_id="c")),
        (("undo", "c"), "undo", ChunkRequest(chunk_id="c")),
        (("restore", "c"), "restore", RestoreRequest(chunk_id="c")),
        (("restore", "lay_1"), "restore", RestoreRequest(layer_id="lay_1")),
    ],
)
def test_each_command_asks_for_one_change(
    kb: Kb, facade: FakeFacade, arguments: tuple[str, ...], method: str, request_: object
) -> None:
    assert kb("chunks", *arguments).code == 0
    assert facade.calls == [("chunks", method, request_)]


def test_the_last_passage_gone_is_said(kb: Kb, facade: FakeFacade) -> None:
    reply = facade.replies["chunks", "delete"]
    assert isinstance(reply, ChunkChange)
    facade.replies["chunks", "delete"] = reply.model_copy(update={"nothing_searchable": True})
    assert "nothing searchable: the document has no passage left that can be found" in kb("chunks", "delete", "c").out


def test_what_fits_no_more_is_listed_with_its_words(kb: Kb, facade: FakeFacade) -> None:
    ran = kb("chunks", "layers", "--lost")
    assert facade.calls == [("chunks", "layers", LayersRequest(lost=True, limit=200))]
    assert "lay_4a8b2c1e" in ran.out
    assert "fits no more" in ran.out
    assert ran.out.splitlines()[-1] == "1 change"
