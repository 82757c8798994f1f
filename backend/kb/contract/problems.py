"""Errors on the wire and back: RFC 9457 problems with our stable codes."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from pydantic import ValidationError

from kb.contract.system import Problem
from kb.domain.errors import Conflict, ErrorCode, InvalidInput, InvalidSettings, KebabError, NotFound, Unreadable
from kb.domain.failures import Busy, Cancelled, ModelUnavailable, StorageFailed, Unreachable

_STATUS: Mapping[str, int] = {
    ErrorCode.BAD_REQUEST: 400,
    ErrorCode.INVALID_ID: 400,
    ErrorCode.INVALID_PATH: 400,
    ErrorCode.INVALID_SPAN: 400,
    ErrorCode.INVALID_CITATION: 400,
    ErrorCode.INVALID_SETTINGS: 400,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.CONFLICT: 409,
    ErrorCode.LIBRARY_BUSY: 409,
    ErrorCode.CANCELLED: 409,
    ErrorCode.UNREADABLE: 422,
    ErrorCode.INTERNAL: 500,
    ErrorCode.UNREACHABLE: 502,
    ErrorCode.STORAGE_FAILED: 503,
    ErrorCode.MODEL_UNAVAILABLE: 503,
}
_CLASSES: Mapping[str, type[KebabError]] = {
    ErrorCode.INVALID_SETTINGS: InvalidSettings,
    ErrorCode.NOT_FOUND: NotFound,
    ErrorCode.CONFLICT: Conflict,
    ErrorCode.LIBRARY_BUSY: Busy,
    ErrorCode.CANCELLED: Cancelled,
    ErrorCode.UNREADABLE: Unreadable,
    ErrorCode.UNREACHABLE: Unreachable,
    ErrorCode.STORAGE_FAILED: StorageFailed,
    ErrorCode.MODEL_UNAVAILABLE: ModelUnavailable,
}
_DOOR = frozenset({"unauthorized", "foreign_host", "foreign_origin"})
_SHOWN_ERRORS = 5
_LONGEST_NAME = 60


def problem(status: int, code: str, detail: str, *, hint: str = "", incident: str | None = None) -> Problem:
    """Return a problem; its title is the standard phrase of `status`."""
    return Problem(
        type=f"urn:kebab:problem:{code}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        hint=hint,
        incident=incident,
    )


def problem_of(error: Exception) -> Problem | None:
    """Return an error of ours as a problem; None when `error` is a bug."""
    if not isinstance(error, KebabError):
        return None
    return problem(_STATUS[error.code], error.code.value, error.message, hint=error.hint)


def problem_of_invalid(error: ValidationError) -> Problem:
    """Return what is wrong with a request, field by field, without repeating its values."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    parts = [f"{_place(entry['loc'])}{entry['msg'].removeprefix('Value error, ')}" for entry in found[:_SHOWN_ERRORS]]
    if len(found) > _SHOWN_ERRORS:
        parts.append(f"and {len(found) - _SHOWN_ERRORS} more")
    return problem(400, ErrorCode.BAD_REQUEST, "; ".join(parts), hint="correct the request and send it again")


def problem_of_bug(incident: str) -> Problem:
    """Return what may be said about an error nobody foresaw; the rest stands in the log."""
    detail = f"something unforeseen went wrong (incident {incident})"
    hint = "the log has the details under this incident"
    return problem(500, ErrorCode.INTERNAL, detail, hint=hint, incident=incident)


def cannot_listen(port: int, error: OSError) -> KebabError:
    """Return the error of a port that cannot be had."""
    why = "may not be opened by you" if isinstance(error, PermissionError) else "is taken by another program"
    return Unreachable(f"port {port} {why}", hint="choose another with `--port`, or 0 for any")


def error_of(sent: Problem) -> KebabError:
    """Return the error a problem stands for, so that a remote call fails like a local one."""
    cls = _CLASSES.get(sent.code)
    if cls is not None:
        return cls(sent.detail, hint=sent.hint)
    if sent.code in _DOOR:
        return Unreachable(f"the server did not let us in: {sent.detail}", hint=sent.hint)
    if sent.code == ErrorCode.INTERNAL or sent.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return KebabError(sent.detail, hint=sent.hint)
    code = ErrorCode(sent.code) if sent.code in set(ErrorCode) else ErrorCode.BAD_REQUEST
    return InvalidInput(sent.detail, hint=sent.hint, code=code)


def _place(location: tuple[int | str, ...]) -> str:
    name = ".".join(str(step) for step in location)[:_LONGEST_NAME]
    return f"{name}: " if name else ""
