"""Workbooks of Excel (SpreadsheetML, ECMA-376 part 1, 18), sheet by sheet from their XML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.adapters.parsers.office.drawing import chart_table, paragraphs
from kb.adapters.parsers.office.elements import attribute, below, child, first, relation_id, whole
from kb.adapters.parsers.office.formats import CellFormats
from kb.adapters.parsers.office.grid import Row, Sheet, sheet_blocks
from kb.adapters.parsers.office.media import Members, alt_text
from kb.adapters.parsers.office.package import OfficePackage, Relation, open_package, warnings_of
from kb.adapters.parsers.office.places import Count, ledger
from kb.adapters.parsers.shared.building import BlockBuilder
from kb.adapters.parsers.shared.xml import Element, elements, local, words_of
from kb.domain.blocks import BlockKind
from kb.domain.cells import cell_range, corners
from kb.domain.documents import ParsedBlock, ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "xlsx-v1"
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*[\"']([A-Za-z0-9:$]{3,40})[\"']")
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})\Z")
_MOST_MERGED = 20_000


class WorkbookParser:
    """Reads XLSX, XLSM and XLTX, hidden sheets too, each marked; formulas by the value they last had."""

    media_types = frozenset({MediaType.XLSX})
    version = VERSION

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return a table for each region of each sheet; pictures as members.

        Raises:
            Unreadable: as `FormatParser.read`.
        """
        package = open_package(source.data, limits)
        book = _Book(package, limits, tell)
        blocks: list[ParsedBlock] = []
        failed: dict[int, str] = {}
        for number, (name, part, hidden) in enumerate(book.sheets, 1):
            book.tell()
            try:
                if package.bytes_of(part) is None:
                    failed[number] = "damaged"
                else:
                    blocks += book.read(number, name, part, hidden=hidden)
            except Unreadable as error:
                if error.reason != "damaged":
                    raise
                failed[number] = error.reason
            book.done = number
        return ParsedDocument(
            blocks=tuple(blocks),
            front_matter=package.front_matter(),
            warnings=warnings_of(package, book.members),
            coverage=ledger("sheet", len(book.sheets), blocks, failed),
            members=book.members.all(),
        )


