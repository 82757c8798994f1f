"""Compacting a library with vectors, as a person does it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.homes import Home, needs_embedder

pytestmark = [needs_embedder, pytest.mark.timeout(300)]


def test_compacting_a_library_with_vectors_never_makes_its_file_larger(tmp_path: Path) -> None:
    home = Home(tmp_path, {"KB_MODELS_EMBEDDING_PROVIDER": "fastembed"})
    for number in range(4):
        home.put(f"{number}.md", f"Recipe {number} of the soup.\n")
    home.ok("init")
    home.ok("ingest")
    home.ok("index", "compact")
    again = json.loads(home.ok("index", "compact", "--json"))
    # What a view that is still open sees stays in the write-ahead log, beside a whole second copy of the library.
    assert again["after"]["library"] <= again["before"]["library"]
