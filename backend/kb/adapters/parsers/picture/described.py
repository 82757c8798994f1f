"""What a picture's file says about it: title, description, author, date, keywords, from EXIF, XMP and PNG texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kb.adapters.parsers.picture.opening import BROKEN, Image
from kb.adapters.parsers.shared.building import clean
from kb.domain.ids import Json

_EXIF = 0x8769
_DESCRIPTION, _ARTIST, _TAKEN, _ZONE, _CHANGED = 0x010E, 0x013B, 0x9003, 0x9011, 0x0132
_TITLE_OF_WINDOWS, _KEYWORDS_OF_WINDOWS = 0x9C9B, 0x9C9E
_MOMENT = re.compile(r"(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d:\d\d:\d\d)")
_OFFSET = re.compile(r"[+-]\d\d:\d\d\Z")
# What cameras write when nobody wrote anything
_NOTHING = re.compile(
    r"(?i)\W*(olympus digital camera|sony dsc|minolta digital camera|default|untitled|image|screenshot)?\W*\Z"
)
_LONGEST = 2_000


def described(image: Image) -> dict[str, Json]:
    """Return front matter: title, description, author, created (ISO 8601), tags; only what is there."""
    exif = _exif(image)
    xmp = dict(_flat(_xmp(image)))
    texts = {key.lower(): value for key, value in image.info.items() if isinstance(key, str) and isinstance(value, str)}
    found: dict[str, Json] = {
        "title": _first(xmp.get("title"), exif.get(_TITLE_OF_WINDOWS), texts.get("title")),
        "description": _first(xmp.get("description"), exif.get(_DESCRIPTION), texts.get("description")),
        "author": _first(xmp.get("creator"), exif.get(_ARTIST), texts.get("author")),
        "created": _moment(exif) or _date(xmp.get("CreateDate") or xmp.get("DateCreated") or ""),
        "tags": [*_tags(xmp.get("subject") or exif.get(_KEYWORDS_OF_WINDOWS) or "")],
    }
    return {key: value for key, value in found.items() if value}


def _exif(image: Image) -> dict[int, str]:
    try:
        exif = image.getexif()
        values = {**dict(exif), **dict(exif.get_ifd(_EXIF))}
    except BROKEN:
        return {}
    wide = {_TITLE_OF_WINDOWS, _KEYWORDS_OF_WINDOWS}
    texts: dict[int, str] = {}
    for key, value in values.items():
        if isinstance(value, bytes):
            texts[key] = value.decode("utf-16-le" if key in wide else "utf-8", "replace").rstrip("\0")
        elif isinstance(value, str):
            # Pillow takes the bytes for Latin-1; most programs write UTF-8.
            try:
                texts[key] = value.encode("latin-1").decode("utf-8")
            except UnicodeError:
                texts[key] = value
    return texts


def _xmp(image: Image) -> Mapping[str, Any]:
    try:
        found = image.getxmp()
    except Exception:  # noqa: BLE001 - the packet is a stranger's XML, and the picture is read without it
        return {}
    return found if isinstance(found, Mapping) else {}


def _flat(node: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts of an XMP tree under their nearest telling name; values of a list are joined by commas."""
    match node:
        case str():
            yield name, node
        case list():
            texts = [text for entry in node for _, text in _flat(entry, name)]
            if texts:
                yield name, ", ".join(texts)
        case {"text": str(text)}:
            yield name, text
        case Mapping():
            for key, value in node.items():
                yield from _flat(value, name if key in {"Alt", "Seq", "Bag", "li"} else str(key))


def _first(*values: str | None) -> str:
    words = (" ".join(clean(value or "").split()) for value in values)
    return next((text[:_LONGEST] for text in words if not _NOTHING.fullmatch(text)), "")


def _moment(exif: Mapping[int, str]) -> str:
    zone = exif.get(_ZONE, "").strip()
    moment = _date(exif.get(_TAKEN, "")) or _date(exif.get(_CHANGED, ""))
    return moment + zone if moment and _OFFSET.match(zone) else moment


def _date(text: str) -> str:
    found = _MOMENT.match(text.strip())
    return f"{found[1]}-{found[2]}-{found[3]}T{found[4]}" if found and int(found[1]) else ""


def _tags(text: str) -> Iterator[str]:
    for part in re.split(r"[,;]", clean(text)):
        if part.strip():
            yield part.strip()
