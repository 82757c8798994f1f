"""What a model would be shown of a search."""

from __future__ import annotations

from kb.contract.base import Wire


class ContextGroup(Wire):
    """Consecutive text of one document; `numbers` are the ranks of the hits in it."""

    doc_id: str
    numbers: tuple[int, ...]
    text: str
    truncated: bool


class Context(Wire):
    """What a model would be shown, best first, within the budget."""

    character_count: int
    truncated: bool
    groups: tuple[ContextGroup, ...]
