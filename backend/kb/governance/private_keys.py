"""Private keys written out as text.

Formats: RFC 7468 (PEM, of which PKCS#1, PKCS#8, SEC 1 and OpenSSH keys are cases), RFC 4880 section 6.2 (PGP armour),
RFC 4716 (SSH2), PuTTY's .ppk (versions 2 and 3, appendix C of its manual). The key is all from the first line to the
last, through whatever a mail, a page or a table put between its lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from kb.governance.found import Found

_KIND = "private_key"
_BEGIN = re.compile(r"[-\u2010-\u2015]{2,8} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?[-\u2010-\u2015]{2,8}")
_END = re.compile(r"[-\u2010-\u2015]{2,8} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?[-\u2010-\u2015]{2,8}")
_LONGEST = 200_000
# Key material without its last line: lines of base64, a header such as `Proc-Type: 4,ENCRYPTED` among them.
_BODY = re.compile(r"(?:(?:\\n|\\r|[\s>|\"'])*(?:[A-Za-z0-9-]{1,20}: [^\n]{0,120}\n|[A-Za-z0-9+/=]{16,}+))+")
_LETTER = re.compile(r"[A-Za-z0-9+/=]")
_LEAST_BODY = 32
_PUTTY = re.compile(r"Private-Lines: {0,4}[0-9]{1,5}\s")
_PUTTY_BODY = re.compile(
    r"Private-Lines: {0,4}[0-9]{1,5}(?:[\s>|]*[A-Za-z0-9+/=]{20,}+)+(?:[\s>|]*(?!Private-MAC)[A-Za-z0-9+/=]{1,20}+)?"
)
_PUTTY_END = re.compile(r"[\s>|]{0,8}(?:[A-Za-z0-9+/=]{1,64}\s+)?Private-MAC: {0,4}[0-9a-f]{40,64}")


def find_private_keys(text: str) -> Iterator[Found]:
    """Yield the private keys of a text; a header that no key follows is words about keys and stays."""
    if "PRIVATE KEY" in text:
        yield from _armoured(text)
    if "Private-Lines:" in text:
        yield from _putty(text)


def _armoured(text: str) -> Iterator[Found]:
    endings = [match.span() for match in _END.finditer(text)]
    first_chars = [start for start, _ in endings]
    beginnings = list(_BEGIN.finditer(text))
    for number, begin in enumerate(beginnings):
        following = beginnings[number + 1].start() if number + 1 < len(beginnings) else len(text)
        at = bisect_left(first_chars, begin.end())
        if at < len(endings) and first_chars[at] <= min(following, begin.end() + _LONGEST):
            body, end = text[begin.end() : first_chars[at]], endings[at][1]
        else:
            tail = _BODY.match(text, begin.end(), min(following, begin.end() + _LONGEST))
            if not tail:
                continue
            body, end = tail[0], tail.end()
        letters = "".join(_LETTER.findall(body))
        if len(letters) >= _LEAST_BODY:
            yield Found(begin.start(), end, _KIND, letters)


def _putty(text: str) -> Iterator[Found]:
    for begin in _PUTTY.finditer(text):
        body = _PUTTY_BODY.match(text, begin.start())
        if body:
            mac = _PUTTY_END.match(text, body.end())
            end = mac.end() if mac else body.end()
            yield Found(begin.start(), end, _KIND, "".join(body[0].split()))
