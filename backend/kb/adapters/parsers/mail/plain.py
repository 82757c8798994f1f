"""Plain text of letters: paragraphs, what is quoted from others, the signature."""

from __future__ import annotations

import re

from kb.adapters.parsers.shared.building import BlockBuilder
from kb.domain.spans import SourceSpan

_QUOTED = re.compile(r"(?:> ?)+")
_SIGNED = re.compile(
    r"\A\s*-----BEGIN PGP SIGNED MESSAGE-----\n(?:[A-Za-z-]+: .*\n)*\n(.*?)\n-----BEGIN PGP SIGNATURE-----.*\Z",
    re.DOTALL,
)
_DASHED = re.compile(r"^- ", re.MULTILINE)
_SIGNATURE = "-- "


def add_plain(text: str, builder: BlockBuilder, span: SourceSpan, *, flowed: bool = False) -> None:
    """Add the paragraphs of a plain body; lines quoted with `>` become quotations, without the marks.

    Args:
        text: the body.
        builder: takes the blocks.
        span: their place.
        flowed: a line that ends in a space goes on in the next (RFC 3676).
    """
    signed = _SIGNED.match(text.replace("\r\n", "\n"))
    text = _DASHED.sub("", signed[1]) if signed else text
    kept: list[str] = []
    quoted = False

    def flush() -> None:
        joined = _joined(kept, flowed=flowed)
        kept.clear()
        if joined.strip():
            (builder.quote if quoted else builder.paragraph)(joined, span)

    for line in text.splitlines():
        mark = _QUOTED.match(line)
        words = line[mark.end() :] if mark else line
        is_quoted = mark is not None
        if is_quoted != quoted or not words.strip() or line == _SIGNATURE:
            flush()
            quoted = is_quoted
        if words.strip() and line != _SIGNATURE:
            kept.append(words)
    flush()


def _joined(lines: list[str], *, flowed: bool) -> str:
    if not flowed:
        return "\n".join(line.rstrip() for line in lines)
    text = ""
    for line in lines:
        text += line if line.endswith(" ") else f"{line}\n"
    return text
