"""Workbooks of Excel before 2007 (BIFF in a compound file), read by xlrd."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from kb.adapters.parsers.office.grid import Row, Sheet, sheet_blocks
from kb.adapters.parsers.office.package import locked_or_old
from kb.adapters.parsers.office.places import Count, ledger
from kb.adapters.parsers.office.values import moment, plain, shown
from kb.domain.documents import ParsedBlock, ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.ids import Json
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "xls-v1"
_GENERAL = "General"


class LegacyWorkbookParser:
    """Reads XLS, hidden sheets too, each marked; macros and drawings are not read."""

    media_types = frozenset({MediaType.XLS})
    version = VERSION

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return a table for each region of each sheet.

        Raises:
            Unreadable: as `FormatParser.read`.
        """
        if source.data.startswith(b"PK\x03\x04"):
            raise Unreadable("it is a newer workbook", hint="give it the suffix .xlsx", reason="wrong_type")
        book = _opened(source.data)
        count = Count(limits)
        blocks: list[ParsedBlock] = []
        failed: dict[int, str] = {}
        for index in range(book.nsheets):
            tell(index, book.nsheets, "sheet")
            try:
                sheet = book.sheet_by_index(index)
            except Exception:  # noqa: BLE001 - xlrd meets broken records with whatever goes wrong
                failed[index + 1] = "damaged"
                continue
            about = Sheet(
                index + 1,
                sheet.name,
                hidden=sheet.visibility != 0,
                merged=[(top + 1, left + 1, bottom, right) for top, bottom, left, right in sheet.merged_cells],
                notes=sorted((row + 1, column + 1, note.text) for (row, column), note in sheet.cell_note_map.items()),
            )
            rows = _rows(sheet, book)
            built = sheet_blocks(about, rows, count, lambda _, done=index: tell(done, book.nsheets, "sheet"))  # type: ignore[misc]
            blocks += built.blocks
            book.unload_sheet(index)
        return ParsedDocument(
            blocks=tuple(blocks),
            front_matter=_properties(book),
            coverage=ledger("sheet", book.nsheets, blocks, failed),
        )


def _opened(data: bytes) -> Any:  # noqa: ANN401 - xlrd has no types
    import xlrd

    try:
        # What xlrd has to say about odd files goes nowhere: it may quote them.
        return xlrd.open_workbook(
            file_contents=data, formatting_info=True, on_demand=True, ragged_rows=True, logfile=io.StringIO()
        )
    except Exception as error:
        if "encrypted" in str(error).lower():
            raise Unreadable(
                "it is locked with a password", hint="save it without a password and add it again", reason="locked"
            ) from error
        if isinstance(error, xlrd.XLRDError) and ("workbook" in str(error).lower() and "find" in str(error).lower()):
            raise locked_or_old(data) from error
        raise Unreadable(
            "it is no workbook, or only a part of one",
            hint="open it in its program and save it again",
            reason="damaged",
        ) from error


def _rows(sheet: Any, book: Any) -> Iterator[Row]:  # noqa: ANN401
    for number in range(sheet.nrows):
        cells: dict[int, str] = {}
        for column, cell in enumerate(sheet.row(number), 1):
            value = _value(cell, book)
            if value:
                cells[column] = value
        yield number + 1, cells


def _value(cell: Any, book: Any) -> str:  # noqa: ANN401
    import xlrd

    if cell.ctype == xlrd.XL_CELL_TEXT:
        return str(cell.value)
    if cell.ctype == xlrd.XL_CELL_NUMBER:
        code = _format(cell, book)
        return plain(cell.value) if code == _GENERAL else shown(cell.value, code)
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return "TRUE" if cell.value else "FALSE"
    return _date(cell.value, book.datemode) if cell.ctype == xlrd.XL_CELL_DATE else ""


def _date(value: float, mode: int) -> str:
    import xlrd

    try:
        found = xlrd.xldate_as_datetime(value, mode)
    except (ValueError, OverflowError):
        return plain(value)
    return moment(found.time() if 0 <= value < 1 else found)


def _format(cell: Any, book: Any) -> str:  # noqa: ANN401
    try:
        return str(book.format_map[book.xf_list[cell.xf_index].format_key].format_str)
    except (KeyError, IndexError, TypeError):
        return _GENERAL


def _properties(book: Any) -> dict[str, Json]:  # noqa: ANN401
    name = " ".join(str(book.user_name or "").split())
    return {"author": name} if name else {}
