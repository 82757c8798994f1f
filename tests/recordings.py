"""The shared recordings, where they are at hand."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

_FOLDER = Path(os.environ.get("KEBAB_SHARED") or Path(__file__).resolve().parents[2] / "shared") / "data" / "audio"


def _transcripts() -> dict[str, tuple[str, str]]:
    listing = _FOLDER / "transcripts.json"
    return json.loads(listing.read_text(encoding="utf-8")) if listing.is_file() else {}


TRANSCRIPTS = _transcripts()
"""Language and text of each recording that has one."""

needs_recordings = pytest.mark.skipif(not TRANSCRIPTS, reason="the shared recordings are not here")


def recording(name: str) -> Path:
    return _FOLDER / name
