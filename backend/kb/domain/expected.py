"""What a person expected to find, as the library knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kb.domain.embeddings import ChunkKey


@dataclass(frozen=True, slots=True)
class Expected:
    """An item, or one passage of it.

    Attributes:
        state, reason: of the item: whether it could be read, and why not.
        passages: chunk ids by key, of the document that is shown or of the passage named.
        hidden_by: the rule of the gate that hides all of them, None when they may be seen: `deleted`, `removed`,
            `archived`, `masking`, `older_version`, `disabled`, `parent`, `not_ready`.
    """

    path: str
    state: str
    reason: str | None
    passages: Mapping[ChunkKey, str]
    hidden_by: str | None
