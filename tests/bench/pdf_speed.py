"""How long reading PDFs takes beside PyMuPDF's own word extraction, in one run on the same pages.

Two ratios over the pages that need no second reader and no recognition: words with boxes, and the whole parse. Each
side opens every file anew; opening and loading count on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pymupdf

from kb.adapters.parsers.pdf import mupdf
from kb.adapters.parsers.pdf.parser import PyMuPdfParser
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.ingest.reading_ports import SourceFile
from tests.bench.large import write_pdf
from tests.bench.material import shared_data
from tests.bench.measure import Row, alternate

_FEW = 30


def plain(data: bytes) -> None:
    """Take the words of every page as PyMuPDF gives them."""
    with pymupdf.open(stream=data, filetype="pdf") as document:
        for page in document:
            page.get_text("words")
    pymupdf.TOOLS.store_shrink(100)


def words(data: bytes) -> None:
    """Take the words of every page as Kebab does."""
    document = mupdf.open_pdf(data, None)
    for page in document or ():
        mupdf.words_of(page, mupdf.view_of(page))
    if document is not None:
        document.close()
    mupdf.forget()


def whole(data: bytes) -> None:
    """Read the file as ingest does."""
    PyMuPdfParser().read(SourceFile(WorkspacePath("a.pdf"), MediaType.PDF, data), ReadingLimits(), lambda *_: None)


def files(folder: Path) -> list[bytes]:
    """Return the files all of whose pages have letters enough that nobody else is asked."""
    found = []
    for path in sorted(folder.glob("*.pdf")):
        data = path.read_bytes()
        try:
            document = mupdf.open_pdf(data, None)
            pages = [mupdf.words_of(page, mupdf.view_of(page))[0] for page in document or ()]
            whole(data)
        except (Unreadable, pymupdf.mupdf.FzErrorBase):
            continue
        if pages and all(page.good >= _FEW and page.bad <= page.good / 10 for page in pages):
            found.append(data)
    return found


def reading(scratch: Path, rounds: int) -> list[Row]:
    """Measure words with boxes and the whole parse against PyMuPDF's own words, on real files and on dense pages."""
    rows = []
    data = shared_data()
    sets = [("pages of the shared PDFs that need no second reader", files(data / "pdf"))] if data else []
    sets.append(("dense pages of 600 words", [_dense(scratch / "dense.pdf", 100)]))
    for name, datas in sets:
        for what, run, target in (("words with boxes", words, 1.3), ("whole parse", whole, 5.0)):
            pair = alternate(partial(_all, run, datas), partial(_all, plain, datas), rounds=rounds)
            label = f"PDF, {what} ÷ PyMuPDF's own word extraction, CPU; {name}"
            rows.append(pair.row("pdf", label, target, per=len(datas), note=f"{len(datas)} files"))
    return rows


def _all(run: Callable[[bytes], None], datas: Sequence[bytes]) -> None:
    for data in datas:
        run(data)


def _dense(file: Path, pages: int) -> bytes:
    write_pdf(file, pages)
    return file.read_bytes()
