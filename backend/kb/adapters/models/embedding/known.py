"""`KnownDimensions`: what servers said once, so that opening a library asks none."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
from pathlib import Path

from kb.domain.ids import id_from

_log = logging.getLogger(__name__)


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
        """Remember what a server said; where the file cannot be written the server is asked again next time."""
        known = self._all() | {_key(base_url, model): dimensions}
        # A name of its own: two searches may learn it at once.
        temporary = self._file.with_name(f"{self._file.name}.{secrets.token_hex(4)}.new")
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                json.dump(known, out)
            temporary.replace(self._file)
        except OSError as error:
            _log.warning("what a server said of its model is not kept: %s", error.strerror or error)
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def _all(self) -> dict[str, object]:
        try:
            known = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}


def _key(base_url: str, model: str) -> str:
    return id_from({"kind": "embedding_endpoint", "endpoint": base_url, "id": model})
