"""Cited words marked right: however a page is turned, cropped, scanned or set in columns, and over two pages."""

from __future__ import annotations

import itertools

import pytest

from tests.unit.adapters.parsers.pdf.making import KnownReader, check_places, covered, laid_out, marked, read

# Enough words to fill two columns of half a page; each number is said once, so every quote is unique.
NUMBERED = [f"the {number}th lantern hung over the harbour" for number in range(100, 150)]
TEXT = "In the evening " + ", ".join(NUMBERED) + " and then it was dark."


@pytest.mark.parametrize(
    ("turn", "crop", "scanned", "columns"),
    list(itertools.product((0, 90, 180, 270), (False, True), (False, True), (1, 2))),
)
def test_a_quote_is_marked_where_it_is_displayed(turn: int, crop: bool, scanned: bool, columns: int) -> None:
    made = laid_out([TEXT], turn=turn, crop=crop, columns=columns, scanned=scanned)
    document = read(made.data, KnownReader([made.words]))
    check_places(document)
    assert [unit.state for unit in document.coverage] == ["ocr" if scanned else "text"]
    assert "outside" not in document.pages[0].text
    words = TEXT.split()
    for first, last in ((0, 1), (10, 30), (130, 175), (len(words) - 30, len(words))):
        share, area = covered(marked(document, " ".join(words[first:last]))[1], made.truth(first, last))
        assert share >= 0.75
        assert area < 2.5


@pytest.mark.parametrize(("turn", "scanned"), list(itertools.product((0, 90), (False, True))))
def test_a_passage_over_two_pages_is_one_block_marked_on_both(turn: int, scanned: bool) -> None:
    first, second = "Opening words. " + ", ".join(NUMBERED), "and " + ", ".join(NUMBERED[::-1]) + " ended the night."
    made = laid_out([first, second], turn=turn, scanned=scanned)
    document = read(made.data, KnownReader([[w for w in made.words if w.page == page] for page in (1, 2)]))
    check_places(document)
    cut = len(first.split())
    words = (first + " " + second).split()
    rects = marked(document, " ".join(words[cut - 20 : cut + 20]))
    assert sorted(rects) == [1, 2]
    for page, truth in ((1, made.truth(cut - 20, cut)), (2, made.truth(cut, cut + 20))):
        share, area = covered(rects[page], truth)
        assert share >= 0.75
        assert area < 2.5


def test_a_new_sentence_on_the_next_page_is_a_block_of_its_own() -> None:
    made = laid_out(["The first page ends here.", "The second one begins anew and ends."])
    assert [block.text for block in read(made.data).blocks] == [
        "The first page ends here.",
        "The second one begins anew and ends.",
    ]
