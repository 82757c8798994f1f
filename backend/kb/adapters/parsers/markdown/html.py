"""The visible words of raw HTML inside Markdown. Nothing is rendered."""

from __future__ import annotations

import html
import re

_BREAK = re.compile(r"<(?:br|/p|/div|/li|/tr|/h[1-6]|/td|/th)\b[^<>]*>", re.IGNORECASE)
_IMAGE = re.compile(r"<img\b[^<>]*?\balt\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')[^<>]*>", re.IGNORECASE)
_POWER = re.compile(r"<sup>(?=\w{1,3}</sup>)", re.IGNORECASE)
_TAG = re.compile(r"<[A-Za-z/!?][^<>]*>")
_HIDDEN = (("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>"), ("<![cdata[", "]]>"))


def visible_lines(source: str) -> list[str]:
    """Return the words of each line of `source`, tags, comments, scripts and styles dropped."""
    text = _IMAGE.sub(_alternative, _without_hidden(source))
    text = _POWER.sub("^", text)
    text = _BREAK.sub(lambda m: " " + "\n" * m[0].count("\n"), text)
    text = _TAG.sub(lambda m: "\n" * m[0].count("\n"), text)
    # one entity may stand for a line end, which must not become one
    return [" ".join(html.unescape(line).split()) for line in text.split("\n")]


def _alternative(found: re.Match[str]) -> str:
    """Return a picture's words in as many lines as its tag has, none of them moved up."""
    before = found.string.count("\n", found.start(), max(found.start(1), found.start(2), found.start()))
    words = found[1] or found[2] or ""
    return " " + "\n" * before + words + "\n" * (found[0].count("\n") - before - words.count("\n")) + " "


def _without_hidden(source: str) -> str:
    lower = source.lower()
    if len(lower) != len(source):  # a few letters change length, and positions would not fit
        lower = source
    for opening, closing in _HIDDEN:
        if opening not in lower:
            continue
        kept: list[str] = []
        position = 0
        while (start := lower.find(opening, position)) >= 0:
            end = lower.find(closing, start)
            if end < 0:  # never closed: its words stay, only the tag goes
                break
            end += len(closing)
            kept += [source[position:start], "\n" * source.count("\n", start, end)]
            position = end
        source = "".join((*kept, source[position:]))
        lower = source.lower() if len(source.lower()) == len(source) else source
    return source
