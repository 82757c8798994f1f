"""Paths inside the workspace, written one way everywhere."""

from __future__ import annotations

import re
import unicodedata
from typing import NewType

from kb.domain.errors import ErrorCode, InvalidInput

WorkspacePath = NewType("WorkspacePath", str)

_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")


def workspace_path(text: str) -> WorkspacePath:
    """Return `text` in the one stored form: relative, `/` separators, NFC, no `./`, no `//`.

    A backslash stays: on POSIX it is a letter of the name; the caller on Windows replaces its
    separators before. The bytes of the name on disk are kept beside the path, by the scanner.

    Raises:
        InvalidInput: the path is empty, absolute, leaves the root or holds a NUL.
    """
    if text.startswith("/") or _DRIVE.match(text):
        raise _invalid(text, "is absolute; give it relative to the workspace")
    parts = [part for part in unicodedata.normalize("NFC", text).split("/") if part not in {"", "."}]
    if not parts:
        raise _invalid(text, "names nothing")
    if ".." in parts:
        raise _invalid(text, "leaves the workspace")
    path = "/".join(parts)
    if "\0" in path:
        raise _invalid(text, "holds a NUL character")
    return WorkspacePath(path)


def _invalid(text: str, why: str) -> InvalidInput:
    return InvalidInput(f"path {text[:200]!r} {why}", code=ErrorCode.INVALID_PATH)
