"""Rich text (RTF): paragraphs, headings by style or outline level, tables, notes, and pictures."""

from __future__ import annotations

import re

from kb.adapters.parsers.office.media import Members, left_out_warnings
from kb.adapters.parsers.office.places import Count, is_named, ledger
from kb.adapters.parsers.office.rtf_text import Piece, pieces
from kb.adapters.parsers.shared.building import BlockBuilder
from kb.domain.documents import ParsedDocument
from kb.domain.ids import Json
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "rtf-v1"
_HEADING = re.compile(r"heading\s*(\d)", re.IGNORECASE)
_NOTES = frozenset(("footnote", "annotation"))
_MARGINS = frozenset(("header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"))
_INFO = {"title": "title", "author": "author", "subject": "subject"}
_TIMES = ("yr", "mo", "dy", "hr", "min")
_TOLD = 20_000
_BODY_LEVEL = 9


class RtfParser:
    """Reads RTF with a reader of its own: libraries for it keep neither headings, tables nor notes."""

    media_types = frozenset({MediaType.RTF})
    version = VERSION

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return blocks by section; pictures as members.

        Raises:
            Unreadable: as `FormatParser.read`.
        """
        reader = _Reader(Count(limits))
        for number, piece in enumerate(pieces(source.data)):
            if number % _TOLD == 0:
                tell(reader.section, 0, "section")
            reader.take(piece)
        blocks = reader.finish()
        return ParsedDocument(
            blocks=tuple(blocks.blocks),
            front_matter=reader.properties,
            warnings=left_out_warnings(reader.members),
            coverage=ledger("section", reader.section, blocks.blocks),
            members=reader.members.all(),
        )


class _Reader:
    """Puts text and control words together to blocks."""

    def __init__(self, count: Count) -> None:
        self.section = 1
        self.properties: dict[str, Json] = {}
        self.members = Members()
        self._count = count
        self._builder = BlockBuilder()
        self._headings = 0
        self._text: list[str] = []
        self._held: dict[str, list[str]] = {}
        self._margins: dict[str, None] = {}
        self._after: list[tuple[str, str]] = []
        self._author = ""
        self._styles: dict[int, int] = {}
        self._style = -1
        self._style_level = 0
        self._style_name: list[str] = []
        self._level = 0
        self._in_list = False
        self._items: list[str] = []
        self._in_table = False
        self._row: list[str] = []
        self._rows: list[list[str]] = []
        self._time: dict[str, int] = {}
        self._picture: tuple[int, str, list[str]] | None = None

    @property
    def _place(self) -> PartSpan:
        return PartSpan("section", self.section)

    def take(self, piece: Piece) -> None:
        """Take the next piece of the file."""
        target = piece.state.destination
        if piece.word == "}":
            self._group_ends(piece)
        elif piece.word:
            self._word(piece.word, piece.number, target, piece.depth)
        elif not target:
            if not piece.state.hidden:
                self._text.append(piece.text)
        elif target == "stylesheet":
            self._style_name.append(piece.text)
        elif target == "pict" and self._picture:
            self._picture[2].append(piece.text)
        elif target != "-":
            self._held.setdefault(target, []).append(piece.text)

    def finish(self) -> BlockBuilder:
        """Return all blocks, headers and footers at the end under no heading."""
        self._paragraph()
        self._end_list()
        self._end_table()
        last = BlockBuilder()
        for text in self._margins:
            last.paragraph(text, self._place)
        self._builder.blocks += last.blocks
        return self._builder

    def _word(self, word: str, number: int | None, target: str, depth: int) -> None:
        if target == "stylesheet":
            self._define_style(word, number)
        elif target in {"creatim", "revtim"} and word in _TIMES:
            self._time[word] = number or 0
        elif target == "pict":
            if word in {"pngblip", "jpegblip"} or self._picture is None:
                self._picture = (depth, word, [])
        elif target in _NOTES or target in _MARGINS:
            if word in {"par", "line", "cell", "row"}:
                self._held.setdefault(target, []).append("\n" if word == "par" else " ")
        elif not target:
            self._layout(word, number)

    def _layout(self, word: str, number: int | None) -> None:
        if word in {"par", "sect", "page"}:
            if self._in_table:
                self._text.append("\n")
            else:
                self._paragraph()
        elif word in {"cell", "nestcell"}:
            self._in_table = True
            self._row.append(" ".join("".join(self._text).split()))
            self._text.clear()
        elif word in {"row", "nestrow"}:
            self._end_row()
        elif word == "pard":
            self._style, self._level, self._in_list, self._in_table = -1, 0, False, False
        elif word == "intbl":
            self._in_table = True
        elif word == "s":
            self._style = number if number is not None else -1
        elif word == "outlinelevel":
            self._level = (number or 0) + 1
        elif word in {"ls", "pnlvlbody", "pnlvlblt"}:
            self._in_list = True

    def _paragraph(self) -> None:
        text = "".join(self._text).strip()
        self._text.clear()
        if not self._row:
            self._end_table()
        self._count.add(0, len(text))
        level = self._level or self._styles.get(self._style, 0)
        if text and self._in_list and not level:
            self._items.append(text)
        elif text:
            self._end_list()
            if 0 < level <= _BODY_LEVEL:
                self._headings += 1
                self.section = self._headings
                self._builder.heading(level, text, self._place)
            else:
                self._builder.paragraph(text, self._place)
        if self._after:
            self._end_list()
        self._hanging()

    def _hanging(self) -> None:
        for kind, text in self._after:
            if kind == "annotation":
                self._builder.quote(text, self._place)
            else:
                self._builder.paragraph(text, self._place)
        self._after.clear()

    def _end_list(self) -> None:
        if self._items:
            self._builder.listing(self._items, self._place)
        self._items = []

    def _end_row(self) -> None:
        if not self._rows:
            self._end_list()
        if any(self._row):
            self._rows.append(self._row)
            self._count.add(len(self._row), sum(map(len, self._row)))
        self._row = []
        self._in_table = False
        self._text.clear()

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self._builder.table(rows[0], rows[1:], self._place, named=is_named(rows[0], rows[1:]))

    def _define_style(self, word: str, number: int | None) -> None:
        if word == "s":
            self._style = number if number is not None else -1
        elif word == "outlinelevel":
            self._style_level = (number or 0) + 1

    def _group_ends(self, piece: Piece) -> None:
        target = piece.state.destination
        if target == "stylesheet":
            self._keep_style()
        elif target in {"creatim", "revtim"} and self._time:
            self._keep_time(target)
        elif target == "pict":
            self._keep_picture(piece.depth)
        elif target not in {"", "-", piece.text}:
            self._keep_held(target)

    def _keep_style(self) -> None:
        name = "".join(self._style_name).strip(" ;\n")
        found = _HEADING.match(name)
        level = self._style_level or (int(found[1]) if found else 1 if name.lower() == "title" else 0)
        if level:
            self._styles[self._style] = level
        self._style_name, self._style, self._style_level = [], -1, 0

    def _keep_time(self, target: str) -> None:
        year, month, day, hour, minute = (self._time.get(name, 0) for name in _TIMES)
        if year and month and day:
            name = "created" if target == "creatim" else "updated"
            self.properties[name] = f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00"
        self._time = {}

    def _keep_picture(self, depth: int) -> None:
        picture = self._picture
        if picture is None or picture[0] != depth:
            return
        self._picture = None
        suffix = {"pngblip": "png", "jpegblip": "jpg"}.get(picture[1])
        if suffix is None:
            self.members.left_out += 1
            return
        try:
            data = bytes.fromhex("".join(picture[2]))
        except ValueError:
            return
        self.members.picture(f"picture{len(self.members.all()) + 1}.{suffix}", data)

    def _keep_held(self, target: str) -> None:
        text = "".join(self._held.pop(target, ())).strip()
        if not text:
            return
        if target in _INFO:
            self.properties[_INFO[target]] = " ".join(text.split())
        elif target == "keywords":
            self.properties["tags"] = [word.strip() for word in re.split(r"[,;]", text) if word.strip()]
        elif target == "atnauthor":
            self._author = text
        elif target in _NOTES:
            said = f"{self._author}: {text}" if target == "annotation" and self._author else text
            self._after.append((target, said))
            self._author = ""
        elif target in _MARGINS and any(letter.isalpha() for letter in text):
            self._margins.setdefault(text)
