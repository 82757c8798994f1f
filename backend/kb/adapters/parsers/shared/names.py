"""Names of files in files, made such that they climb nowhere and no two are alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_LONGEST_NAME = 200
_NTFS_STYLE = re.compile(r"^[A-Za-z]:")
# Control letters, what Windows forbids, and letters that look like a slash, a backslash or two dots.
_ODD = re.compile('[\x00-\x1f\x7f-\x9f<>:"|?*\u2024\u2025\u2044\u2215\u2216\u29f5\u29f8\uff0f\uff3c\ud800-\udfff]')


def clean_name(name: str) -> str:
    """Return a member's name as a relative path: no drive, no `..`, no backslash, nothing a file system trips over."""
    name = unicodedata.normalize("NFC", name).replace("\\", "/")
    parts = []
    for raw in _NTFS_STYLE.sub("", name).split("/"):
        part = _ODD.sub("_", raw).strip().rstrip(". ")
        if part.strip("."):
            parts.append(_short(part))
    # `!/` stands between a container and its member.
    folders = [part[:-1] + "_" if part.endswith("!") else part for part in parts[:-1]]
    return "/".join([*folders, *parts[-1:]]) or "unnamed"


def numbered(names: Iterable[str]) -> list[str]:
    """Return `names` with later ones that differ at most in letter case numbered: `a.txt`, `a (2).txt`."""
    taken: set[str] = set()
    result: list[str] = []
    counts: dict[str, int] = {}
    for name in names:
        folder, slash, last = name.rpartition("/")
        stem, dot, suffix = last.rpartition(".")
        if not stem:
            stem, dot, suffix = last, "", ""
        key = name.casefold()
        candidate = name
        while candidate.casefold() in taken:
            counts[key] = counts.get(key, 1) + 1
            candidate = f"{folder}{slash}{stem} ({counts[key]}){dot}{suffix}"
        taken.add(candidate.casefold())
        result.append(candidate)
    return result


def _short(part: str) -> str:
    if len(part) <= _LONGEST_NAME:
        return part
    stem, dot, suffix = part.rpartition(".")
    kept = dot + suffix if stem and len(suffix) < 12 else ""  # noqa: PLR2004 - no suffix is longer
    return part[: _LONGEST_NAME - len(kept)] + kept
