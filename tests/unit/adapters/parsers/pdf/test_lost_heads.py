"""PDFs without the mark that says what they are."""

from __future__ import annotations

import pymupdf

from tests.unit.adapters.parsers.pdf.making import read


def test_a_pdf_that_lost_its_head_is_read_and_not_taken_for_text() -> None:
    with pymupdf.open() as made:
        made.new_page().insert_text((72, 72), "The words under a lost head.")
        data = made.tobytes()
    beheaded = data[data.index(b"\n1 0 obj") + 1 :]
    assert b"%PDF" not in beheaded
    document = read(beheaded)
    assert "The words under a lost head." in " ".join(block.text for block in document.blocks)
