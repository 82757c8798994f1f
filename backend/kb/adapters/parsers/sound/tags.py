"""What the tags of a recording (ID3, MP4, Vorbis comments) say about it, as front matter."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kb.adapters.parsers.shared.building import clean
from kb.domain.ids import Json

_NAMES = {
    "title": ("title",),
    "author": ("artist", "author", "album_artist", "performer", "composer"),
    "album": ("album",),
    "created": ("date", "creation_time", "year"),
}
_LONGEST = 500
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d\Z")
# The zero of MP4 clocks and of Unix: no date was set.
_NO_DATE = ("1904-01-01", "1970-01-01", "0000")


def front_matter_of(tags: Mapping[str, str]) -> dict[str, Json]:
    """Return title, author, album and created (ISO 8601), those that are there."""
    found: dict[str, Json] = {}
    for key, names in _NAMES.items():
        values = (" ".join(clean(tags[name]).split())[:_LONGEST] for name in names if name in tags)
        value = next(filter(None, values), "")
        if key == "created":
            value = _date(value)
        if value:
            found[key] = value
    return found


def _date(value: str) -> str:
    if value.startswith(_NO_DATE):
        return ""
    return f"{value}-01-01" if _YEAR.match(value) else value
