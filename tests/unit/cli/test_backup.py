from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb.cli.backup import _found
from kb.contract.backup import BackupCreateRequest, BackupRequest
from tests.fakes.facade import FakeFacade
from tests.unit.cli.conftest import Kb


@pytest.fixture
def done(facade: FakeFacade) -> FakeFacade:
    """Every job has succeeded at once."""
    for name in ("create", "merge"):
        job = facade.replies["backup", name]
        facade.replies["backup", name] = job.model_copy(update={"status": "succeeded", "error": None})
    return facade


@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        (["create"], "backup.v1"),
        (["list"], "backups.v1"),
        (["verify", "a.kbbackup"], "backup_verify.v1"),
        (["merge", "a.kbbackup"], "merge_report.v1"),
    ],
)
def test_json_is_one_wire_object(kb: Kb, done: FakeFacade, arguments: list[str], schema: str) -> None:
    del done
    ran = kb("backup", *arguments, "--json")
    (line,) = ran.out.splitlines()
    assert (ran.code, json.loads(line)["schema_version"]) == (0, schema)


def test_a_merge_names_what_stayed_as_it_is(kb: Kb, done: FakeFacade) -> None:
    del done
    out = kb("backup", "merge", "a.kbbackup").out
    assert "1 item differs and stays as here:\n  notes/plan.md" in out


def test_a_path_is_made_whole_and_a_bare_name_is_one_of_the_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.kbbackup").touch()
    assert _found("here.kbbackup") == str(tmp_path / "here.kbbackup")
    assert _found("folder/a.kbbackup") == str(tmp_path / "folder" / "a.kbbackup")
    assert _found("kebab-20260427-154211.kbbackup") == "kebab-20260427-154211.kbbackup"


def test_a_backup_goes_where_the_person_stands(
    kb: Kb, done: FakeFacade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kb("backup", "create", "disk/a", "--without-originals")
    (request,) = [asked for _, _, asked in done.calls if isinstance(asked, BackupCreateRequest)]
    assert (request.file, request.originals) == (str(tmp_path / "disk" / "a"), False)


def test_verifying_asks_for_the_file(kb: Kb, done: FakeFacade) -> None:
    kb("backup", "verify", "a.kbbackup")
    (request,) = [asked for _, _, asked in done.calls if isinstance(asked, BackupRequest)]
    assert request.file == "a.kbbackup"
