"""`watch.v1`: how the workspace is followed, and what waits for a person's word."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime

from kb.contract.base import Open, Wire


class HeldBack(Wire):
    """Files that would vanish from the library: too many at once to believe it without asking."""

    count: int
    of: int
    reason: Annotated[Literal["many_missing", "unmounted", "root_missing"], Open]
    examples: tuple[str, ...] = ()


class Watch(Wire):
    """Whether changes are followed; `problem` says why not, or what is followed by comparing alone."""

    schema_version: Literal["watch.v1"] = "watch.v1"
    watching: bool
    problem: str | None
    pending: int
    last_change_at: AwareDatetime | None
    last_compared_at: AwareDatetime | None
    held_back: HeldBack | None
