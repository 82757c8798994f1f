"""Text documents of Word (WordprocessingML, ECMA-376 part 1, 17)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kb.adapters.parsers.office.docx_styles import Styles
from kb.adapters.parsers.office.docx_words import Words, words_in
from kb.adapters.parsers.office.drawing import chart_table, diagram
from kb.adapters.parsers.office.elements import attribute, below, child, whole
from kb.adapters.parsers.office.media import Members
from kb.adapters.parsers.office.package import OfficePackage, Relation, open_package, warnings_of
from kb.adapters.parsers.office.places import Count, is_named, ledger
from kb.adapters.parsers.shared.building import BlockBuilder
from kb.adapters.parsers.shared.xml import Element, local
from kb.domain.blocks import BlockKind, Prose
from kb.domain.documents import ParsedBlock, ParsedDocument
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "docx-v1"
_MOST_COLUMNS = 500
_TOLD = 500


class DocxParser:
    """Reads DOCX, DOCM and DOTX from their XML: text as with all changes accepted; macros are not even opened."""

    media_types = frozenset({MediaType.DOCX})
    version = VERSION

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return blocks by section; pictures and embedded files as members.

        Raises:
            Unreadable: as `FormatParser.read`.
        """
        package = open_package(source.data, limits)
        main = package.main_part("word/")
        reader = _Reader(package, main, limits, tell)
        reader.body()
        blocks = [*reader.builder.blocks, *reader.margins()]
        return ParsedDocument(
            blocks=tuple(blocks),
            front_matter=package.front_matter(),
            warnings=warnings_of(package, reader.members),
            coverage=ledger("section", reader.section, blocks),
            members=reader.members.all(),
        )


