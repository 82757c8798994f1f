"""`kb backup` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.homes import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    made.put("oven.md", "# Oven\n\nThe oven is lit at 05:30 every morning.\n")
    made.ok("init")
    made.ok("ingest")
    return made


def test_a_backup_is_made_through_the_server_and_put_back_when_it_has_ended(home: Home) -> None:
    with home.serving() as server:
        made = json.loads(home.ok("backup", "create", "disk/a", "--json"))
        assert made["file"] == str(home.folder / "disk" / "a.kbbackup")
        assert "✓ originals" in home.ok("backup", "verify", "disk/a.kbbackup")
        refused = home.kb("backup", "restore", "disk/a.kbbackup", "--yes")
        assert refused.code == 2
        assert refused.err.startswith(f"error: `kb serve` (process {server.pid}) holds the library\n")
        assert "hint: wait until it has finished, or stop it" in refused.err
    home.put("grill.md", "# Grill\n\nThe grill turns.\n")
    home.ok("ingest")
    refused = home.kb("backup", "restore", "disk/a.kbbackup")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: the library here is newer: changed ")
    assert "`--yes`" in refused.err
    report = json.loads(home.ok("backup", "restore", "disk/a.kbbackup", "--yes", "--json"))
    assert (report["schema_version"], report["embedded"], report["counts"]["items"]) == ("restore_report.v1", 0, 1)
    assert (home.data / report["kept_as"] / "kb.sqlite").is_file()
    assert "oven.md" in home.ok("search", "oven lit", "--mode", "lexical")
    assert home.kb("backup", "list").code == 1


def test_a_restore_makes_a_library_where_there_was_none(home: Home, tmp_path: Path) -> None:
    home.ok("backup", "create", "a")
    other = Home(tmp_path / "another computer")
    other.folder.mkdir()
    (other.folder / "KnowledgeBase").mkdir()
    # Whether it is whole can be asked before there is a library.
    assert "✓ library" in other.ok("backup", "verify", str(home.folder / "a.kbbackup"))
    out = other.ok("backup", "restore", str(home.folder / "a.kbbackup"))
    assert out.startswith("restored    1 item, 1 document, 1 passage")
    assert "oven.md#L" in other.ok("search", "oven lit", "--mode", "lexical")


def test_the_backups_of_a_damaged_library_can_still_be_seen_and_put_back(home: Home) -> None:
    made = json.loads(home.ok("backup", "create", "--json"))
    (home.data / "kb.sqlite").write_bytes(b"garbage" * 1000)
    assert made["file"] in home.ok("backup", "list")
    assert "✓ library" in home.ok("backup", "verify", made["file"])
    assert home.kb("backup", "restore", made["file"]).code == 2
    home.ok("backup", "restore", made["file"], "--yes")
    assert "oven.md" in home.ok("search", "oven lit", "--mode", "lexical")
