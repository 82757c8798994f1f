"""The other commands: their words, their wire objects, their exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from typer.main import get_command

import kb as kb_package
from kb.cli.main import app
from kb.contract.index import IndexCheck
from kb.contract.ingest import IngestNotice
from kb.contract.system import Doctor, DoctorCheck
from kb.domain.failures import Busy
from tests.fakes.facade import FakeFacade
from tests.unit.cli.conftest import Kb
from tests.wire.payloads import payloads

EXAMPLES = cast(Any, payloads())


@pytest.mark.parametrize(
    ("arguments", "schemas"),
    [
        (["search", "x"], ["retrieval_response.v1"]),
        (["ask", "x"], ["answer.v1"]),
        (["list", "docs"], ["doc_summary.v1"]),
        (["show", "x"], ["document.v1"]),
        (["inspect", "x"], ["chunk_inspection.v1"]),
        (["jobs"], ["job.v1", "job.v1"]),
        (["index", "verify"], ["index_verify.v1"]),
    ],
    ids=" ".join,
)
def test_json_prints_wire_objects_alone(kb: Kb, arguments: list[str], schemas: list[str]) -> None:
    ran = kb(*arguments, "--json")
    objects = [json.loads(line) for line in ran.out.splitlines()]
    assert [found["schema_version"] for found in objects] == schemas
    assert ran.err == ""


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["show", ""], "doc must have at least 1 character"),
        (["inspect", ""], "doc must have at least 1 character"),
        (["jobs", "--cancel", "x" * 65], "job_id must have at most 64 characters"),
    ],
    ids=["show", "inspect", "jobs"],
)
def test_a_name_that_cannot_be_one_is_said_in_words(kb: Kb, arguments: list[str], error: str) -> None:
    ran = kb(*arguments)
    assert (ran.code, ran.err) == (2, f"error: {error}\nhint: see the command's --help\n")


def test_every_command_that_a_text_names_exists() -> None:
    sources = [path.read_text(encoding="utf-8") for path in Path(kb_package.__file__).parent.rglob("*.py")]
    named = {name for source in sources for name in re.findall(r"`kb ([a-z]+)", source)}
    assert {"ingest", "init", "index"} <= named
    assert named <= set(get_command(app).commands)  # type: ignore[attr-defined]


def test_a_hit_is_four_dense_lines(kb: Kb) -> None:
    lines = kb("search", "x").out.splitlines()
    assert lines[0] == "1. 0.74  notes/rust/아키텍처.md#L661-L672"
    assert lines[1] == "   §14 Chunking 정책"
    assert lines[2].startswith("   heading boundary 우선. code block 중간 분할 금지")
    assert lines[3] == ""
    assert lines[4].startswith("1 hit  hybrid  index ")


def test_no_hits_exit_with_1_and_say_what_was_searched(kb: Kb, facade: FakeFacade) -> None:
    found = EXAMPLES["retrieval_response"].model_copy(update={"results": (), "passages_searched": 1})
    facade.replies["search", "find"] = found
    ran = kb("search", "x")
    assert ran.code == 1
    assert ran.out.startswith("no hits; 1 passage searched\n")


def test_a_snippet_that_would_steer_the_terminal_is_made_harmless(kb: Kb, facade: FakeFacade) -> None:
    response = EXAMPLES["retrieval_response"]
    hit = response.results[0].model_copy(update={"snippet": "a\x1b]0;b\x07", "highlights": ()})
    facade.replies["search", "find"] = response.model_copy(update={"results": (hit,)})
    assert "\x1b" not in kb("search", "x").out


def test_an_error_of_ours_is_two_lines_and_exit_code_2(kb: Kb, facade: FakeFacade) -> None:
    facade.errors["search/find"] = Busy("`kb ingest` holds the library", hint="wait")
    ran = kb("search", "x")
    assert ran == (2, "", "error: `kb ingest` holds the library\nhint: wait\n")


def test_a_bug_is_two_lines_without_its_text_unless_debug(kb: Kb, facade: FakeFacade) -> None:
    facade.errors["search/find"] = RuntimeError("the words of a note")
    ran = kb("search", "x")
    assert ran.code == 2
    assert ran.err.splitlines() == [
        "error: something unforeseen went wrong (RuntimeError)",
        "hint: run it again with --debug to see where",
    ]


def test_a_run_is_summed_up_with_what_failed_and_why(kb: Kb, facade: FakeFacade) -> None:
    facade.replies["library", "ingest"] = EXAMPLES["job"].model_copy(update={"status": "succeeded"})
    notice = IngestNotice(reason="permission", detail="locked: no permission to look into the folder", hint="ask")
    report = EXAMPLES["ingest_report_summary"].model_copy(
        update={"new": 2, "deleted": 1, "errors": 1, "unsupported": 3, "notices": (notice,)}
    )
    facade.replies["library", "report"] = report
    out = kb("ingest").out
    assert "2 new" in out
    assert "1 deleted, 1 failed\n" in out
    assert "note: locked: no permission to look into the folder\n  ask\n" in out
    assert "not read: 3 files of other kinds" in out
    assert "\nsearchable: " in out


def test_a_run_that_failed_is_an_error_with_its_hint(kb: Kb, facade: FakeFacade) -> None:
    error = EXAMPLES["job"].error.model_copy(update={"message": "the disk is full; nothing was lost\nmake room"})
    facade.replies["library", "ingest"] = EXAMPLES["job"].model_copy(update={"status": "failed", "error": error})
    assert kb("ingest") == (2, "", "error: the disk is full; nothing was lost\nhint: make room\n")


def test_checks_line_up_and_hints_stand_below(kb: Kb, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = (
        DoctorCheck(name="vector_index_open", ok=True, detail="scan: 3 vectors"),
        DoctorCheck(name="text_index_open", ok=True, detail="3 passages", fixed="built anew"),
        DoctorCheck(name="embedding_model", ok=False, detail="missing", hint="run setup"),
    )
    asked: list[tuple[bool, bool]] = []

    def examine(*, fix: bool, deep: bool) -> Doctor:
        asked.append((fix, deep))
        return Doctor(ok=False, checks=checks)

    monkeypatch.setattr("kb.app.gateway.examine", examine)
    assert kb("doctor").code == 3
    ran = kb("doctor", "--fix", "--deep")
    assert (ran.code, ran.err, asked) == (3, "", [(False, False), (True, True)])
    assert ran.out.splitlines() == [
        "✓ vector_index_open   scan: 3 vectors",
        "✓ text_index_open     3 passages",
        "                      fixed: built anew",
        "✗ embedding_model     missing",
        "                      hint: run setup",
        "",
        "1 check failed.",
    ]


def test_an_index_that_differs_from_the_library_is_unhealthy(kb: Kb, facade: FakeFacade) -> None:
    check = IndexCheck(name="text", ok=False, expected=3, found=None, detail="missing", hint="run `kb index rebuild`")
    verify = EXAMPLES["index_verify"].model_copy(update={"ok": False, "checks": (check,)})
    facade.replies["index", "verify"] = verify
    ran = kb("index", "verify")
    assert (ran.code, "✗ text                missing" in ran.out) == (3, True)


def test_a_rebuild_says_that_nothing_was_embedded(kb: Kb, facade: FakeFacade) -> None:
    facade.replies["index", "rebuild"] = EXAMPLES["job"].model_copy(update={"status": "succeeded"})
    out = kb("index", "rebuild").out
    assert "embedded        0: the vectors came from the library\n" in out


def test_the_chunks_of_a_document_are_shown_as_stored(kb: Kb) -> None:
    out = kb("inspect", "notes/rust/아키텍처.md").out
    assert out.splitlines()[0] == "notes/rust/아키텍처.md  L661-L672"
    assert "  │ heading boundary 우선. code block 중간 분할 금지.\n" in out
