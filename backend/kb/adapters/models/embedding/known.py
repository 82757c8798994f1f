"""`KnownDimensions`: what servers said once, so that opening a library asks none."""

from __future__ import annotations

import json
import os
from pathlib import Path

from kb.domain.ids import id_from


class KnownDimensions:
    """A small file: dimensions by server and model. One that is missing or damaged knows nothing.

    Args:
        file: private to its owner, written whole.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def get(self, base_url: str, model: str) -> int | None:
        """Return the dimensions of a model of a server, as it last said."""
        found = self._all().get(_key(base_url, model))
        return found if type(found) is int and found > 0 else None

    def keep(self, base_url: str, model: str, dimensions: int) -> None:
        """Remember what a server said.

        Raises:
            OSError: the file cannot be written.
        """
        known = self._all() | {_key(base_url, model): dimensions}
        temporary = self._file.with_suffix(".new")
        temporary.unlink(missing_ok=True)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            json.dump(known, out)
        temporary.replace(self._file)

    def _all(self) -> dict[str, object]:
        try:
            known = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}


def _key(base_url: str, model: str) -> str:
    return id_from({"kind": "embedding_endpoint", "endpoint": base_url, "id": model})
