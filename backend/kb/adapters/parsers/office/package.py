"""Office Open XML packages (ECMA-376 part 2): parts, how they refer to each other, and what is said about the whole."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from urllib.parse import unquote

from kb.adapters.parsers.office.media import Members, left_out_warnings
from kb.adapters.parsers.shared.archive import Zip, open_zip
from kb.adapters.parsers.shared.xml import Element, local, parsed, words_of
from kb.domain.documents import ParseWarning
from kb.domain.errors import Unreadable
from kb.domain.ids import Json
from kb.domain.limits import ReadingLimits

COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of Microsoft's older container, in which packages with a password come too."""

_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_LISTED = re.compile(r"[,;、，]")
# What programs write when nobody gave a title.
_NO_TITLES = {
    "powerpoint presentation",
    "word document",
    "presentation",
    "untitled",
    "document1",
    "powerpoint-präsentation",
}
_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "created": "created",
    "modified": "updated",
    "language": "lang",
    "subject": "subject",
    "category": "category",
    "description": "description",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """One part's pointer to another, or to something outside.

    Attributes:
        kind: last word of the type, such as `image`; the same in the strict and the transitional form.
        target: name of the part; an address when `is_external`.
    """

    kind: str
    target: str
    is_external: bool


class OfficePackage:
    """The parts of a package, found in any letter case, as the standard has it."""

    def __init__(self, container: Zip) -> None:
        self._zip = container
        self._names = {name.lower(): name for name in container.names}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all parts."""
        return self._zip.names

    def bytes_of(self, part: str) -> bytes | None:
        """Return a part's bytes, None when the package lacks it."""
        name = self._names.get(part.lower())
        return None if name is None else self._zip.read(name)

    def root(self, part: str) -> Element:
        """Return a part's root element, None when the package lacks it."""
        data = self.bytes_of(part)
        return None if data is None else parsed(data)

    def relations(self, part: str) -> dict[str, Relation]:
        """Return what a part refers to, by the ids it uses; the package's own for the part ``."""
        folder, _, name = part.rpartition("/")
        root = self.root(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: dict[str, Relation] = {}
        for element in root if root is not None else ():
            kind = (element.get("Type") or "").rpartition("/")[2]
            target = element.get("Target") or ""
            outside = element.get("TargetMode") == "External"
            if not outside:
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
            found[element.get("Id") or ""] = Relation(kind, target, outside)
        return found

    def main_part(self, folder: str) -> str:
        """Return the name of the part the document begins with; `folder` is where its kind usually keeps it.

        Raises:
            Unreadable: `wrong_type`, the package is of another kind.
        """
        for relation in self.relations("").values():
            if relation.kind == "officeDocument" and relation.target.lower() in self._names:
                if not relation.target.lower().startswith(folder):
                    break
                return relation.target
        raise Unreadable(
            "the package is not what its name says",
            hint="give it the suffix of the program it was made with",
            reason="wrong_type",
        )

    def front_matter(self) -> dict[str, Json]:
        """Return title, author, dates, language, subject and tags, as the package states them."""
        part = next((r.target for r in self.relations("").values() if r.kind == "core-properties"), "docProps/core.xml")
        root = self.root(part)
        found: dict[str, Json] = {}
        for element in root if root is not None else ():
            value = " ".join(words_of(element).split())
            name = local(element)
            if name == "keywords" and value:
                found["tags"] = [word.strip() for word in _LISTED.split(value) if word.strip()]
            elif name in _PROPERTIES and value and not (name == "title" and value.lower() in _NO_TITLES):
                found[_PROPERTIES[name]] = value
        return found


def open_package(data: bytes, limits: ReadingLimits) -> OfficePackage:
    """Open a package; nothing in it is run or fetched.

    Raises:
        Unreadable: `locked`, `wrong_type`, or as `open_zip`.
    """
    if data.startswith(COMPOUND):
        raise locked_or_old(data)
    return OfficePackage(open_zip(data, limits, distinct=True))


def locked_or_old(data: bytes) -> Unreadable:
    """Return the error for a file in the older container: a package with a password, or an older format."""
    if _ENCRYPTED in data:
        return Unreadable(
            "it is locked with a password", hint="save it without a password and add it again", reason="locked"
        )
    return Unreadable(
        "it is of a format from before 2007", hint="save it in the newer format of its program", reason="wrong_type"
    )


def warnings_of(package: OfficePackage, members: Members) -> tuple[ParseWarning, ...]:
    """Return what was passed over, in words."""
    found = left_out_warnings(members)
    if any(name.lower().endswith("vbaproject.bin") for name in package.names):
        found += (ParseWarning("extract_failed", "the macros in it were not read"),)
    return found
