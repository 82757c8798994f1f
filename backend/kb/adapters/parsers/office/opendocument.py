"""Documents of LibreOffice and its kin: ODT, ODS and ODP (OpenDocument, ISO/IEC 26300)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kb.adapters.parsers.office.elements import attribute, below, child, whole
from kb.adapters.parsers.office.grid import Sheet, sheet_blocks
from kb.adapters.parsers.office.media import Members, left_out_warnings
from kb.adapters.parsers.office.odf_package import (
    OdfPackage,
    OdfWords,
    annotation,
    lines_of,
    object_part,
    odf_words,
    open_odf,
)
from kb.adapters.parsers.office.odf_tables import OdfTable
from kb.adapters.parsers.office.places import Count, Part, is_named, ledger
from kb.adapters.parsers.shared.building import BlockBuilder
from kb.adapters.parsers.shared.xml import Element, local, words_of
from kb.domain.blocks import BlockKind, Prose
from kb.domain.documents import ParsedBlock, ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "odf-v1"
_PASSED_OVER = frozenset(("tracked-changes", "forms", "sequence-decls", "variable-decls", "user-field-decls", "notes"))
_TOLD = 500


class OpenDocumentParser:
    """Reads text, sheets and slides from their XML, hidden ones too, each marked; nothing in it is run."""

    media_types = frozenset({MediaType.ODT, MediaType.ODS, MediaType.ODP})
    version = VERSION

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return blocks by section, sheet or slide; pictures as members.

        Raises:
            Unreadable: as `FormatParser.read`.
        """
        package = open_odf(source.data, limits)
        tell(0, 0, "section")
        kind, body, root = package.body()
        reader = _Reader(package, limits, tell, _hidden_styles(root))
        part: Part
        if kind == "spreadsheet":
            part, count = "sheet", reader.sheets(body)
        elif kind == "presentation":
            part, count = "slide", reader.slides(body, limits)
        else:
            part, count = "section", reader.text(body)
        return ParsedDocument(
            blocks=tuple(reader.blocks),
            front_matter=package.front_matter(),
            warnings=left_out_warnings(reader.members),
            coverage=ledger(part, count, reader.blocks),
            members=reader.members.all(),
        )


