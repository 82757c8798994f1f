"""A folder with an embedding model: what its manifest says, without opening the model.

`model.toml` stands beside the files that `dev.py setup` or the model manager put there.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb.domain.embeddings import EmbeddingModel
from kb.domain.failures import ModelUnavailable

REMEDY = (
    "run `python3 dev.py setup`, or choose another embedding model in the settings; keyword search works without one"
)

SPECIAL_TOKENS = 2
"""The start and the end mark around every text of the BERT and XLM-R families."""

MARGIN = 2
"""Tokens that may appear where prefix and text meet; seen in practice: 0."""

_PREFIX_TOKENS = {("XLMRobertaTokenizer", "passage: "): 2}
"""Known lengths, so that the window is known without reading a tokenizer of 10 MB."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """An embedding model on disk: the value that names it, and its files."""

    path: Path
    model: EmbeddingModel
    model_file: str


def read_folder(path: Path, provider: str) -> ModelFolder:
    """Read the manifest of an embedding model.

    Raises:
        ModelUnavailable: the folder, the manifest or a file it names is missing or wrong.
    """
    manifest = _toml(path / "model.toml")
    try:
        window, prefix = int(manifest["max_tokens"]), str(manifest["passage_prefix"])
        model = EmbeddingModel(
            id=str(manifest["id"]),
            version=str(manifest["version"]),
            provider=provider,
            dimensions=int(manifest["dimensions"]),
            pooling=str(manifest["pooling"]),
            query_prefix=str(manifest["query_prefix"]),
            passage_prefix=prefix,
            max_tokens=window - SPECIAL_TOKENS - _prefix_tokens(path, prefix) - MARGIN,
        )
        folder = ModelFolder(path, model, str(manifest["file"]))
    except (KeyError, TypeError, ValueError) as error:
        raise unavailable(f"the manifest of the embedding model {path.name} is incomplete") from error
    if model.pooling != "mean" or not manifest.get("normalize", False):
        raise unavailable(f"the embedding model {model.id} pools by {model.pooling!r}, which is not supported")
    if not (path / folder.model_file).is_file():
        raise unavailable(f"the file {folder.model_file} of the embedding model {model.id} is missing")
    return folder


def unavailable(message: str) -> ModelUnavailable:
    """Return the error with the usual remedy."""
    return ModelUnavailable(message, hint=REMEDY)


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unavailable(f"the embedding model {path.parent.name} is not installed") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise unavailable(f"the manifest of the embedding model {path.parent.name} is damaged") from error


def _prefix_tokens(path: Path, prefix: str) -> int:
    """Return the tokens of `prefix` before a text; for an unknown tokenizer one a character, the most there can be."""
    try:
        config = json.loads((path / "tokenizer_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise unavailable(f"the tokenizer of the embedding model {path.name} is missing or damaged") from error
    return _PREFIX_TOKENS.get((config.get("tokenizer_class"), prefix), len(prefix))
