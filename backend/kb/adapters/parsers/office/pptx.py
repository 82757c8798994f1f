"""Presentations of PowerPoint (PresentationML, ECMA-376 part 1, 19)."""

from __future__ import annotations

from collections.abc import Iterable

from kb.adapters.parsers.office.drawing import chart_table, diagram, paragraphs
from kb.adapters.parsers.office.elements import attribute, below, child, first, relation_id
from kb.adapters.parsers.office.media import Members, alt_text
from kb.adapters.parsers.office.package import OfficePackage, open_package, warnings_of
from kb.adapters.parsers.office.places import Count, is_named, ledger
from kb.adapters.parsers.shared.building import BlockBuilder
from kb.adapters.parsers.shared.xml import Element, local
from kb.domain.blocks import BlockKind
from kb.domain.documents import ParsedBlock, ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "pptx-v1"
_SHAPES = frozenset(("sp", "pic", "graphicFrame", "grpSp", "cxnSp", "contentPart"))
_TITLES = frozenset(("title", "ctrTitle"))
# Page numbers, dates and running lines, the same on every slide.
_RUNNING = frozenset(("sldNum", "dt", "ftr", "hdr"))
_SAME_LINE = 100_000
_FARTHEST = 1 << 40


class PptxParser:
    """Reads PPTX, PPTM and PPSX from their XML, hidden slides too, each marked; nothing in it is run."""

    media_types = frozenset({MediaType.PPTX})
    version = VERSION

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return blocks by slide; pictures and embedded files as members.

        Raises:
            Unreadable: as `FormatParser.read`.
        """
        package = open_package(source.data, limits)
        main = package.main_part("ppt/")
        relations = package.relations(main)
        order = [relations.get(relation_id(slide)) for slide in _slide_ids(package.root(main))]
        if len(order) > limits.pages:
            raise Unreadable(
                f"it has more than {limits.pages} slides",
                hint="split it, or raise limits.pages",
                reason="too_many_pages",
            )
        blocks: list[ParsedBlock] = []
        members, count = Members(), Count(limits)
        failed: dict[int, str] = {}
        for number, relation in enumerate(order, 1):
            tell(number - 1, len(order), "slide")
            try:
                root = package.root(relation.target) if relation is not None and not relation.is_external else None
                if root is None or relation is None:
                    failed[number] = "damaged"
                    continue
                slide = _Slide(package, relation.target, PartSpan("slide", number), members).read(root)
            except Unreadable as error:
                if error.reason != "damaged":
                    raise
                failed[number] = error.reason
                continue
            count.add(0, sum(len(block.text) for block in slide))
            blocks += slide
        return ParsedDocument(
            blocks=tuple(blocks),
            front_matter=package.front_matter(),
            warnings=warnings_of(package, members),
            coverage=ledger("slide", len(order), blocks, failed),
            members=members.all(),
        )


class _Slide:
    """Reads one slide: its title, its shapes from top left to bottom right, then its notes and comments."""

    def __init__(self, package: OfficePackage, part: str, place: PartSpan, members: Members) -> None:
        self._package = package
        self._relations = package.relations(part)
        self._place = place
        self._builder = BlockBuilder()
        self._members = members

    def read(self, root: Element) -> list[ParsedBlock]:
        """Return the blocks of the slide."""
        tree = first(root, "spTree")
        shapes = list(_flat(tree)) if tree is not None else []
        title = next((shape for shape in shapes if _placeholder(shape) in _TITLES and paragraphs(shape)), None)
        words = " ".join(paragraphs(title)) if title is not None else ""
        hidden = " (hidden)" if root.get("show") in {"0", "false"} else ""
        self._builder.heading(1, words + hidden, self._place)
        for shape in _ordered(shapes):
            if shape is not title and _placeholder(shape) not in _RUNNING:
                self._shape(shape)
        for relation in self._relations.values():
            if relation.kind == "notesSlide" and not relation.is_external:
                self._notes(self._package.root(relation.target))
            elif relation.kind == "comments" and not relation.is_external:
                self._comments(self._package.root(relation.target))
        # A mark over nothing would make an empty slide look read.
        return self._builder.blocks if words or len(self._builder.blocks) > 1 or not hidden else []

    def _shape(self, shape: Element) -> None:
        name = local(shape)
        if name == "graphicFrame":
            self._frame(shape)
            return
        if name == "pic":
            self._picture(shape)
        body = child(shape, "txBody")
        if body is None:
            body = first(shape, "txBody")
        if body is not None:
            self._text(body)
        described = alt_text(first(shape, "cNvPr"))
        if described and name != "pic":
            self._builder.reference(BlockKind.IMAGE_REF, "", described, self._place)

    def _text(self, body: Element) -> None:
        lines = paragraphs(body)
        if len(lines) > 1:
            self._builder.listing(lines, self._place)
        elif lines:
            self._builder.paragraph(lines[0], self._place)

    def _picture(self, shape: Element) -> None:
        blip = first(shape, "blip")
        relation = self._relations.get(relation_id(blip, "embed") if blip is not None else "")
        name = ""
        if relation is not None and not relation.is_external:
            taken = self._members.picture(relation.target, self._package.bytes_of(relation.target))
            name = relation.target.rpartition("/")[2] if taken else ""
        alt = alt_text(first(shape, "cNvPr"))
        if name or alt:
            self._builder.reference(BlockKind.IMAGE_REF, name, alt, self._place)

    def _frame(self, shape: Element) -> None:
        for table in below(shape, "tbl"):
            grid = [_row(row) for row in table if local(row) == "tr"]
            _repeat_merged(table, grid)
            if grid:
                self._builder.table(grid[0], grid[1:], self._place, named=is_named(grid[0], grid[1:]))
        for graphic in below(shape, "chart", "relIds"):
            self._graphic(attribute(graphic, "dm") or relation_id(graphic))
        for embedded in below(shape, "oleObj"):
            relation = self._relations.get(relation_id(embedded))
            if relation is not None and not relation.is_external:
                self._members.file(relation.target, self._package.bytes_of(relation.target))
        if alt := alt_text(first(shape, "cNvPr")):
            self._builder.reference(BlockKind.IMAGE_REF, "", alt, self._place)

    def _graphic(self, identity: str) -> None:
        relation = self._relations.get(identity)
        root = self._package.root(relation.target) if relation is not None and not relation.is_external else None
        if root is None or relation is None:
            return
        if relation.kind == "chart":
            title, headers, rows = chart_table(root)
            self._builder.paragraph(title, self._place)
            self._builder.table(headers, rows, self._place)
        else:
            self._builder.listing(diagram(root), self._place)

    def _notes(self, root: Element) -> None:
        for shape in below(root, "sp") if root is not None else ():
            if _placeholder(shape) == "body" and (lines := paragraphs(shape)):
                self._builder.quote("\n".join(lines), self._place)

    def _comments(self, root: Element) -> None:
        for comment in below(root, "cm") if root is not None else ():
            text = child(comment, "text")
            lines = [text.text or ""] if text is not None else paragraphs(comment)
            self._builder.quote("\n".join(lines), self._place)


def _slide_ids(root: Element) -> Iterable[Element]:
    listed = first(root, "sldIdLst") if root is not None else None
    return (slide for slide in listed if local(slide) == "sldId") if listed is not None else ()


def _flat(tree: Element) -> Iterable[Element]:
    """Yield shapes with groups dissolved; of a thing given twice, for newer and older programs, the newer."""
    for shape in tree:
        name = local(shape)
        if name == "grpSp":
            # Places inside a group are its own: it stands together, in its order.
            yield from _flat(shape)
        elif name == "AlternateContent":
            choice = child(shape, "Choice")
            yield from _flat(choice if choice is not None else shape)
        elif name in _SHAPES:
            yield shape


def _ordered(shapes: list[Element]) -> list[Element]:
    """Return shapes from top to bottom, from left to right where tops are less than a line apart.

    Shapes without a place of their own (placeholders stand where the layout puts them) and those in groups keep the
    place of what comes before them.
    """
    keyed: list[tuple[tuple[int, int], Element]] = []
    last = (0, 0)
    for shape in shapes:
        offset = first(shape, "off") if local(shape.getparent()) != "grpSp" else None
        if offset is not None:
            last = (_number(offset.get("y")) // _SAME_LINE, _number(offset.get("x")))
        keyed.append((last, shape))
    return [shape for _, shape in sorted(keyed, key=lambda pair: pair[0])]


def _number(value: str | None) -> int:
    try:
        return max(-_FARTHEST, min(int(value or "0"), _FARTHEST))
    except ValueError:
        return 0


def _placeholder(shape: Element) -> str:
    found = first(shape, "ph") if local(shape) == "sp" else None
    return "" if found is None else found.get("type") or "body"


def _row(row: Element) -> list[str]:
    return [" ".join(paragraphs(cell)) for cell in row if local(cell) == "tc"]


def _repeat_merged(table: Element, grid: list[list[str]]) -> None:
    """Write the text of a merged cell into the rows it reaches down to, and into the columns of a header."""
    rows = [[cell for cell in row if local(cell) == "tc"] for row in table if local(row) == "tr"]
    for number, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            if cell.get("vMerge") in {"1", "true"} and number and column < len(grid[number - 1]):
                grid[number][column] = grid[number - 1][column]
            elif cell.get("hMerge") in {"1", "true"} and not number and column:
                grid[number][column] = grid[number][column - 1]