class _Book:
    """What the sheets share: texts, formats, limits, pictures."""

    def __init__(self, package: OfficePackage, limits: ReadingLimits, tell: Tell) -> None:
        self._package = package
        self._tell = tell
        self._count = Count(limits)
        self.members = Members()
        self.done = 0
        main = package.main_part("xl/")
        root = package.root(main)
        relations = package.relations(main)
        self.sheets = list(_sheets(root, relations))
        parts = {relation.kind: relation.target for relation in relations.values() if not relation.is_external}
        strings = package.bytes_of(parts.get("sharedStrings", ""))
        self._texts = [_text(item) for item in elements(strings, "si")] if strings else []
        styles = package.root(parts["styles"]) if "styles" in parts else None
        properties = first(root, "workbookPr")
        counts_from_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
        self._formats = CellFormats(styles, counts_from_1904=counts_from_1904)

    def tell(self, _row: int = 0) -> None:
        """Show life."""
        self._tell(self.done, len(self.sheets), "sheet")

    def read(self, number: int, name: str, part: str, *, hidden: bool) -> list[ParsedBlock]:
        """Return the blocks of one sheet, its drawings and charts after its cells."""
        data = self._package.bytes_of(part) or b""
        relations = self._package.relations(part)
        notes = [note for relation in relations.values() for note in self._notes(relation)]
        merged = [found for ref in _MERGED.findall(data)[:_MOST_MERGED] if (found := corners(ref.decode()))]
        sheet = Sheet(number, name, hidden, merged, sorted(notes))
        drawings = [r for r in relations.values() if r.kind in {"drawing", "chart"} and not r.is_external]
        builder = sheet_blocks(sheet, self._rows(data), self._count, self.tell, titled=bool(drawings))
        place = PartSpan("sheet", number, name)
        for relation in drawings:
            if relation.kind == "drawing":
                self._drawing(relation.target, builder, place)
            else:  # a sheet that is one chart
                self._chart(relation, builder, place)
        # A heading over nothing would make a blank sheet look read.
        return builder.blocks if len(builder.blocks) > 1 else []

    def _rows(self, data: bytes) -> Iterator[Row]:
        number = 0
        for row in elements(data, "row"):
            number = max(whole(row.get("r")) or 0, number + 1)
            cells: dict[int, str] = {}
            column = 0
            for cell in row:
                found = _REFERENCE.match(cell.get("r") or "")
                column = _column(found[1]) if found else column + 1
                value = self._value(cell)
                if value:
                    cells[column] = value
            yield number, cells

    def _value(self, cell: Element) -> str:
        kind = cell.get("t") or "n"
        if kind == "inlineStr":
            return _text(cell)
        value = child(cell, "v")
        text = ((value.text if value is not None else None) or "").strip(" \n\r") if kind != "str" else _said(value)
        if not text:
            # A program without a calculator writes formulas alone.
            formula = child(cell, "f")
            return f"={formula.text}" if formula is not None and formula.text and value is None else ""
        if kind == "s":
            index = whole(text)
            return self._texts[index] if index is not None and index < len(self._texts) else ""
        if kind == "b":
            return "TRUE" if text == "1" else "FALSE"
        if kind in {"str", "d"}:
            return text
        return "" if kind == "e" else self._formats.shown(text, cell.get("s"))

    def _notes(self, relation: Relation) -> Iterator[tuple[int, int, str]]:
        if relation.is_external or relation.kind not in {"comments", "threadedComment"}:
            return
        root = self._package.root(relation.target)
        for note in below(root, "comment", "threadedComment") if root is not None else ():
            place = corners(note.get("ref") or "")
            text = child(note, "text")
            words = words_of(text) if text is not None else ""
            if place and words.strip() and not words.startswith("[Threaded comment]"):
                yield place[0], place[1], words

    def _drawing(self, part: str, builder: BlockBuilder, place: PartSpan) -> None:
        root = self._package.root(part)
        relations = self._package.relations(part)
        for anchor in root if root is not None else ():
            where = _anchored(anchor, place)
            for shape in below(anchor, "sp", "pic", "chart"):
                if local(shape) == "chart":
                    self._chart(relations.get(relation_id(shape)), builder, where)
                elif local(shape) == "sp":
                    builder.paragraph("\n".join(paragraphs(shape)), where)
                else:
                    self._picture(shape, relations, builder, where)

    def _picture(self, shape: Element, relations: dict[str, Relation], builder: BlockBuilder, place: PartSpan) -> None:
        blip = first(shape, "blip")
        relation = relations.get(relation_id(blip, "embed") if blip is not None else "")
        name = ""
        if relation is not None and not relation.is_external:
            taken = self.members.picture(relation.target, self._package.bytes_of(relation.target))
            name = relation.target.rpartition("/")[2] if taken else ""
        alt = alt_text(first(shape, "cNvPr"))
        if name or alt:
            builder.reference(BlockKind.IMAGE_REF, name, alt, place)

    def _chart(self, relation: Relation | None, builder: BlockBuilder, place: PartSpan) -> None:
        root = self._package.root(relation.target) if relation is not None and not relation.is_external else None
        if root is not None and local(root) == "chartSpace":
            title, headers, rows = chart_table(root)
            builder.paragraph(title, place)
            builder.table(headers, rows, place)


def _sheets(root: Element, relations: dict[str, Relation]) -> Iterator[tuple[str, str, bool]]:
    for sheet in below(root, "sheet"):
        relation = relations.get(relation_id(sheet))
        part = relation.target if relation is not None and not relation.is_external else ""
        yield sheet.get("name") or "", part, (attribute(sheet, "state") or "visible") != "visible"


def _anchored(anchor: Element, sheet: PartSpan) -> PartSpan:
    """Return the cell a drawing is fixed to, the whole sheet when it is fixed to none."""
    start = child(anchor, "from")
    numbers = [child(start, name) for name in ("row", "col")] if start is not None else []
    row, column = (whole(_said(number)) for number in numbers) if numbers else (None, None)
    if row is None or column is None:
        return sheet
    place = (row + 1, column + 1)
    return PartSpan("sheet", sheet.number, sheet.name, cell_range(*place, *place))


def _text(item: Element) -> str:
    """Return the text of a shared or inline string, readings of its letters (phonetic runs) left out."""
    return "".join(node.text or "" for node in item.iter() if local(node) == "t" and local(node.getparent()) != "rPh")


def _said(value: Element) -> str:
    return (value.text or "") if value is not None else ""


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
