"""Globs over workspace paths: one meaning for every filter."""

from __future__ import annotations

import re
import unicodedata

_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]/]*\]|.", re.DOTALL)
_FIXED = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def glob_pattern(glob: str) -> re.Pattern[str]:
    r"""Return the expression whose `match` says whether a whole path meets `glob`.

    `**` crosses folders, `*` and `?` do not, `[abc]`, `[a-z]` and `[!abc]` are classes that never
    hold `/`. Letters are compared as stored (NFC, case counts); `\` is a letter.
    """
    normal = unicodedata.normalize("NFC", glob)
    return re.compile("".join(map(_translate, _TOKEN.findall(normal))) + r"\Z", re.DOTALL)


def _translate(token: str) -> str:
    if token in _FIXED:
        return _FIXED[token]
    if token.startswith("[") and len(token) > 1:
        inside = token[1:-1]
        negated = inside[:1] in {"!", "^"}
        body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negated else inside)
        try:
            re.compile(f"[{body}]")
        except re.error:
            return re.escape(token)
        return f"(?!/)[{'^' if negated else ''}{body}]"
    return re.escape(token)
