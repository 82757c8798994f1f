"""Where models are looked up: with the program first, then in the library's own folder."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kb.domain.failures import ModelUnavailable


@dataclass(frozen=True, slots=True)
class LanguageModelFile:
    """A GGUF file and what is known of it."""

    path: Path
    id: str
    context_tokens: int | None


def find_folder(name: str, places: Sequence[Path]) -> Path | None:
    """Return the folder of a model by its name, or by its path; None when there is none."""
    given = Path(name).expanduser()
    if given.is_absolute():
        return given if given.is_dir() else None
    return next((place / name for place in places if (place / name / "model.toml").is_file()), None)


def find_language_model(name: str, places: Sequence[Path]) -> LanguageModelFile:
    """Return the GGUF file that a setting names: a model folder, a file, or a file in a models folder.

    Raises:
        ModelUnavailable: nothing by that name is there.
    """
    hint = "set models.llm.model to the folder or GGUF file of a model, or models.llm.provider to `extractive`"
    if not name:
        raise ModelUnavailable("no language model is chosen", hint=hint)
    folder = find_folder(name, places)
    if folder is not None:
        return _of_manifest(folder, hint)
    given = Path(name).expanduser()
    candidates = [given] if given.is_absolute() else [place / name for place in places]
    file = next((path for path in candidates if path.is_file()), None)
    if file is None:
        raise ModelUnavailable(f"the language model {given.name!r} is not installed", hint=hint)
    return LanguageModelFile(file, file.stem, None)


def _of_manifest(folder: Path, hint: str) -> LanguageModelFile:
    try:
        manifest = tomllib.loads((folder / "model.toml").read_text(encoding="utf-8"))
        if manifest.get("kind") != "language":
            raise ModelUnavailable(f"{folder.name!r} is not a language model", hint=hint)
        context = manifest.get("context_tokens")
        return LanguageModelFile(folder / str(manifest["file"]), str(manifest["id"]), int(context) if context else None)
    except (OSError, KeyError, ValueError) as error:
        raise ModelUnavailable(f"the manifest of the language model {folder.name!r} is damaged", hint=hint) from error
