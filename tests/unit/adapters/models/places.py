"""Where the small models are that `dev.py setup` makes; tests that need one are skipped without it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

_MODELS = Path(sys.prefix) / "share" / "kb" / "models"


def embedding_folder() -> Path:
    """The folder of multilingual-e5-small."""
    return _needed(_MODELS / "multilingual-e5-small", "model.onnx")


def language_file() -> Path:
    """The file of SmolLM2, with a runtime to open it."""
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed; `python3 dev.py setup` builds it")
    return _needed(_MODELS / "smollm2-135m-instruct", "model.gguf") / "model.gguf"


def _needed(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        pytest.skip(f"the model {folder.name} is not here; `python3 dev.py setup` makes it")
    return folder
