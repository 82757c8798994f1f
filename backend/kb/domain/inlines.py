"""Inline pieces of a block that have a form or a target of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Link:
    """A link: Markdown `[text](href)`, or a wiki link `[[href|text]]`."""

    text: str
    href: str
    kind: Literal["link", "wiki", "footnote"] = "link"


@dataclass(frozen=True, slots=True)
class Styled:
    """Text set as code, strong or emphasis."""

    text: str
    style: Literal["code", "strong", "emph"]


Inline: TypeAlias = Link | Styled