class _Reader:
    """Goes through the body once, in order."""

    def __init__(self, package: OfficePackage, main: str, limits: ReadingLimits, tell: Tell) -> None:
        self.package = package
        self.main = main
        self.builder = BlockBuilder()
        self.members = Members()
        self.section = 1
        self._headings = 0
        self._relations = package.relations(main)
        self._count = Count(limits)
        self._tell = tell
        parts = {relation.kind: relation.target for relation in self._relations.values() if not relation.is_external}
        self._parts = parts
        self._styles = Styles(self._root("styles"), self._root("numbering"))
        self._notes = {kind: _by_id(self._root(f"{kind}s"), kind) for kind in ("footnote", "endnote", "comment")}
        self._seen_items: set[str] = set()
        self._items: list[str] = []
        self._ordered = False
        self._list = ""

    def _root(self, kind: str) -> Element:
        part = self._parts.get(kind)
        return None if part is None else self.package.root(part)

    @property
    def place(self) -> PartSpan:
        """Return the place of what comes next."""
        return PartSpan("section", self.section)

    def body(self) -> None:
        """Read the whole document."""
        self._tell(0, 0, "section")
        root = self.package.root(self.main)
        body = child(root, "body")
        self._blocks(body if body is not None else (), self._relations)
        self._end_list()

    def margins(self) -> list[ParsedBlock]:
        """Return headers and footers, each text once, as blocks under no heading, at the end."""
        builder = BlockBuilder()
        seen: set[str] = set()
        for relation in self._relations.values():
            if relation.kind not in {"header", "footer"} or relation.is_external:
                continue
            root = self.package.root(relation.target)
            relations = self.package.relations(relation.target)
            for paragraph in below(root, "p") if root is not None else ():
                text = " ".join(words_in(paragraph, relations).text.split())
                if text not in seen and any(letter.isalpha() for letter in text):
                    seen.add(text)
                    builder.paragraph(text, self.place)
        return builder.blocks

    def _blocks(self, elements: Iterable[Element], relations: Mapping[str, Relation]) -> None:
        for number, element in enumerate(elements):
            name = local(element)
            if number % _TOLD == 0:
                self._tell(self.section, 0, "section")
            if name == "p":
                self._paragraph(element, relations)
            elif name == "tbl":
                self._end_list()
                self._table(element, relations)
            elif name in {"del", "moveFrom", "sectPr", "sdtPr", "sdtEndPr"}:
                continue
            elif name == "AlternateContent":
                choice = child(element, "Choice")
                self._blocks(choice if choice is not None else element, relations)
            elif name == "oMathPara":
                self._paragraph(element, relations)
            elif len(element):
                self._blocks(element, relations)

    def _paragraph(self, element: Element, relations: Mapping[str, Relation]) -> None:
        words = words_in(element, relations)
        text = words.text
        self._count.add(0, len(text))
        level = self._styles.heading_level(element)
        item = self._styles.list_item(element) if level is None and text else None
        if item is None:
            self._end_list() if text else None
        if level is not None and text:
            self._headings += 1
            self.section = self._headings
            self.builder.heading(level, text, self.place)
        elif item is not None:
            self._list_item(item, text)
        elif text:
            self.builder.paragraph(text, self.place)
            self._keep_links(words)
        self._hanging(words, relations)

    def _keep_links(self, words: Words) -> None:
        if words.inlines:
            block = self.builder.blocks[-1]
            self.builder.blocks[-1] = replace(block, payload=Prose(tuple(words.inlines)))

    def _list_item(self, item: tuple[str, int], text: str) -> None:
        if item[0] != self._list:
            self._end_list()
            # A list that goes on after something else would begin at 1 again: no number is better than a wrong one.
            self._ordered = not self._styles.is_bullet(item) and item[0] not in self._seen_items
            self._list = item[0]
        self._ordered = self._ordered and item[1] == 0
        self._seen_items.add(item[0])
        self._items.append(text)

    def _end_list(self) -> None:
        if self._items:
            self.builder.listing(self._items, self.place, ordered=self._ordered)
        self._items, self._list = [], ""

    def _hanging(self, words: Words, relations: Mapping[str, Relation]) -> None:
        if not (words.notes or words.comments or words.boxes or words.pictures or words.graphics or words.files):
            return
        self._end_list()
        for box in words.boxes:
            self._blocks(box, relations)
            self._end_list()
        for identity, alt in words.pictures:
            self._picture(relations.get(identity), alt)
        for identity in words.graphics:
            self._graphic(relations.get(identity))
        for identity in words.files:
            relation = relations.get(identity)
            if relation is not None and not relation.is_external:
                self.members.file(relation.target, self.package.bytes_of(relation.target))
        for kind, identity in words.notes:
            self.builder.paragraph(self._note(kind, identity), self.place)
        for identity in words.comments:
            note = self._notes["comment"].get(identity)
            author = (attribute(note, "author") or "") if note is not None else ""
            text = self._note("comment", identity)
            if text:
                self.builder.quote(f"{author}: {text}" if author else text, self.place)

    def _note(self, kind: str, identity: str) -> str:
        note = self._notes[kind].get(identity)
        if note is None:
            return ""
        relations = self.package.relations(self._parts[f"{kind}s"])
        return "\n".join(filter(None, (words_in(paragraph, relations).text for paragraph in below(note, "p"))))

    def _picture(self, relation: Relation | None, alt: str) -> None:
        name = ""
        if relation is not None and not relation.is_external:
            taken = self.members.picture(relation.target, self.package.bytes_of(relation.target))
            name = relation.target.rpartition("/")[2] if taken else ""
        if name or alt:
            self.builder.reference(BlockKind.IMAGE_REF, name, alt, self.place)

    def _graphic(self, relation: Relation | None) -> None:
        root = self.package.root(relation.target) if relation is not None and not relation.is_external else None
        if root is None or relation is None:
            return
        if relation.kind == "chart":
            title, headers, rows = chart_table(root)
            self.builder.paragraph(title, self.place)
            self.builder.table(headers, rows, self.place)
        else:
            self.builder.listing(diagram(root), self.place)

    def _table(self, element: Element, relations: Mapping[str, Relation]) -> None:
        rows = [row for row in _rows(element) if len(row)]
        cells = [cell for row in rows for cell in _cells(row)]
        if len(cells) == 1:  # a frame around text
            self._blocks(cells[0], relations)
            self._end_list()
            return
        hanging: list[Words] = []
        grid: list[list[str]] = []
        for number, row in enumerate(rows):
            if number % _TOLD == 0:
                self._tell(self.section, 0, "section")
            grid.append(self._row(row, grid[-1] if grid else [], relations, hanging))
        if not grid:
            return
        self._count.add(sum(map(len, grid)), sum(len(value) for row in grid for value in row))
        headers, body = _headed(grid, sum(1 for row in rows if _is_header(row)))
        self.builder.table(headers, body, self.place, named=is_named(headers, body))
        for words in hanging:
            self._hanging(words, relations)

    def _row(
        self,
        row: Element,
        above: list[str],
        relations: Mapping[str, Relation],
        hanging: list[Words],
    ) -> list[str]:
        values: list[str] = []
        before = _grid_number(row, "gridBefore")
        values += [""] * before
        for cell in _cells(row):
            properties = child(cell, "tcPr")
            merged = child(properties, "vMerge") if properties is not None else None
            span = _grid_number(cell, "gridSpan") or 1
            column = len(values)
            if merged is not None and attribute(merged, "val") in {None, "continue"} and column < len(above):
                text = above[column]
            else:
                text = self._cell(cell, relations, hanging)
            values += [text, *([text] * (span - 1) if _is_header(row) else [""] * (span - 1))]
        return values[:_MOST_COLUMNS]

    def _cell(self, cell: Element, relations: Mapping[str, Relation], hanging: list[Words]) -> str:
        """Return a cell's text on one line; a table in it as `a, b; c, d`."""
        pieces: list[str] = []
        for element in cell:
            name = local(element)
            if name == "tbl":
                rows = (
                    ", ".join(filter(None, (self._cell(inner, relations, hanging) for inner in _cells(row))))
                    for row in _rows(element)
                )
                pieces.append("; ".join(filter(None, rows)))
            elif name in {"p", "oMathPara"}:
                words = words_in(element, relations)
                hanging.append(words)
                pieces.append(words.text)
            elif name not in {"tcPr", "sdtPr", "sdtEndPr"} and len(element):
                pieces.append(self._cell(element, relations, hanging))
        return " ".join(" ".join(filter(None, pieces)).split())


