"""A file the bridge may send: resolved and checked by the facade, never named by the caller."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LocalFile:
    """Where the bytes are, what they are (a MIME type), and the hash they must have.

    Attributes:
        etag: stands for the content, without quotes.
        name: what to call it when it is saved; empty for no suggestion.
    """

    path: Path
    media_type: str
    etag: str
    name: str = ""
