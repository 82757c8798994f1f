"""The strings of a document that stand beside its text: where links lead, names of pictures, paths of headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kb.domain.blocks import BlockKind, Code, MediaRef, Payload, Prose, Table
from kb.domain.documents import ParsedBlock
from kb.domain.inlines import Inline, Link
from kb.domain.spans import SourceSpan
from kb.governance.recutting import Cut

_LEAST_SURE = 8
# What parts the cells and lines of a table's text, but not those of the table.
_BETWEEN = re.compile(r"\s*\n\s*|\s*\|\s+|\s+\|\s*")


class Origin(NamedTuple):
    """Where a string was met first."""

    where: str
    span: SourceSpan | None


def strings_beside(blocks: Iterable[ParsedBlock], warnings: Iterable[str]) -> dict[str, Origin]:
    """Return each string that is not part of a block's text, once, in order of appearance."""
    found: dict[str, Origin] = {}
    paths: dict[tuple[str, ...], SourceSpan] = {}
    headings: set[str] = set()
    for block in blocks:
        if block.heading_path:
            paths.setdefault(block.heading_path, block.span)
        if block.kind is BlockKind.HEADING:
            headings.add(in_line(block.text))
        for text in _beside(block.payload):
            found.setdefault(text, Origin("text", block.span))
    for path, span in paths.items():
        for name in path:
            if in_line(name) not in headings:
                found.setdefault(name, Origin("heading", span))
    for note in warnings:
        found.setdefault(note, Origin("text", None))
    found.pop("", None)
    return found


def _beside(payload: Payload) -> Sequence[str]:
    match payload:
        case Prose() if payload.inlines:
            return [inline.href for inline in payload.inlines if isinstance(inline, Link)]
        case MediaRef():
            return (payload.src, payload.alt)
        case Code() if payload.language:
            return (payload.language,)
        case _:
            return ()


def in_line(text: str) -> str:
    """Return a heading as it stands in a path: on one line."""
    return " ".join(text.split())


def masked_path(path: tuple[str, ...], headings: Mapping[str, str], strings: Mapping[str, str]) -> tuple[str, ...]:
    """Return a heading path with the names its headings have now."""
    return tuple(headings.get(in_line(name)) or strings.get(name, name) for name in path)


def masked_payload(payload: Payload, strings: Mapping[str, str], within: Callable[[str], str]) -> Payload:
    """Return a payload masked: `strings` says what strings beside the text become, `within` what parts of it do."""
    match payload:
        case Table():
            rows = tuple(tuple(map(within, row)) for row in payload.rows)
            return Table(tuple(map(within, payload.headers)), rows)
        case Prose() if payload.inlines:
            return replace(payload, inlines=tuple(_inline(inline, strings, within) for inline in payload.inlines))
        case MediaRef():
            return MediaRef(
                within(strings.get(payload.src, payload.src)), within(strings.get(payload.alt, payload.alt))
            )
        case Code() if payload.language:
            return Code(strings.get(payload.language, payload.language))
        case _:
            return payload


def _inline(inline: Inline, strings: Mapping[str, str], within: Callable[[str], str]) -> Inline:
    if isinstance(inline, Link):
        return replace(inline, text=within(inline.text), href=within(strings.get(inline.href, inline.href)))
    return replace(inline, text=within(inline.text))


def same_cuts(text: str, cuts: Sequence[Cut]) -> Callable[[str], str]:
    """Return what makes the cuts of a block's text in the parts of it that its payload repeats."""
    pieces: dict[str, str] = {}
    for cut in cuts:
        for piece in _BETWEEN.split(text[cut.start : cut.end]):
            if piece.strip():
                pieces.setdefault(" ".join(piece.split()), cut.text)
    if not pieces:
        return lambda part: part
    longest = sorted(pieces, key=len, reverse=True)
    pattern = re.compile("|".join(r"\s+".join(map(re.escape, piece.split())) for piece in longest))

    def swap(match: re.Match[str]) -> str:
        whole = match.string
        before, after = whole[match.start() - 1 : match.start()], whole[match.end() : match.end() + 1]
        if len(match[0]) < _LEAST_SURE and (before.isalnum() or after.isalnum()):
            return match[0]
        return pieces[" ".join(match[0].split())]

    return lambda part: pattern.sub(swap, part)
