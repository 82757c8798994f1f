"""Tantivy's errors as ours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from kb.domain.failures import StorageFailed

_REMEDIES = (
    ("LockBusy", "another process writes the text index", "close the other Kebab and try again"),
    ("No space left", "the disk is full", "free some space and try again; the text is safe in the library"),
    ("StorageFull", "the disk is full", "free some space and try again; the text is safe in the library"),
    ("Permission denied", "the text index may not be changed", "check the rights of the data folder"),
)


@contextlib.contextmanager
def translated(done: str) -> Iterator[None]:
    """Raise what Tantivy and the system raise inside as StorageFailed; `done` is `read` or `written`."""
    try:
        yield
    except (ValueError, OSError, RuntimeError) as error:
        raise _failure(error, done) from error
    except BaseException as error:
        # A panic in Rust arrives as a BaseException of pyo3, whose class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise _failure(error, done) from error


def _failure(error: BaseException, done: str) -> StorageFailed:
    said = f"{getattr(error, 'strerror', None) or ''} {error}"
    for mark, fact, remedy in _REMEDIES:
        if mark in said:
            return StorageFailed(fact, hint=remedy)
    return StorageFailed(
        f"the text index could not be {done}", hint="`kb index rebuild` makes it anew from the library"
    )
