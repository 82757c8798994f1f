"""Credentials whose place in an address, header or command tells what they are.

Sources: RFC 3986 section 3.2.1 (user information), RFC 7617 and 6750 (`Basic`, `Bearer`), libpq connection URIs,
Oracle's thin JDBC driver, curl(1) `-u`. Only the secret goes: server, database and user stay findable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kb.governance.found import Found
from kb.governance.plausible import is_placeholder
from kb.governance.wrapping import always, extent

# A page may break an address once, within the password.
_URL = re.compile(
    r"://[^\s/:@\"'<>|]{0,100}:([^\s/\"'<>|]{1,200}(?:(?:/|\s{1,2})[^\s/\"'<>|@]{0,60}){0,2})\s?@(?=[\w\[.\-])"
)
_PORT = re.compile(r"[0-9]{1,5}(?:[/\s]|\Z)")
_ORACLE = re.compile(r":thin:[^\s/@:]{1,60}/([^\s/@]{1,100})@")
_BEARER = re.compile(r"(?:[Bb]earer|BEARER|[Tt]oken|TOKEN)[ \t]{1,4}(?:\\?[\"'])?(?=[A-Za-z0-9])")
_BASIC = re.compile(r"[Bb]asic[ \t]{1,4}([A-Za-z0-9+/]{8,}={0,2})(?![A-Za-z0-9+/])")
_HEADER_BODY = re.compile(r"[A-Za-z0-9._~+/\-]{1,4000}+={0,2}")
_LEAST_BEARER = 16
_CURL_USER = re.compile(r"(?:-u|--user|--proxy-user)[ =]{1,3}[\"']?[^\s:\"']{1,60}:([^\s\"']{1,100})")
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[A-Za-z]")
_NAMES_ONLY = re.compile(r"\A[a-z]+(?:[-_.][a-z]+)*\Z", re.IGNORECASE)
_LINE = 300


def find_credentials(text: str, lower: str, joins: Callable[[int], bool] = always) -> Iterator[Found]:
    """Yield passwords of addresses, values of authorization headers, and passwords given to curl.

    `lower` is the text in lower case, as long as the text; `joins` as in `extent`.
    """
    if "://" in text:
        yield from _in_addresses(text)
    if ":thin:" in text:
        yield from (_group(match, "connection_string") for match in _ORACLE.finditer(text))
    if "bearer" in lower or "authorization" in lower:
        yield from _bearers(text, joins)
    if "authorization" in lower:
        yield from _basics(text, lower)
    if "curl" in lower:
        yield from _curls(text, lower)


def _group(match: re.Match[str], kind: str) -> Found:
    return Found(match.start(1), match.end(1), kind, "".join(match[1].split()))


def _in_addresses(text: str) -> Iterator[Found]:
    at = text.find("://")
    while at >= 0:
        match = _URL.match(text, at)
        # A scheme of the web is an address with a login, any other the connection of a database or broker.
        scheme = text[max(0, at - 6) : at].lower()
        if match and not is_placeholder(match[1]) and not _PORT.match(match[1]):
            yield _group(match, "url_password" if scheme.endswith(("http", "https", "ftp")) else "connection_string")
        at = text.find("://", match.end() if match else at + 3)


def _bearers(text: str, joins: Callable[[int], bool]) -> Iterator[Found]:
    for match in _BEARER.finditer(text):
        start = match.end()
        end = extent(text, start, _HEADER_BODY, (_LEAST_BEARER, _LEAST_BEARER + 1), joins=joins)
        value = "".join(text[start:end].split()).rstrip(".")
        if len(value) < _LEAST_BEARER or is_placeholder(value) or _NAMES_ONLY.match(value):
            continue
        named = match[0][0] in "bB" or "uthorization" in text[max(0, match.start() - 30) : match.start()]
        if named and _DIGIT.search(value) and _LETTER.search(value):
            yield Found(start, end - (text[end - 1] == "."), "bearer_token", value)


def _basics(text: str, lower: str) -> Iterator[Found]:
    at = lower.find("authorization")
    while at >= 0:
        match = _BASIC.search(text, at, at + _LINE)
        if match and not is_placeholder(match[1]) and not _NAMES_ONLY.match(match[1]):
            yield _group(match, "basic_auth")
        at = lower.find("authorization", at + 13)


def _curls(text: str, lower: str) -> Iterator[Found]:
    at = lower.find("curl")
    while at >= 0:
        line = text.find("\n", at, at + _LINE)
        end = line if line >= 0 else at + _LINE
        for match in _CURL_USER.finditer(text, at, end):
            if not is_placeholder(match[1]):
                yield _group(match, "password")
        at = lower.find("curl", end)
