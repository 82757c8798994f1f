"""The exception tree: what could not run, why, and what the person can do about it.

    KebabError
    ├── InvalidInput        the request itself is wrong (bad_request, invalid_id, invalid_path, ...)
    │   └── InvalidSettings a configuration file, variable or flag      (invalid_settings)
    ├── NotFound            the thing asked for is not there            (not_found)
    ├── Conflict            something else of the kind is under way     (conflict)
    ├── Unreadable          one file cannot be read or parsed           (unreadable)
    └── CannotRun           the surroundings are in the way: `failures.py`
        ├── Busy, StorageFailed, ModelUnavailable, Cancelled, Unreachable

A refusal to answer and a search without hits are results, never exceptions.
"""

from __future__ import annotations

from enum import StrEnum


class ErrorCode(StrEnum):
    """Stable codes: other programs may switch on them."""

    BAD_REQUEST = "bad_request"
    INVALID_ID = "invalid_id"
    INVALID_PATH = "invalid_path"
    INVALID_SPAN = "invalid_span"
    INVALID_CITATION = "invalid_citation"
    INVALID_SETTINGS = "invalid_settings"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    LIBRARY_BUSY = "library_busy"
    UNREADABLE = "unreadable"
    STORAGE_FAILED = "storage_failed"
    MODEL_UNAVAILABLE = "model_unavailable"
    CANCELLED = "cancelled"
    UNREACHABLE = "unreachable"
    INTERNAL = "internal"


class KebabError(Exception):
    """Something could not run.

    Args:
        message: the fact, in one line, without absolute paths, keys or content.
        hint: what the person can do; empty when there is nothing to do.
    """

    code: ErrorCode = ErrorCode.INTERNAL

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InvalidInput(KebabError):
    """The request itself is wrong.

    Args:
        message: the fact.
        hint: the remedy.
        code: the narrower code of what is wrong (`invalid_id`, `invalid_citation`, ...).
    """

    code: ErrorCode = ErrorCode.BAD_REQUEST

    def __init__(self, message: str, *, hint: str = "", code: ErrorCode | None = None) -> None:
        super().__init__(message, hint=hint)
        if code is not None:
            self.code = code


class InvalidSettings(InvalidInput):
    """A configuration file, variable or flag has a wrong value."""

    code = ErrorCode.INVALID_SETTINGS


class NotFound(KebabError):
    """The item, document, chunk, answer, job or workspace asked for does not exist."""

    code = ErrorCode.NOT_FOUND


class Conflict(KebabError):
    """The request does not go with what is under way, or with what was asked before."""

    code = ErrorCode.CONFLICT


class Unreadable(KebabError):
    """One file cannot be read or parsed; costs that file only.

    Args:
        message: the fact.
        hint: the remedy.
        reason: stable word kept with the item (`too_big`, `vanished`, `permission`, `binary`, ...).
    """

    code = ErrorCode.UNREADABLE

    def __init__(self, message: str, *, hint: str = "", reason: str = "unreadable") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class CannotRun(KebabError):
    """The surroundings are in the way; each subclass names which."""


__all__ = [
    "CannotRun",
    "Conflict",
    "ErrorCode",
    "InvalidInput",
    "InvalidSettings",
    "KebabError",
    "NotFound",
    "Unreadable",
]
