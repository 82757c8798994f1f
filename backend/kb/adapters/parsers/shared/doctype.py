"""XML that may name its type, as old feeds and books do, but not define words of its own."""

from __future__ import annotations

import re

from kb.domain.errors import Unreadable

_PROLOG = 1 << 20
_ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
_FIRST_ELEMENT = re.compile(rb"<[A-Za-z_]")


def refuse_entities(data: bytes) -> None:
    """Refuse a text that defines entities before its first element.

    They would never be expanded, so what the text means would be lost in silence; no honest feed or book has any.

    Raises:
        Unreadable: `too_complex`.
    """
    first = _FIRST_ELEMENT.search(data, 0, _PROLOG)
    if _ENTITY.search(data, 0, first.start() if first else _PROLOG):
        raise Unreadable(
            "a part of it defines what its own words mean, which such files never need",
            hint="get the file again from where it came from",
            reason="too_complex",
        )
