"""The marks of a real PDF lie over the cited words as a reader sees them, however its pages are turned or cropped."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from kb.contract.chunks import ChunksRequest
from kb.contract.viewer import ViewerOpenRequest
from tests.unit.app.facade.conftest import Home

QUOTE = "keeper counts lanterns"
TURNS = [(turn, cropped) for turn in (0, 90, 180, 270) for cropped in (False, True)]


def name_of(turn: int, *, cropped: bool) -> str:
    return f"turned{turn}{'-cropped' if cropped else ''}.pdf"


def write(path: Path, turn: int, *, cropped: bool) -> tuple[float, float, float, float]:
    """Write a page; return where the quote stands on it as displayed, in fractions: left, top, right, bottom."""
    with pymupdf.open() as document:
        page = document.new_page(width=600, height=800)
        page.insert_textbox((100, 150, 500, 700), f"The {QUOTE} in room {turn} every evening. " * 4, fontsize=12)
        if cropped:
            page.set_cropbox(pymupdf.Rect(60, 100, 560, 720))
        page.set_rotation(turn)
        document.save(path)
        seen, whole = page.search_for(QUOTE)[0] * page.rotation_matrix, page.rect
        return seen.x0 / whole.width, seen.y0 / whole.height, seen.x1 / whole.width, seen.y1 / whole.height


def test_the_words_are_covered_and_little_else(home: Home) -> None:
    truth = {
        name_of(turn, cropped=cropped): write(home.workspace / name_of(turn, cropped=cropped), turn, cropped=cropped)
        for turn, cropped in TURNS
    }
    with home.opened() as desk:
        desk.ingest()
        for name, (left, top, right, bottom) in truth.items():
            chunk = desk.facade.chunks.list(ChunksRequest(doc=name)).chunks[0].chunk_id
            view = desk.facade.viewer.open(ViewerOpenRequest(chunk_id=chunk, quote=QUOTE))
            assert view.rects is not None, name
            (rect,) = view.rects
            across = min(right, rect.x + rect.w) - max(left, rect.x)
            down = min(bottom, rect.y + rect.h) - max(top, rect.y)
            area = (right - left) * (bottom - top)
            assert min(across, down) > 0, name
            assert across * down >= 0.75 * area, name
            assert rect.w * rect.h < 2.5 * area, name
            assert (rect.page, view.quote, view.state) == (1, QUOTE, "exact")


@pytest.mark.parametrize("broken", [b"%PDF-1.7\nnothing that can be read"])
def test_a_file_that_cannot_be_read_is_accounted_for(home: Home, broken: bytes) -> None:
    from kb.contract.coverage import CoverageRequest
    from kb.contract.items import ItemsRequest

    home.put("broken.pdf", broken)
    with home.opened() as desk:
        desk.ingest()
        coverage = desk.facade.library.coverage(CoverageRequest(doc_path="broken.pdf"))
        assert (coverage.doc_id, coverage.totals.failed, coverage.needs_attention) == (None, 1, True)
        (item,) = desk.facade.library.items(ItemsRequest(attention=True)).items
        assert (item.doc_path, item.next_step) == ("broken.pdf", coverage.next_step)
        assert desk.facade.viewer.file(item.item_id).media_type == "application/pdf"
