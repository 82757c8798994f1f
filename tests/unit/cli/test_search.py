"""How hits look."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kb.contract.retrieval import Candidate, RetrievalResponse, Stage
from kb.contract.search import FindRequest, Highlight
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


def test_why_prints_the_step_that_dropped_it_and_what_was_needed(kb: Kb, facade: FakeFacade) -> None:
    ran = kb("search", "chunking", "--why", "notes/a.md")
    lines = ran.out.splitlines()
    assert ran.code == 1
    assert lines[0].endswith(": it is number 11 after fusion, and the first 6 are shown")
    assert lines[1] == "  score 0.4200, needed 0.5700"
    assert lines[2] == "  lexical  number 9 of 31, score 4.100; the first 24 go on"
    assert [(group, method) for group, method, _ in facade.calls] == [("search", "why")]


def test_explain_prints_what_each_step_left_and_who_is_not_shown(kb: Kb, facade: FakeFacade) -> None:
    way = Candidate.model_validate(
        dict.fromkeys(Candidate.model_fields)
        | {"chunk_id": "c" * 32, "doc_path": "far.md", "lexical_rank": 9, "fused_rank": 7, "fused_score": 0.25}
        | {"relevance": 0.25, "removed_by": "top_k"}
    )
    told = FOUND.diagnostics.model_copy(
        update={"stages": (Stage(name="top_k", before=7, after=6),), "candidates": (way,), "rerank": "local"}
    )
    facade.replies["search", "find"] = FOUND.model_copy(update={"diagnostics": told})
    lines = kb("search", "chunking", "--explain", "--rerank", "local").out.splitlines()
    assert lines[-3:] == [
        "steps  top_k 7→6",
        "reranked by local",
        "  7.  0.250  far.md  lexical 9; not among the first",
    ]
    assert cast(FindRequest, facade.calls[-1][2]).rerank == "local"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--names", "roof", "--path", "notes/**"), "--names does not go with --path"),
        (("--names", "roof", "--mode", "vector"), "--names does not go with --mode"),
        (("--saved", "Sundays", "roof"), "--saved does not go with words"),
        (("--saved", "Sundays", "--tag", "a"), "--saved does not go with --tag"),
        (("--forget", "Sundays", "--rerank", "local"), "--forget does not go with --rerank"),
    ],
)
def test_options_without_effect_are_refused(kb: Kb, facade: FakeFacade, given: tuple[str, ...], said: str) -> None:
    ran = kb("search", *given)
    assert (ran.code, ran.err) == (2, f"error: {said}\nhint: leave one of them out\n")
    assert facade.calls == []
