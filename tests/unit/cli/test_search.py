"""How hits look."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kb.contract.retrieval import RetrievalResponse
from kb.contract.search import Highlight
from tests.fakes.facade import FakeFacade
from tests.unit.cli.conftest import Kb
from tests.wire.payloads import payloads

FOUND: RetrievalResponse = cast(Any, payloads())["retrieval_response"]
ROWS = "Vessel | Skipper\nVessel: Marigold | Skipper: Brenner\nVessel: Kestrel | Skipper: Quill"


def test_of_a_table_the_rows_with_the_words_are_printed_first(
    kb: Kb, facade: FakeFacade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    at = ROWS.index("Kestrel")
    hit = FOUND.results[0].model_copy(
        update={"snippet": ROWS, "snippet_full_text": True, "highlights": (Highlight(start=at, end=at + 7),)}
    )
    facade.replies["search", "find"] = FOUND.model_copy(update={"results": (hit,)})
    lines = kb("search", "kestrel").out.splitlines()
    row = lines.index("   Vessel: Kestrel | Skipper: Quill")
    assert lines[row + 1] == "   Vessel | Skipper…"


def test_a_type_nobody_knows_is_an_error(kb: Kb) -> None:
    ran = kb("search", "law", "--type", "pfd")
    assert (ran.code, ran.err) == (2, "error: there is no type 'pfd'\nhint: did you mean pdf?\n")
