"""The errors a caller of the facade may meet, for those who see nothing behind it (`kb.domain.errors`)."""

from __future__ import annotations

from kb.domain.errors import ErrorCode, InvalidInput, InvalidSettings, KebabError, NotFound, Unreadable
from kb.domain.failures import Busy, Cancelled, ModelUnavailable, StorageFailed, Unreachable

__all__ = [
    "Busy",
    "Cancelled",
    "ErrorCode",
    "InvalidInput",
    "InvalidSettings",
    "KebabError",
    "ModelUnavailable",
    "NotFound",
    "StorageFailed",
    "Unreachable",
    "Unreadable",
]
