"""Values behind the keys of a query: what they mean, and what is wrong with one. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from difflib import get_close_matches
from functools import partial

from kb.domain.items import MediaType
from kb.domain.metadata import SourceType, TrustLevel

Complaint = tuple[str, str]
"""What is wrong, and the remedy."""

_LONGEST = {"lang": 20, "path": 1_000}
_LONGEST_VALUE = 200
_LANGUAGE = re.compile("[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")
_DAY = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?")
_TYPES = frozenset(str(kind) for kind in (*SourceType, *MediaType)) - {str(MediaType.OTHER)}
_LEVELS = tuple(str(level) for level in TrustLevel)
_EXAMPLES = {
    "tag": "tag:work",
    "path": 'path:"my notes/**"',
    "lang": "lang:ko",
    "type": "type:pdf",
    "trust": "trust:secondary",
    "in": "in:Research",
    "after": "after:2025-03-01",
    "before": "before:2026",
}


def complaint_about(key: str, value: str) -> Complaint | None:
    """Return what is wrong with the value of a key, None when nothing is."""
    if not value:
        return f"`{key}:` needs a value right behind it", f"write it like `{_EXAMPLES[key]}`"
    if len(value) > _LONGEST.get(key, _LONGEST_VALUE):
        return f"this value of `{key}:` is too long", f"at most {_LONGEST.get(key, _LONGEST_VALUE)} characters"
    return _CHECKS[key](value) if key in _CHECKS else None


def day_of(key: str, value: str) -> date | None:
    """Return the first day `after:` takes in, or the last one `before:` does; None when `value` is no day.

    `after:2025` takes in all of 2025, `before:2026` nothing of 2026: together they are one year.
    """
    found = _DAY.fullmatch(unicodedata.normalize("NFKC", value))
    if found is None:
        return None
    year, month, day = (int(part) if part else 1 for part in found.groups())
    try:
        first = date(year, month, day)
        return first if key == "after" else first - timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def glob_of(value: str) -> str:
    """Return the glob of a `path:`; one without `*`, `?` and `[` is how paths begin."""
    return value if re.search(r"[*?\[]", value) else f"{value}**"


def _of_type(value: str) -> Complaint | None:
    if value.casefold() in _TYPES:
        return None
    near = get_close_matches(value.casefold(), sorted(_TYPES), 1)
    hint = f"did you mean `type:{near[0]}`?" if near else f"types are {', '.join(sorted(_TYPES))}"
    return f"there is no type {value[:40]!r}", hint


def _of_trust(value: str) -> Complaint | None:
    if value.casefold() in _LEVELS:
        return None
    return f"there is no level of trust {value[:40]!r}", f"levels are {', '.join(_LEVELS)}"


def _of_language(value: str) -> Complaint | None:
    if _LANGUAGE.fullmatch(value):
        return None
    return f"{value!r} is no language", "write its code, such as en, zh-Hant or ko"


def _of_day(key: str, value: str) -> Complaint | None:
    if day_of(key, value) is not None:
        return None
    return f"{value[:40]!r} is no day", f"write a day, a month or a year: `{key}:2025-03-01`, `{key}:2025`"


_CHECKS: Mapping[str, Callable[[str], Complaint | None]] = {
    "type": _of_type,
    "trust": _of_trust,
    "lang": _of_language,
    "after": partial(_of_day, "after"),
    "before": partial(_of_day, "before"),
}
