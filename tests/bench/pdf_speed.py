"""How long reading PDFs takes beside PyMuPDF's own word extraction, in one run on the same pages.

    python tests/bench/pdf_speed.py FOLDER [--rounds N]

Two ratios over the pages that need no second reader and no recognition: words with boxes, and the whole parse. Each
side opens every file anew and is timed in CPU seconds, best of the rounds; opening and loading count on both sides.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pymupdf

from kb.adapters.parsers.pdf import mupdf
from kb.adapters.parsers.pdf.parser import PyMuPdfParser
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.ingest.reading_ports import SourceFile

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


def seconds(run: Callable[[bytes], None], datas: Sequence[bytes], rounds: int) -> float:
    """Return the CPU seconds of the best round."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for data in datas:
            run(data)
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    datas = files(given.folder)
    base, boxes, parse = (seconds(run, datas, given.rounds) for run in (plain, words, whole))
    sys.stdout.write(
        f"{len(datas)} files: PyMuPDF words {base:.3f} CPU-s; words with boxes {boxes:.3f} = {boxes / base:.2f}x;"
        f" whole parse {parse:.3f} = {parse / base:.2f}x\n"
    )


if __name__ == "__main__":
    main()
