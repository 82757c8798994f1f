"""Hundreds of odd PDFs that other readers stumbled over: every one ends truthfully, every page is accounted for."""

from __future__ import annotations

import os
from pathlib import Path

import pymupdf
import pytest

from kb.domain.errors import Unreadable
from tests.bench.pdf_table import STATES, rows_of
from tests.unit.adapters.parsers.pdf.making import check_places, read

SHARED = Path(os.environ.get("KEBAB_SHARED") or Path(__file__).resolve().parents[6] / "shared")
FOLDER = SHARED / "data" / "pdf"
needs_files = pytest.mark.skipif(not FOLDER.is_dir(), reason="the PDFs of the shared data are not here (KEBAB_SHARED)")


@needs_files
@pytest.mark.slow
def test_every_file_ends_truthfully_and_every_page_is_counted_once() -> None:
    rows = rows_of(FOLDER)
    assert len(rows) > 100
    assert {row.ended for row in rows} <= {"read", "locked", "damaged"}
    for row in rows:
        assert sum(row.states.values()) == row.pages
        assert set(row.states) <= set(STATES)
        if row.ended == "read":
            document = pymupdf.open(FOLDER / row.name)
            is_counted = document.needs_pass or row.pages == document.page_count
            # A page that only the other library counts, and neither reads.
            assert is_counted or (document.page_count == 0 and set(row.states) == {"failed"})
    # Where one of the two libraries reads a file, Kebab does.
    assert [row.name for row in rows if row.ended == "damaged" and max(row.letters[1:]) > 0] == []
    # What PyMuPDF alone gets little of comes from the second reader.
    kept = {row.name: row.letters for row in rows}
    for name in ("issue269_2.pdf", "issue7454.pdf", "issue16316.pdf", "issue9418.pdf"):
        if name in kept:
            assert kept[name][0] >= 0.8 * kept[name][2]
    # A picture only pypdfium2 can decode is no blank page.
    undrawn = [row.states for row in rows if row.name == "bitmap-refine-lossless.pdf"]
    assert undrawn in ([], [{"waiting": 1}])


@needs_files
@pytest.mark.slow
def test_every_word_has_its_place_in_every_file() -> None:
    read_files = 0
    for path in sorted(FOLDER.glob("*.pdf"))[::3]:
        try:
            document = read(path.read_bytes())
        except Unreadable:
            continue
        check_places(document)
        read_files += 1
    assert read_files > 50
