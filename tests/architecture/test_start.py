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


@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["index", "--help"]], ids=" ".join)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    command = [sys.executable, "-c", SCRIPT, *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    loaded = json.loads(output.splitlines()[-1])
    assert {name for name in loaded if name.split(".")[0] in HEAVY} == set()
    assert [name for name in loaded if name.startswith(OURS)] == []