def _rows(table: Element) -> list[Element]:
    """Return the rows of a table, not those of tables in it; deleted ones left out."""
    return [row for row in _inside(table, "tr") if _kept(row)]


def _cells(row: Element) -> list[Element]:
    return _inside(row, "tc")


def _inside(element: Element, name: str) -> list[Element]:
    """Return children of that name, those wrapped in content controls or marked changes included."""
    found: list[Element] = []
    for node in element:
        if local(node) == name:
            found.append(node)
        elif local(node) in {"sdt", "sdtContent", "customXml", "ins", "moveTo"}:
            found += _inside(node, name)
    return found


def _kept(row: Element) -> bool:
    properties = child(row, "trPr")
    return properties is None or child(properties, "del") is None


def _is_header(row: Element) -> bool:
    properties = child(row, "trPr")
    return properties is not None and child(properties, "tblHeader") is not None


def _grid_number(element: Element, name: str) -> int:
    properties = child(element, "tcPr")
    properties = child(element, "trPr") if properties is None else properties
    found = child(properties, name) if properties is not None else None
    return min(whole(attribute(found, "val")) or 0, _MOST_COLUMNS) if found is not None else 0


def _headed(grid: list[list[str]], marked: int) -> tuple[list[str], list[list[str]]]:
    """Return the header line, put together from all rows marked as header, and the rows below."""
    count = min(max(marked, 1), len(grid))
    width = max(map(len, grid[:count]))
    columns = [[row[column] for row in grid[:count] if column < len(row)] for column in range(width)]
    return [" ".join(dict.fromkeys(filter(None, column))) for column in columns], grid[count:]


def _by_id(root: Element, name: str) -> dict[str, Element]:
    if root is None:
        return {}
    return {
        attribute(note, "id") or "": note
        for note in root
        if local(note) == name and attribute(note, "type") in {None, "normal"}
    }
