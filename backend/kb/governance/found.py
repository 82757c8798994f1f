"""What a search for secrets gives, and what it must know of a place."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Setting(Enum):
    """What kind of text stands at a place: people's language, settings and commands, or a program."""

    PROSE = "prose"
    CONFIG = "config"
    PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class Found:
    """Characters `start` to `end` (half open) are a secret of a kind; equal `value`s are one secret."""

    start: int
    end: int
    kind: str
    value: str = field(repr=False)
