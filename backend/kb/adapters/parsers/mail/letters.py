"""A letter, wherever it was read from, and how it becomes blocks, metadata and members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kb.adapters.parsers.mail.plain import add_plain
from kb.adapters.parsers.shared.building import BlockBuilder, clean
from kb.adapters.parsers.shared.html import OnePlace, read_html
from kb.adapters.parsers.shared.names import clean_name, numbered
from kb.adapters.parsers.shared.pictures import worth_reading
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import Member, ParseWarning
from kb.domain.ids import Json
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan


@dataclass(frozen=True, slots=True)
class Body:
    """A piece of what a letter says."""

    text: str
    is_html: bool = False
    flowed: bool = False


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a letter; `shown` when the text shows it, as pictures in a signature."""

    name: str
    data: bytes
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter.

    Attributes:
        sender: name and address as written; so are the recipients, in (`To`, `Cc`, `Bcc`) as far as there are any.
        moment: when it was sent, with its time zone.
        bodies: in order, the better one of alternatives.
        locked: it is encrypted; then there are no bodies.
        warnings: what could not be taken out of it.
    """

    subject: str
    sender: str
    recipients: tuple[tuple[str, str], ...]
    moment: datetime | None
    bodies: tuple[Body, ...]
    attachments: tuple[Attachment, ...] = ()
    locked: bool = False
    warnings: tuple[ParseWarning, ...] = ()


def add_letter(builder: BlockBuilder, letter: Letter, number: int, limits: ReadingLimits) -> CoverageUnit:
    """Add the blocks of message `number`: its subject as a heading, who wrote to whom and when, what it says.

    Raises:
        Unreadable: as `read_html`.
    """
    span = PartSpan("message", number)
    builder.heading(1, letter.subject or letter.sender or f"({number})", span)
    lines = [("From", letter.sender), *letter.recipients]
    if letter.moment is not None:
        lines.append(("Date", f"{letter.moment:%Y-%m-%d %H:%M %z}".strip()))
    builder.paragraph("\n".join(f"{name}: {value}" for name, value in lines if value), span)
    for body in letter.bodies:
        if body.is_html:
            read_html(body.text, builder, OnePlace(span), limits, deepen=1)
        else:
            add_plain(body.text, builder, span, flowed=body.flowed)
    if letter.locked:
        return CoverageUnit("message", number, number, "skipped", reason="encrypted")
    return CoverageUnit("message", number, number, "text")


def facts_of(letter: Letter) -> dict[str, Json]:
    """Return what a letter says about itself, by the keys of front matter."""
    facts = {
        "title": letter.subject,
        "subject": letter.subject,
        "author": letter.sender,
        "sender": letter.sender,
        **{name.lower(): value for name, value in letter.recipients},
        "created": letter.moment.isoformat() if letter.moment else "",
    }
    return {key: clean(value) for key, value in facts.items() if value}


def members_of(letter: Letter, folder: str = "") -> tuple[Member, ...]:
    """Return what came with a letter, pictures in its text only where they are big; `folder` goes before the names."""
    kept = [one for one in letter.attachments if not one.shown or worth_reading(one.data)]
    names = numbered(clean_name(one.name) for one in kept)
    return tuple(
        Member(f"{folder}{name}", one.data, nanoseconds(letter.moment)) for name, one in zip(names, kept, strict=True)
    )


def nanoseconds(moment: datetime | None) -> int | None:
    """Return nanoseconds since 1970, None for what has no such number."""
    if moment is None:
        return None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        seconds = int(zoned.timestamp())
    except (OverflowError, ValueError):
        return None
    return seconds * 1_000_000_000 if seconds >= 0 else None


def merged(units: Sequence[CoverageUnit]) -> tuple[CoverageUnit, ...]:
    """Return the ledger with neighbours of one state as one range."""
    ranges: list[CoverageUnit] = []
    for unit in units:
        last = ranges[-1] if ranges else None
        if last and (last.state, last.reason, last.end + 1) == (unit.state, unit.reason, unit.start):
            ranges[-1] = CoverageUnit(unit.kind, last.start, unit.end, unit.state, reason=unit.reason)
        else:
            ranges.append(unit)
    return tuple(ranges)
