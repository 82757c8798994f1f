"""docs/configuration.md is what the settings model says."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.app import configuration_doc
from kb.app.config_file import known_keys


def test_the_committed_page_is_the_one_that_would_be_written() -> None:
    written = configuration_doc.FILE.read_text(encoding="utf-8")
    assert written == configuration_doc.page(), f"run `{configuration_doc.MENDING}`"


def test_the_page_names_every_key_and_its_variable() -> None:
    page = configuration_doc.page()
    for key in known_keys():
        assert f"| `{key.rpartition('.')[2]}` |" in page
        if "." in key:
            assert f"`KB_{key.upper().replace('.', '_')}`" in page


def test_a_check_fails_on_a_stale_page_and_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(configuration_doc, "FILE", tmp_path / "configuration.md")
    assert configuration_doc.main(["--check"]) == 1
    assert f"run `{configuration_doc.MENDING}`" in capsys.readouterr().err
    assert configuration_doc.main([]) == 0
    assert configuration_doc.main(["--check"]) == 0
