"""A small cache of texts in our own data, so that an unchanged workspace is scanned unopened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

from kb.adapters.files.atomic import private_folder, write_atomically


class TextCache(Protocol):
    """Texts by key; forgetting one costs a read, nothing else."""

    def get(self, key: str) -> str | None:
        """Return the text kept under `key`."""

    def set(self, key: str, value: str) -> None:
        """Keep a text."""


class FileTextCache:
    """One JSON file in the data folder; a damaged or unwritable one counts as empty."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, key: str) -> str | None:
        """Return the text kept under `key`."""
        value = self._read().get(key)
        return value if isinstance(value, str) else None

    def set(self, key: str, value: str) -> None:
        """Keep a text in place of all earlier ones: only the newest state of a file is ever asked for."""
        try:
            private_folder(self._path.parent)
            write_atomically(self._path, json.dumps({key: value}, ensure_ascii=True).encode("ascii"))
        except OSError:
            return

    def _read(self) -> dict[str, object]:
        try:
            value = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}
