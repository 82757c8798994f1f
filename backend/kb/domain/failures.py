"""Failures of the surroundings: a lock, a disk, a model, a server, a person's stop."""

from __future__ import annotations

from kb.domain.errors import CannotRun, ErrorCode


class Busy(CannotRun):
    """Another process holds the library; the message names it."""

    code = ErrorCode.LIBRARY_BUSY


class StorageFailed(CannotRun):
    """The library or an index could not be opened, read or written."""

    code = ErrorCode.STORAGE_FAILED


class ModelUnavailable(CannotRun):
    """A model is missing, damaged or of the wrong kind."""

    code = ErrorCode.MODEL_UNAVAILABLE


class Cancelled(CannotRun):
    """The person asked to stop; what was committed stays."""

    code = ErrorCode.CANCELLED


class Unreachable(CannotRun):
    """A server did not answer."""

    code = ErrorCode.UNREACHABLE
