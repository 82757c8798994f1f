"""What a page says about itself: title, author, dates, language; from meta elements and JSON-LD."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from kb.adapters.parsers.shared.building import clean
from kb.domain.ids import Json

_NAMES: Mapping[str, str] = {
    "og:title": "title",
    "dc.title": "title",
    "author": "author",
    "dc.creator": "author",
    "article:author": "author",
    "description": "description",
    "og:description": "description",
    "dc.description": "description",
    "keywords": "keywords",
    "article:published_time": "created",
    "datepublished": "created",
    "date": "created",
    "dc.date": "created",
    "dcterms.created": "created",
    "article:modified_time": "modified",
    "datemodified": "modified",
    "dcterms.modified": "modified",
    "last-modified": "modified",
    "og:site_name": "site",
    "og:url": "url",
    "content-language": "lang",
    "dc.language": "lang",
}
_LINKED: Mapping[str, str] = {
    "headline": "title",
    "datePublished": "created",
    "dateCreated": "created",
    "dateModified": "modified",
    "description": "description",
    "inLanguage": "lang",
}
_LONGEST = 2000
_LONGEST_LINKED = 1_000_000
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*\Z")
_WEB_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


class Head:
    """Collects what a page says about itself; the first word on each matter counts, its own elements before all."""

    def __init__(self) -> None:
        self._own: dict[str, str] = {}
        self._said: dict[str, str] = {}

    def title(self, text: str) -> None:
        """Take the title element."""
        self._set(self._own, "title", text)

    def language(self, code: str) -> None:
        """Take the language of the root element."""
        if _LANGUAGE.match(code.strip()):
            self._set(self._own, "lang", code)

    def meta(self, attributes: Mapping[str, str]) -> None:
        """Take a meta element."""
        name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""
        name = name or attributes.get("http-equiv") or ""
        key = _NAMES.get(name.strip().lower())
        if key is not None:
            self._say(key, attributes.get("content") or "")

    def linked_data(self, text: str) -> None:
        """Take a JSON-LD script; broken ones say nothing."""
        if len(text) > _LONGEST_LINKED:
            return
        try:
            value: Json = json.loads(text)
        except (ValueError, RecursionError):
            return
        for thing in _things(value):
            for name, key in _LINKED.items():
                said = thing.get(name)
                if isinstance(said, str):
                    self._say(key, said)
            for author in _things(thing.get("author")):
                called = author.get("name")
                if isinstance(called, str):
                    self._say("author", called)

    def front_matter(self) -> dict[str, Json]:
        """Return the facts by the keys of front matter."""
        return {**self._said, **self._own}

    def _say(self, key: str, value: str) -> None:
        if key in {"created", "modified"}:
            value = iso_date(value) or ""
        if key == "lang" and not _LANGUAGE.match(value.strip()):
            return
        # Open Graph's article:author is often the address of a profile, which names nobody.
        if key == "author" and _WEB_ADDRESS.match(value.strip()):
            return
        self._set(self._said, key, value)

    @staticmethod
    def _set(facts: dict[str, str], key: str, value: str) -> None:
        words = " ".join(clean(value).split())[:_LONGEST]
        if words:
            facts.setdefault(key, words)


def iso_date(value: str) -> str | None:
    """Return a date as ISO 8601, from ISO 8601 or RFC 5322; None when it is neither."""
    text = " ".join(value.split())
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        # The parser of the standard library fails in several ways on odd dates.
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    if moment.year < 2:  # noqa: PLR2004 - a day of zone shift must stay in range
        return None
    return moment.isoformat()


def _things(value: Json) -> Iterator[Mapping[str, Json]]:
    waiting = [value]
    for _ in range(200):
        if not waiting:
            return
        one = waiting.pop(0)
        if isinstance(one, list | tuple):
            waiting += one[:50]
        elif isinstance(one, Mapping):
            yield one
            waiting.append(one.get("@graph"))
