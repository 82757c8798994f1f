"""The import contracts of pyproject.toml hold, and each catches what it is there for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import BACKEND, ROOT

# importer (a module made for the test) and what it must not import
FORBIDDEN = [
    ("kb.domain.probe_ingest", "kb.ingest.ports"),
    ("kb.domain.probe_pydantic", "pydantic"),
    ("kb.ingest.probe_sqlite", "sqlite3"),
    ("kb.ingest.probe_retrieval", "kb.retrieval.ports"),
    ("kb.ingest.probe_numpy", "numpy"),
    ("kb.retrieval.probe_tantivy", "tantivy"),
    ("kb.retrieval.probe_ingest", "kb.ingest.ports"),
    ("kb.retrieval.probe_adapter", "kb.adapters"),
    ("kb.retrieval.probe_fastapi", "fastapi"),
    ("kb.answering.probe_contract", "kb.contract"),
    ("kb.answering.probe_ingest", "kb.ingest.ports"),
    ("kb.answering.probe_llama", "llama_cpp"),
    ("kb.jobs.probe_sqlite", "sqlite3"),
    ("kb.jobs.probe_retrieval", "kb.retrieval.ports"),
    ("kb.contract.probe_answering", "kb.answering.ports"),
    ("kb.adapters.sqlite.probe_tantivy", "kb.adapters.tantivy"),
    ("kb.adapters.sqlite.probe_contract", "kb.contract"),
    ("kb.adapters.chroma.probe_insides", "kb.retrieval"),
    ("kb.adapters.parsers.markdown.probe_text", "kb.adapters.parsers.text"),
    ("kb.adapters.models.embedding.probe_language", "kb.adapters.models.language"),
    ("kb.adapters.files.probe_app", "kb.app"),
    ("kb.app.probe_adapter", "kb.adapters.sqlite"),
    ("kb.app.probe_bridge", "kb.bridge"),
    ("kb.bridge.probe_retrieval", "kb.retrieval.ports"),
    ("kb.bridge.probe_domain", "kb.domain"),
    ("kb.bridge.probe_cli", "kb.cli"),
    ("kb.cli.probe_retrieval", "kb.retrieval.ports"),
    ("kb.cli.probe_adapter", "kb.adapters.sqlite"),
    ("kb.cli.probe_bridge", "kb.bridge"),
    ("kb.adapters.sqlite.probe_library", "tantivy"),
    ("kb.adapters.tantivy.probe_library", "chromadb"),
    ("kb.app.probe_library", "fastembed"),
    ("kb.bridge.probe_library", "fastembed"),
    ("kb.adapters.models.embedding.probe_library", "llama_cpp"),
]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the tree in `folder` by the contracts of this repository."""
    # the working folder comes first on the path, so the copy is read, not the installed source
    code = "import sys; sys.path.insert(0, sys.argv[1]); from importlinter.cli import lint_imports_command as lint; "
    code += "lint(['--no-cache', sys.argv[2]])"
    command = [sys.executable, "-c", code, str(folder), str(ROOT / "pyproject.toml")]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)


def copy(folder: Path) -> Path:
    """A copy of the backend that a test may spoil."""
    shutil.copytree(BACKEND / "kb", folder / "kb", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the contracts say about a tree with every forbidden import in it."""
    folder = copy(tmp_path_factory.mktemp("spoiled"))
    for importer, imported in FORBIDDEN:
        (folder / importer.replace(".", "/")).with_suffix(".py").write_text(f"import {imported}\n", encoding="utf-8")
    result = lint(folder)
    assert result.returncode == 1, result.stdout + result.stderr
    return " ".join(result.stdout.split())


def test_the_tree_as_it_is_keeps_every_contract(tmp_path: Path) -> None:
    result = lint(copy(tmp_path))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(("importer", "imported"), FORBIDDEN, ids=lambda name: name)
def test_a_forbidden_import_is_caught(report: str, importer: str, imported: str) -> None:
    assert f"{importer} -> {imported} (l.1)" in report or f"{importer} is not allowed to import {imported}" in report


def test_an_import_under_type_checking_counts_too(tmp_path: Path) -> None:
    folder = copy(tmp_path)
    text = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import kb.ingest.ports\n"
    (folder / "kb" / "domain" / "probe.py").write_text(text, encoding="utf-8")
    result = lint(folder)
    assert result.returncode == 1
    assert "kb.domain.probe -> kb.ingest.ports" in " ".join(result.stdout.split())


def test_a_cycle_inside_a_package_is_caught(tmp_path: Path) -> None:
    folder = copy(tmp_path)
    for one, other in (("probe_one", "probe_two"), ("probe_two", "probe_one")):
        (folder / "kb" / "retrieval" / f"{one}.py").write_text(f"import kb.retrieval.{other}\n", encoding="utf-8")
    result = lint(folder)
    assert result.returncode == 1
    assert "No cycles anywhere BROKEN" in result.stdout


def test_a_package_that_no_layer_names_is_caught(tmp_path: Path) -> None:
    folder = copy(tmp_path)
    (folder / "kb" / "utils").mkdir()
    (folder / "kb" / "utils" / "__init__.py").write_text("", encoding="utf-8")
    result = lint(folder)
    assert result.returncode == 1
    assert "kb.utils" in result.stdout
