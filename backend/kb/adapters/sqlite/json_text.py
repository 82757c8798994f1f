"""JSON and times as kept in rows."""

from __future__ import annotations

import json
from datetime import datetime

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)


def compact(value: object) -> str:
    """Return JSON without spaces."""
    return _encoder.encode(value)


def now_text() -> str:
    """Return the time as kept in rows."""
    return datetime.now().astimezone().isoformat()
