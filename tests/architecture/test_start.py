"""Asking for help must not wait for the libraries that do the work."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "pydantic",
    "numpy",
    "tantivy",
    "chromadb",
    "onnxruntime",
    "fastembed",
    "tokenizers",
    "llama_cpp",
    "fastapi",
    "uvicorn",
    "httpx",
    "sqlite3",
    "opencc",
    "py3langid",
}
OURS = ("kb.app", "kb.adapters", "kb.bridge", "kb.contract", "kb.ingest", "kb.retrieval", "kb.answering", "kb.jobs")

SCRIPT = """
import json, sys
sys.argv = ["kb", *sys.argv[1:]]
from kb.cli.main import main
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
print("\\n" + json.dumps(sorted(sys.modules)))
"""


def loaded(*arguments: str) -> list[str]:
    """What a `kb` command has imported when it ends."""
    command = [sys.executable, "-c", SCRIPT, *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    return list(json.loads(output.splitlines()[-1]))


def test_help_imports_nothing_heavy() -> None:
    modules = loaded("--help")
    assert {name.split(".")[0] for name in modules} & HEAVY == set()
    assert [name for name in modules if name.startswith(OURS)] == []


@pytest.mark.parametrize("noun", ["ask", "ingest", "serve"])
def test_the_help_of_one_command_imports_nothing_heavy(noun: str) -> None:
    modules = loaded(noun, "--help")
    # typer itself looks for pydantic as soon as a command has parameters
    assert {name.split(".")[0] for name in modules} & HEAVY <= {"pydantic"}
    assert [name for name in modules if name.startswith(OURS)] == []