class _Reader:
    """Goes through a body once, in order."""

    def __init__(self, package: OdfPackage, limits: ReadingLimits, tell: Tell, hidden: frozenset[str]) -> None:
        self._package = package
        self._tell = tell
        self._count = Count(limits)
        self._hidden = hidden
        self._builder = BlockBuilder()
        self._place = PartSpan("section", 1)
        self._headings: int | None = None
        self.blocks: list[ParsedBlock] = []
        self.members = Members()

    def text(self, body: Element) -> int:
        """Read a text document; return how many sections it has."""
        self._headings = 0
        self._flow(body)
        self.blocks += self._builder.blocks
        self.blocks += self._margins().blocks
        return self._place.number

    def sheets(self, body: Element) -> int:
        """Read the sheets; return how many there are."""
        tables = [table for table in body if local(table) == "table"]
        for number, table in enumerate(tables, 1):
            found = OdfTable(table, self._count)
            rows = list(found.rows())
            hidden = attribute(table, "style-name") in self._hidden
            sheet = Sheet(number, attribute(table, "name") or str(number), hidden, found.merged, sorted(found.notes))
            shapes = list(below(table, "frame", "custom-shape"))
            self._builder = sheet_blocks(
                sheet,
                rows,
                self._count,
                lambda _, done=number - 1: self._tell(done, len(tables), "sheet"),  # type: ignore[misc]
                titled=bool(shapes),
            )
            self._place = PartSpan("sheet", number, sheet.name)
            for shape in shapes:
                self._frame(shape)
            if len(self._builder.blocks) > 1:
                self.blocks += self._builder.blocks
        return len(tables)

    def slides(self, body: Element, limits: ReadingLimits) -> int:
        """Read the slides; return how many there are."""
        pages = [page for page in body if local(page) == "page"]
        if len(pages) > limits.pages:
            raise Unreadable(
                f"it has more than {limits.pages} slides",
                hint="split it, or raise limits.pages",
                reason="too_many_pages",
            )
        for number, page in enumerate(pages, 1):
            self._tell(number - 1, len(pages), "slide")
            self._place = PartSpan("slide", number)
            self._builder = BlockBuilder()
            title = next((f for f in page if attribute(f, "class") == "title" and lines_of(f)), None)
            words = " ".join(lines_of(title)) if title is not None else ""
            hidden = " (hidden)" if attribute(page, "style-name") in self._hidden else ""
            self._builder.heading(1, words + hidden, self._place)
            self._flow(shape for shape in page if shape is not title)
            for notes in page:
                if local(notes) == "notes":
                    self._builder.quote("\n".join(lines_of(notes)), self._place)
            if words or len(self._builder.blocks) > 1 or not hidden:
                self.blocks += self._builder.blocks
        return len(pages)

    def _margins(self) -> BlockBuilder:
        """Return headers and footers, each text once, under no heading."""
        builder = BlockBuilder()
        seen: set[str] = set()
        styles = self._package.root("styles.xml")
        for margin in below(styles, "header", "footer", "header-first", "footer-first") if styles is not None else ():
            for line in lines_of(margin):
                if line not in seen and any(letter.isalpha() for letter in line):
                    seen.add(line)
                    builder.paragraph(line, self._place)
        return builder

    def _flow(self, elements: Iterable[Element]) -> None:
        for number, element in enumerate(elements):
            name = local(element)
            if number % _TOLD == 0 and self._headings is not None:
                self._tell(self._place.number, 0, "section")
            if name in {"p", "h"}:
                self._paragraph(element, is_heading=name == "h")
            elif name == "list":
                self._list(element)
            elif name == "table":
                self._table(element)
            elif name in {"frame", "custom-shape", "g"}:
                self._frame(element)
            elif name == "annotation":
                self._builder.quote(annotation(element), self._place)
            elif name and name not in _PASSED_OVER and len(element):
                self._flow(element)

    def _paragraph(self, element: Element, *, is_heading: bool) -> None:
        words = odf_words(element)
        self._count.add(0, len(words.text))
        if is_heading and words.text and self._headings is not None:
            self._headings += 1
            self._place = PartSpan("section", self._headings)
            level = attribute(element, "outline-level") or "1"
            self._builder.heading(whole(level) or 1, words.text, self._place)
        elif words.text:
            self._builder.paragraph(words.text, self._place)
            if words.inlines:
                self._builder.blocks[-1] = replace(self._builder.blocks[-1], payload=Prose(tuple(words.inlines)))
        self._hanging(words)

    def _hanging(self, words: OdfWords) -> None:
        for frame in words.frames:
            self._frame(frame)
        for note in words.notes:
            self._builder.paragraph(note, self._place)
        for comment in words.comments:
            self._builder.quote(comment, self._place)

    def _list(self, element: Element) -> None:
        if next(below(element, "h"), None) is not None:  # numbered headings stand in lists
            for item in element:
                self._flow(item)
            return
        items: list[str] = []
        hanging: list[OdfWords] = []
        for paragraph in below(element, "p"):
            if any(local(parent) in {"note", "annotation", "frame"} for parent in paragraph.iterancestors()):
                continue
            words = odf_words(paragraph)
            items.append(words.text)
            hanging.append(words)
        self._count.add(0, sum(map(len, items)))
        self._builder.listing(items, self._place)
        for words in hanging:
            self._hanging(words)

    def _table(self, element: Element) -> None:
        table = OdfTable(element, self._count)
        grid = table.grid()
        if not grid:
            return
        if len(grid) == 1 and len(grid[0]) == 1:  # a frame around text
            self._builder.paragraph(grid[0][0], self._place)
        else:
            self._builder.table(grid[0], grid[1:], self._place, named=is_named(grid[0], grid[1:]))
        for paragraph in below(element, "p"):
            self._hanging(odf_words(paragraph))

    def _frame(self, frame: Element) -> None:
        described = child(frame, "desc")
        described = child(frame, "title") if described is None else described
        alt = " ".join(words_of(described).split()) if described is not None else ""
        taken = ""
        for node in frame:
            name = local(node)
            part = object_part(attribute(node, "href") or "") if name in {"image", "object"} else ""
            if name == "object" and part:
                self._object(part)
                # Beside it lies a picture of it, for programs that cannot draw it.
                break
            if name == "image" and self.members.picture(part, self._package.bytes_of(part)):
                taken = taken or part.rpartition("/")[2]
            elif name in {"text-box", "table", "p", "list"} or (name == "g" and local(frame) == "g"):
                self._flow([node] if name != "text-box" else node)
            elif local(frame) == "g":
                self._frame(node)
        if taken or alt:
            self._builder.reference(BlockKind.IMAGE_REF, taken, alt, self._place)

    def _object(self, part: str) -> None:
        root = self._package.root(f"{part}/content.xml")
        if root is None:
            return
        if local(root) == "math":
            words = (words_of(node) for node in root.iter() if local(node) in {"mi", "mn", "mo", "mtext"})
            self._builder.paragraph("".join(words), self._place)
            return
        title = next((" ".join(lines_of(found)) for found in below(root, "title") if lines_of(found)), "")
        self._builder.paragraph(title, self._place)
        for table in below(root, "table"):
            grid = OdfTable(table, self._count).grid()
            if grid:
                self._builder.table(grid[0], grid[1:], self._place)


def _hidden_styles(root: Element) -> frozenset[str]:
    """Return the names of styles whose sheets and slides are not shown."""
    hidden = (
        attribute(style, "name") or ""
        for style in below(root, "style")
        for properties in style
        if attribute(properties, "display") == "false" or attribute(properties, "visibility") == "hidden"
    )
    return frozenset(hidden)
