"""What a PDF holds beside printed text: targets of links, values of forms, notes, bookmarks, attachments, its data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from kb.adapters.parsers.pdf.letters import cleaned
from kb.adapters.parsers.pdf.lines import Line, View, piece
from kb.adapters.parsers.pdf.mupdf import Document, Page
from kb.domain.documents import Member
from kb.domain.errors import Unreadable
from kb.domain.ids import Json
from kb.domain.limits import ReadingLimits
from kb.ingest.reading_ports import Tell

_TARGET = re.compile(r"(?:https?|ftp|mailto|tel|doi):", re.IGNORECASE)
_MOST = 2_000
_NOTE_SIZE = 9.0
_HIDDEN = 2 | 32
_PASSWORD_FIELD = 1 << 13
_TEXT_FIELDS = frozenset((3, 4, 7))  # combo box, list box, text
_NOT_NOTES = frozenset((1, 19, 20))  # links, widgets, screens
_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?([Zz]|[+-]\d\d'?\d\d)?")
_NO_TITLE = re.compile(
    r"(?:untitled|title|document\d*|.*\.(?:docx?|pdf|tex|dvi|indd|qxd|pptx?|xlsx?|rtf|ps|eps))\Z", re.IGNORECASE
)
_PROGRAM = re.compile(r"\AMicrosoft (?:Office )?(?:Word|PowerPoint|Excel) - ")


def additions(page: Page, view: View, text: str, shown: set[str]) -> list[Line]:
    """Return link targets, form values and notes that do not stand in the page's text yet, each in its box.

    Args:
        page: of PyMuPDF.
        view: of the page.
        text: what is printed on it.
        shown: link targets of earlier pages; those of this page are added.
    """
    found: list[Line] = []
    if page.first_link is None and page.first_annot is None and page.first_widget is None:
        return found
    printed = "".join(text.split()).casefold()
    for kind, pairs in enumerate((_targets(page, shown), _values(page), _notes(page))):
        for words, box in pairs:
            letters = "".join(cleaned(words).split()).casefold()
            if not letters or letters.removeprefix("mailto:").split("://")[-1].rstrip("/") in printed:
                continue
            line = piece(words, box, view, _NOTE_SIZE)
            if line is not None:
                line.group = kind
                line.glue = "\n" if found and found[-1].group == kind else None
                found.append(line)
                printed += letters
    return found


def front_matter(document: Document) -> dict[str, Json]:
    """Return title, author, subject, tags and created date where the file names them in earnest."""
    given: Mapping[str, str | None] = document.metadata or {}
    values = {key: " ".join(cleaned(value or "").split()) for key, value in given.items()}
    known: dict[str, Json] = {}
    title = _PROGRAM.sub("", values.get("title", ""))
    if len(title) > 2 and not _NO_TITLE.match(title):  # noqa: PLR2004
        known["title"] = title
    for key in ("author", "subject"):
        if values.get(key):
            known[key] = values[key]
    tags = [word.strip() for word in re.split(r"[,;]", values.get("keywords", "")) if word.strip()]
    if tags:
        known["tags"] = list(tags)
    created = _moment(values.get("creationDate", ""))
    if created:
        known["created"] = created
    return known


def outline(document: Document, pages: int) -> dict[int, list[tuple[str, int]]]:
    """Return (title reduced to its letters, level) of the bookmarks by page, from 1; empty where they are broken."""
    found: dict[int, list[tuple[str, int]]] = {}
    with suppress(Exception):
        for level, title, number, *_ in document.get_toc(simple=True)[: 10 * pages + 1000]:
            found.setdefault(number, []).append((bare(title), level))
    return found


def bare(text: str) -> str:
    """Return the letters and digits of a text, for comparing headings."""
    return "".join(letter for letter in cleaned(text).casefold() if letter.isalnum())


def attachments(document: Document, limits: ReadingLimits, tell: Tell) -> list[Member]:
    """Return the files embedded in a PDF.

    Raises:
        Unreadable: `too_many_entries` or `expands_too_much`.
    """
    try:
        names: Sequence[str] = document.embfile_names()
    except Exception:  # noqa: BLE001 - MuPDF raises plain exceptions of its own
        return []
    if len(names) > limits.entries:
        raise Unreadable(f"{len(names)} files are attached, more than {limits.entries}", reason="too_many_entries")
    members: list[Member] = []
    total = 0
    for number, name in enumerate(names, 1):
        try:
            data: bytes = document.embfile_get(name)
        except Exception:  # noqa: BLE001, S112 - a broken attachment costs itself only
            continue
        total += len(data)
        if total > limits.expanded_mb << 20:
            raise Unreadable("the attached files are too large together", reason="expands_too_much")
        members.append(Member(_member_name(document, name, number, members), data))
        tell(number, len(names), "attachment")
    return members


def _member_name(document: Document, name: str, number: int, earlier: Sequence[Member]) -> str:
    given = name
    with suppress(Exception):
        given = document.embfile_info(name).get("filename") or name
    last = re.split(r"[/\\]", cleaned(given))[-1].replace(":", "_").strip(". ") or f"attachment-{number}"
    taken = {member.name for member in earlier}
    return f"{number}-{last}" if last in taken else last


def _targets(page: Page, shown: set[str]) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    link = page.first_link
    for _ in range(_MOST):
        if link is None:
            return
        uri = (link.uri or "").strip() if link.is_external else ""
        if _TARGET.match(uri) and uri not in shown:
            shown.add(uri)
            yield uri, tuple(link.rect)
        link = link.next


def _values(page: Page) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    if page.first_widget is None:
        return
    for number, widget in enumerate(page.widgets()):
        if number >= _MOST:
            return
        value = widget.field_value
        if widget.field_type in _TEXT_FIELDS and not widget.field_flags & _PASSWORD_FIELD and isinstance(value, str):
            yield value, tuple(widget.rect)


def _notes(page: Page) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    if page.first_annot is None:
        return
    for number, note in enumerate(page.annots()):
        if number >= _MOST:
            return
        if note.type[0] not in _NOT_NOTES and not note.flags & _HIDDEN:
            yield note.info.get("content") or "", tuple(note.rect)


def _moment(text: str) -> str:
    match = _DATE.match(text)
    if not match:
        return ""
    year, month, day, hour, minute, second, zone = match.groups()
    moment = f"{year}-{month or '01'}-{day or '01'}"
    if hour:
        moment += f"T{hour}:{minute or '00'}:{second or '00'}"
        if zone:
            moment += "+00:00" if zone in "Zz" else f"{zone[:3]}:{zone.replace(chr(39), '')[3:5]}"
    return moment
