"""Tables as text: CSV, TSV and their kin (RFC 4180 and what people make of it)."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator

from kb.adapters.parsers.office.grid import Row, Sheet, sheet_blocks
from kb.adapters.parsers.office.places import Count, ledger
from kb.domain.documents import ParsedDocument, ParseWarning
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.ingest.ports import TextDecoder
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "csv-v1"
_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 200
_LONGEST_CELL = 1 << 20


class CsvParser:
    """Reads delimited text; which delimiter is seen from the text, in which quotes are minded."""

    media_types = frozenset({MediaType.CSV})
    version = VERSION

    def __init__(self, decoder: TextDecoder) -> None:
        self._decoder = decoder

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return the tables of the one sheet, which is called as the file.

        Raises:
            Unreadable: as `FormatParser.read`.
        """
        decoded = self._decoder.decode(source.data)
        text = decoded.text.removeprefix("\ufeff")
        if len(text) > limits.characters:
            raise Unreadable(
                f"it has more than {limits.characters:,} characters",
                hint="split it, or raise limits.characters",
                reason="too_big",
            )
        delimiter, text = _delimiter(text, source.path)
        sheet = Sheet(1, source.path.rpartition("/")[2].rpartition(".")[0] or source.path.rpartition("/")[2])
        built = sheet_blocks(sheet, _rows(text, delimiter), Count(limits), lambda _: tell(0, 1, "sheet"))
        warnings = (ParseWarning("encoding_fallback", decoded.note),) if decoded.note else ()
        return ParsedDocument(
            blocks=tuple(built.blocks),
            warnings=warnings,
            encoding=decoded.encoding,
            coverage=ledger("sheet", 1, built.blocks),
        )


def _delimiter(text: str, path: WorkspacePath) -> tuple[str, str]:
    """Return the delimiter and the text less a line that states it: the one that cuts most rows into equally many."""
    first, end, rest = text.partition("\n")
    stated = first.strip().lower()
    if stated.startswith("sep=") and len(stated) == 5 and end:  # noqa: PLR2004 - Excel's own line
        return stated[4], rest
    usual = "\t" if path.lower().endswith(".tsv") else ","
    best, best_score = usual, (0.0, 0)
    for delimiter in sorted(_DELIMITERS, key=lambda one: one != usual):
        widths = Counter(len(row) for _, row in zip(range(_SAMPLE_ROWS), _read(text, delimiter), strict=False) if row)
        width, rows = max(
            ((width, rows) for width, rows in widths.items() if width > 1), key=lambda pair: pair[1], default=(0, 0)
        )
        score = (rows / max(1, widths.total()), width)
        if width and score > best_score:
            best, best_score = delimiter, score
    return best, text


def _rows(text: str, delimiter: str) -> Iterator[Row]:
    for number, row in enumerate(_read(text, delimiter), 1):
        yield number, {column: value for column, value in enumerate(row, 1) if value}


def _read(text: str, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(_LONGEST_CELL)
    lines = io.StringIO(text.replace("\0", ""), newline="")
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error as error:
        raise Unreadable(
            "a cell of it is longer than a megabyte",
            hint="see whether a quotation mark is left open",
            reason="too_complex",
        ) from error
