"""The generated files are the committed ones, and a check that says how to mend them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from kb.contract import generate
from kb.contract.schemas import bundle, schema_files


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with every generated file as it should be."""
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    files = generate.contract_files()
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    types = generate.ROOT / "frontend/src/contract/generated.ts"
    types.write_text(f"// from {generate._fingerprint(files[generate._BUNDLE])}\n", encoding="utf-8")
    return tmp_path


def commit(tree: Path) -> None:
    """Make `tree` a repository with everything in its last commit."""
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", "-C", str(tree), *arguments], check=True, capture_output=True)


def test_the_committed_files_are_what_the_models_give() -> None:
    assert generate.differences(generate.ROOT, generate.contract_files()) == [], f"run `{generate.MENDING}`"


def test_a_check_of_fresh_files_passes(tree: Path) -> None:
    assert generate.main(["--check"]) == 0


def test_a_stale_file_fails_with_the_command_that_mends_it(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "docs/wire-schema/v1/job.schema.json").write_text("{}\n", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    said = capsys.readouterr().err
    assert "stale: docs/wire-schema/v1/job.schema.json" in said
    assert f"`{generate.MENDING}`" in said


def test_a_schema_of_a_model_that_is_gone_is_stale(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "docs/wire-schema/v1/dream.schema.json").write_text("{}\n", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert "stale: docs/wire-schema/v1/dream.schema.json" in capsys.readouterr().err


def test_types_made_from_another_bundle_are_stale(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "frontend/src/contract/generated.ts").write_text("// from 0123\n", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert "stale: frontend/src/contract/generated.ts" in capsys.readouterr().err


def test_a_field_that_was_committed_may_not_disappear(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tree / "docs/wire-schema/v1/job.schema.json"
    current = path.read_text(encoding="utf-8")
    schema = json.loads(current)
    schema["properties"]["mood"] = {"type": "string"}
    path.write_text(json.dumps(schema), encoding="utf-8")
    commit(tree)
    path.write_text(current, encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert "not additive: job: mood: removed" in capsys.readouterr().err


def test_a_schema_that_was_released_may_not_disappear(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tree / "docs/wire-schema/v1/dream.schema.json"
    path.write_text(json.dumps({"type": "object"}), encoding="utf-8")
    commit(tree)
    subprocess.run(["git", "-C", str(tree), "tag", "v0.1.0"], check=True)
    path.unlink()
    assert generate.main(["--check"]) == 1
    assert "not additive: dream: the whole schema is gone" in capsys.readouterr().err


def test_generating_twice_gives_the_same_bytes() -> None:
    assert generate.contract_files() == generate.contract_files()


def test_schemas_have_no_titles_and_require_their_version() -> None:
    for name, schema in schema_files().items():
        assert '"title": "' not in json.dumps(schema)
        if name != "requests":
            assert "schema_version" in schema["required"]
            assert schema["properties"]["schema_version"]["const"] == f"{name}.v1"


def test_requests_refuse_unknown_fields_and_replies_do_not() -> None:
    files = schema_files()
    requests = files.pop("requests")["$defs"]
    assert all(requests[name]["additionalProperties"] is False for name in requests)
    assert [name for name, schema in files.items() if "additionalProperties" in schema] == []


def test_the_bundle_names_request_and_reply_of_every_method() -> None:
    methods = bundle()["$defs"]["Methods"]["properties"]
    assert methods["search/find"]["properties"] == {
        "request": {"$ref": "#/$defs/FindRequest"},
        "reply": {"$ref": "#/$defs/RetrievalResponse"},
    }
    assert {"answers/ask", "library/ingest", "jobs/cancel", "viewer/open", "library/coverage"} <= set(methods)
