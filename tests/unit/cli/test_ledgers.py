"""What was read of a file, in words and bars that fit a line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.cli.ledgers import bar, numbers, ranges
from kb.contract.coverage import CoverageTotals, CoverageUnit
from kb.contract.ingest import IngestReport, IngestRequest
from kb.contract.items import Items, ItemView
from kb.contract.jobs import Job
from kb.contract.masked import Masked
from tests.fakes.facade import FakeFacade
from tests.unit.cli.conftest import Kb

MIXED = (
    CoverageUnit(kind="page", start=1, end=3, state="text"),
    CoverageUnit(kind="page", start=4, end=4, state="ocr", confidence=0.93),
    CoverageUnit(kind="page", start=5, end=5, state="ocr", confidence=0.8),
    CoverageUnit(kind="page", start=6, end=6, state="blank"),
    CoverageUnit(kind="page", start=7, end=1200, state="failed", reason="damaged"),
    CoverageUnit(kind="image", start=1, end=1, state="skipped", reason="too_small"),
)


def test_ranges_name_their_kind_once_and_join_what_is_alike() -> None:
    assert ranges(MIXED) == (
        "pages 1-3 text, 4-5 ocr (0.80-0.93), 6 blank, 7-1,200 failed: damaged, image 1 skipped: too_small"
    )


def test_totals_are_said_with_what_they_count() -> None:
    totals = CoverageTotals(text=6, failed=2)
    assert numbers(totals, ("page",)) == "8 pages: 6 text, 2 failed"
    assert numbers(totals, ("page", "image")) == "8 parts: 6 text, 2 failed"
    assert numbers(CoverageTotals(text=1), ("page",)) == "1 page: 1 text"


@given(st.lists(st.integers(0, 10**7), min_size=6, max_size=6).filter(any))
def test_a_bar_has_twenty_cells_and_one_at_least_for_all_there_is(counts: list[int]) -> None:
    names = ("text", "ocr", "blank", "failed", "skipped", "waiting")
    drawn = bar(CoverageTotals(**dict(zip(names, counts, strict=True))))
    assert len(drawn) == 20
    for count, cell in zip(counts, "█▓·✗-…", strict=True):
        assert (cell in drawn) == (count > 0)


def unread(facade: FakeFacade) -> None:
    """Make the example item one that could not be read."""
    item = facade.replies["library", "item"].item.model_copy(  # type: ignore[attr-defined]
        update={"doc_id": None, "state": "failed", "reason": "locked: a password is needed", "next_step": "give it"}
    )
    facade.replies["library", "item"] = ItemView(item=item)
    facade.replies["library", "items"] = Items(items=(item,), next=None)


def test_a_file_that_was_not_read_says_why_and_what_to_do(kb: Kb, facade: FakeFacade) -> None:
    unread(facade)
    ran = kb("show", "locked.pdf")
    assert ran.code == 0
    assert "state       failed\nreason      a password is needed\nnext step   give it\n" in ran.out
    assert "coverage    13 pages: 12 text, 1 failed" in ran.out
    assert json.loads(kb("show", "locked.pdf", "--json").out)["schema_version"] == "item.v1"


def test_the_list_of_what_needs_attention_says_the_next_step(kb: Kb, facade: FakeFacade) -> None:
    unread(facade)
    ran = kb("list", "items", "--attention")
    lines = ran.out.splitlines()
    assert lines[0] == "failed      notes/rust/아키텍처.md"
    assert lines[1:] == ["            a password is needed", "            → give it", "1 file"]
    assert facade.calls[-1][2].attention is True  # type: ignore[attr-defined]
    facade.replies["library", "items"] = Items(items=(), next=None)
    assert kb("list", "--attention") == (1, "nothing needs attention\n", "")


def test_a_document_read_in_part_names_the_parts_that_were_not(kb: Kb) -> None:
    lines = kb("list", "items", "--attention").out.splitlines()
    assert lines[1] == "            page 13 failed: damaged"
    assert lines[2].startswith("            → ")


@pytest.mark.parametrize("command", [("list",), ("list", "items")])
def test_the_list_with_coverage_draws_a_bar_for_each_file(kb: Kb, command: tuple[str, ...]) -> None:
    ran = kb(*command, "--coverage")
    assert ran.out.splitlines()[1] == f"{'':12}{'█' * 19}✗  13 pages: 12 text, 1 failed"
    assert all(len(line) <= 80 for line in ran.out.splitlines())


def test_the_ledger_of_a_file_accounts_for_all_of_it(kb: Kb) -> None:
    ran = kb("show", "a.pdf", "--coverage")
    assert "  pages 1-12 text, 13 failed: damaged\n" in ran.out
    assert json.loads(kb("show", "a.pdf", "--coverage", "--json").out)["schema_version"] == "coverage.v1"


def test_what_was_masked_is_told_by_kind_and_place(kb: Kb, facade: FakeFacade) -> None:
    ran = kb("show", "a.pdf", "--masked")
    assert ran.out.startswith("aws_key             [aws_key 1]                 notes/rust/아키텍처.md#L661\n")
    assert ran.out.endswith("1 place masked\n")
    facade.replies["library", "masked"] = Masked(doc_path="a.pdf", doc_id="d", masked=())
    assert kb("show", "a.pdf", "--masked").out == "nothing was masked\n"


def test_list_without_anything_still_prints_its_help(kb: Kb) -> None:
    assert "docs" in kb("list").out


@pytest.fixture
def asked(facade: FakeFacade, monkeypatch: pytest.MonkeyPatch) -> FakeFacade:
    """A facade whose ingest is over at once."""
    job = facade.replies["library", "ingest"]
    assert isinstance(job, Job)
    done = job.model_copy(update={"status": "succeeded", "finished_at": job.updated_at})
    facade.replies["library", "ingest"] = done
    monkeypatch.setattr("getpass.getpass", lambda _prompt: "typed")
    return facade


def given_password(facade: FakeFacade) -> str | None:
    (request,) = [request for group, name, request in facade.calls if (group, name) == ("library", "ingest")]
    assert isinstance(request, IngestRequest)
    return request.password


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("arguments", "piped", "password"),
    [
        ((), "", None),
        (("--password", "-"), "from a pipe\nmore\n", "from a pipe"),
        (("--password",), "from a pipe\n", "from a pipe"),
        (("--password", "--retry"), "from a pipe\r\n", "from a pipe"),
        (("--password", "a value"), "", "a value"),
        (("--password=a value",), "", "a value"),
    ],
)
def test_a_password_comes_from_a_pipe_or_the_line(  # noqa: PLR0917 - half of them are fixtures
    kb: Kb, facade: FakeFacade, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], piped: str, password: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(piped))
    assert kb("ingest", *arguments).code == 0
    assert given_password(facade) == password


def test_on_a_terminal_the_password_is_asked_for(kb: Kb, asked: FakeFacade, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO("")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert kb("ingest", "--password").code == 0
    assert given_password(asked) == "typed"


@pytest.mark.usefixtures("asked")
def test_no_password_after_all_is_an_error(kb: Kb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    ran = kb("ingest", "--password", "-")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: no password was given")


@pytest.mark.usefixtures("asked")
def test_a_path_behind_password_is_not_taken_for_one(
    kb: Kb, facade: FakeFacade, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "locked report.pdf").write_bytes(b"%PDF-1.7")
    monkeypatch.chdir(tmp_path)
    ran = kb("ingest", "--password", "locked report.pdf")
    assert ran.code == 2
    assert ran.err.startswith("error: what stands after --password is taken as the password, but it names a file\n")
    assert "`kb ingest 'locked report.pdf' --password`" in ran.err
    assert not [call for call in facade.calls if call[:2] == ("library", "ingest")]


def test_a_password_that_does_not_open_a_file_is_told(kb: Kb, asked: FakeFacade) -> None:
    report = asked.replies["library", "report"]
    assert isinstance(report, IngestReport)
    said = "the password does not open the PDF"
    update = {"kind": "skipped", "doc_path": "two.pdf", "error": said, "reason": "locked"}
    item = (report.items or ())[0].model_copy(update=update)
    asked.replies["library", "report"] = report.model_copy(update={"items": (item,)})
    assert f"  · two.pdf\n    {said}\n" in kb("ingest", "--password", "nope").out
    (request,) = [request for group, name, request in asked.calls if (group, name) == ("library", "ingest")]
    assert isinstance(request, IngestRequest)
    assert not request.summary_only
