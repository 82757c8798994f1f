"""What becomes of every page of a folder of PDFs, beside what PyMuPDF and pypdfium2 alone get of them.

    python tests/bench/pdf_table.py FOLDER [--ocr MODELS] [--totals]

One line a file: how it ended, pages in each state with their sum, letters (white space not counted) of Kebab, PyMuPDF
and pypdfium2, and what explains a difference of more than two in a hundred. Each file is read in a process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import pymupdf
import pypdfium2

from kb.adapters.parsers.pdf.letters import cleaned
from kb.adapters.parsers.pdf.parser import PyMuPdfParser
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.ingest.reading_ports import PictureTextReader, SourceFile

STATES = ("text", "ocr", "waiting", "blank", "failed")
_SECONDS = 120.0
_SLACK = 0.02


@dataclass(slots=True)
class Row:
    """What became of one file; `ended` is `read`, or the reason why not."""

    name: str
    ended: str
    pages: int = 0
    states: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    letters: tuple[int, int, int] = (0, 0, 0)
    why: str = ""


def row_of(path: Path, ocr: PictureTextReader | None) -> Row:
    """Read one file in this process."""
    data = path.read_bytes()
    (first, unknown), second = _pymupdf(data), _pdfium(data)
    source = SourceFile(WorkspacePath(path.name), MediaType.PDF, data)
    try:
        document = PyMuPdfParser(ocr).read(source, ReadingLimits(), lambda _done, _total, _unit: None)
    except Unreadable as error:
        return Row(path.name, error.reason, letters=(0, _count(first), _count(second)))
    states: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for unit in document.coverage:
        states[unit.state] += unit.end - unit.start + 1
        if unit.reason:
            reasons[f"{unit.state}:{unit.reason}"] += unit.end - unit.start + 1
    ours = "\n".join(page.text for page in document.pages)
    counts = (_count(ours), _count(first), _count(second))
    pages = document.coverage[-1].end
    return Row(
        path.name, "read", pages, dict(states), dict(reasons), counts, _why(document, ours, (first, second), unknown)
    )


def rows_of(folder: Path, model_folder: Path | None = None) -> list[Row]:
    """Read every PDF of a folder in a child process, which may die or hang: that costs the file it reads.

    Args:
        folder: where the PDFs are.
        model_folder: with models for recognition; without it pages wait.
    """
    rows: list[Row] = []
    child: _Child | None = None
    try:
        for path in sorted(folder.glob("*.pdf")):
            child = child or _Child(model_folder)
            row = child.row(path)
            rows.append(row)
            if row.ended in {"crashed", "too_slow"}:
                child.end()
                child = None
    finally:
        if child is not None:
            child.end()
    return rows


def table(rows: list[Row], *, totals_only: bool) -> str:
    """Return the rows as text, with totals."""
    lines = ["file | ended | pages | text | ocr | waiting | blank | failed | kebab | pymupdf | pypdfium2 | why"]
    total: Counter[str] = Counter()
    ended = Counter(row.ended for row in rows)
    reasons: Counter[str] = Counter()
    for row in rows:
        total.update(row.states)
        reasons.update(row.reasons)
        if not totals_only:
            states = " | ".join(str(row.states.get(state, 0)) for state in STATES)
            letters = " | ".join(map(str, row.letters))
            lines.append(f"{row.name} | {row.ended} | {row.pages} | {states} | {letters} | {row.why}")
    pages = sum(row.pages for row in rows)
    lines += [
        f"files {len(rows)}: " + ", ".join(f"{word} {count}" for word, count in ended.most_common()),
        f"pages {pages}: " + ", ".join(f"{state} {total[state]}" for state in STATES) + f"; sum {total.total()}",
        "reasons: " + (", ".join(f"{word} {count}" for word, count in reasons.most_common()) or "none"),
        "letters: kebab {}, pymupdf {}, pypdfium2 {}".format(*(sum(row.letters[i] for row in rows) for i in range(3))),
    ]
    return "\n".join(lines)


class _Child:
    """A process that reads one file after the other."""

    def __init__(self, model_folder: Path | None) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, model_folder))
        self._process.start()
        theirs.close()

    def row(self, path: Path) -> Row:
        """Return what became of a file."""
        try:
            self._pipe.send(path)
            if not self._pipe.poll(_SECONDS):
                return Row(path.name, "too_slow")
            row: Row = self._pipe.recv()
        except (EOFError, OSError):
            return Row(path.name, "crashed")
        return row

    def end(self) -> None:
        """Stop the process."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self._pipe.close()


def _serve(pipe: Connection, model_folder: Path | None) -> None:
    ocr: PictureTextReader | None = None
    if model_folder is not None:
        from kb.adapters.ocr.reader import find_reader

        ocr = find_reader([model_folder])
    while True:
        pipe.send(row_of(pipe.recv(), ocr))


def _why(document: ParsedDocument, ours: str, texts: tuple[str, str], unknown: int) -> str:
    first, second = texts
    kept, given, other = (Counter("".join(text.split())) for text in (ours, cleaned(first), cleaned(second)))
    lacking, fresh = given - kept, kept - given
    reasons = []
    if any(unit.state == "ocr" for unit in document.coverage):
        reasons.append("recognised")
    if any(unit.state == "waiting" for unit in document.coverage):
        reasons.append("waits for recognition")
    raw = "".join(first.split())
    lost = len(raw) - given.total()
    if abs(lost) > _SLACK * len(raw):
        reasons.append(f"{lost} letters without meaning or ligatures")
    if fresh.total() > _SLACK * given.total() + 2:
        by_second = sum((fresh & other).values())
        reasons.append(
            f"{fresh.total()} more: "
            + ("second reader" if by_second > fresh.total() / 2 else "links, forms, notes, cell marks")
        )
    if lacking.total() > _SLACK * given.total() + 2:
        cause = "letters without known meaning" if unknown else "running headers, page numbers, repeats, hyphens"
        reasons.append(f"{lacking.total()} less: {cause}")
    return "; ".join(reasons)


def _pymupdf(data: bytes) -> tuple[str, int]:
    """Return the text, and how many of its letters are mere numbers of glyphs."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    texts = []
    try:
        document = pymupdf.open(stream=data, filetype="pdf")
        count = 0 if document.needs_pass else document.page_count
    except Exception:  # noqa: BLE001 - MuPDF raises plain exceptions of its own
        return "", 0
    known = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
    unknown = 0
    for number in range(count):
        try:
            texts.append(document[number].get_text())
            unknown += document[number].get_text(flags=known).count("\ufffd")
        except Exception:  # noqa: BLE001
            continue
    return "\n".join(texts), unknown


def _pdfium(data: bytes) -> str:
    texts = []
    try:
        document = pypdfium2.PdfDocument(data)
        count = len(document)
    except pypdfium2.PdfiumError:
        return ""
    for number in range(count):
        try:
            text_page = document[number].get_textpage()
            texts.append(text_page.get_text_range(errors="ignore"))
        except (pypdfium2.PdfiumError, UnicodeError):
            continue
    return "\n".join(texts)


def _count(text: str) -> int:
    return len("".join(text.split()))


def main() -> None:
    """Print the table of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ocr", type=Path, default=None, help="folder of recognition models; without it pages wait")
    parser.add_argument("--totals", action="store_true")
    given = parser.parse_args()
    sys.stdout.write(table(rows_of(given.folder, given.ocr), totals_only=given.totals) + "\n")


if __name__ == "__main__":
    main()
