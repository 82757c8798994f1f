"""The settings name a model that is not installed while the one that serves is: nothing stops, and it is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.homes import Home, needs_embedder

pytestmark = [needs_embedder, pytest.mark.timeout(120)]


def test_ingest_and_doctor_say_that_the_model_of_the_settings_is_missing(tmp_path: Path) -> None:
    home = Home(tmp_path, {"KB_MODELS_EMBEDDING_PROVIDER": "fastembed"})
    home.put("note.md", "The ferry leaves at nine.\n")
    home.ok("init")
    assert "model_missing" not in home.ok("ingest", "--json")
    other = replace(home, extra={**home.extra, "KB_MODELS_EMBEDDING_MODEL": "none-such"})

    notices = json.loads(other.ok("ingest", "--json"))["notices"]
    assert ["'none-such' is not installed" in one["detail"] for one in notices] == [True]

    checks = json.loads(other.ok("doctor", "--json"))["checks"]
    (check,) = (one for one in checks if one["name"] == "embedding_model")
    assert check["ok"]
    assert "goes on serving; in the settings: the embedding model 'none-such' is not installed" in check["detail"]
    assert check["hint"]
