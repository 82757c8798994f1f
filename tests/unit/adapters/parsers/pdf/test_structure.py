"""What a page says: paragraphs, headings, lists, tables, columns; what margins repeat; what stands beside the text."""

from __future__ import annotations

import pymupdf
import pytest

from kb.domain.blocks import BlockKind, Heading, Table
from kb.domain.documents import ParsedDocument
from tests.unit.adapters.parsers.pdf.making import check_places, laid_out, read

A4 = (595, 842)
PROSE = (
    "The ferry left before dawn with nobody on board but the crew.\n"
    "They had been told to wait for the mail, and the mail did not\n"
    "come until the tide had turned.\n"
)


def saved(document: pymupdf.Document) -> bytes:
    data: bytes = document.tobytes()
    return data


def parsed(document: pymupdf.Document) -> ParsedDocument:
    result = read(saved(document))
    check_places(result)
    return result


def kinds(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in document.blocks]


def test_headings_come_from_sizes_and_paragraphs_from_gaps() -> None:
    document = pymupdf.open()
    page = document.new_page(width=A4[0], height=A4[1])
    page.insert_text((72, 90), "Harbour log", fontsize=22)
    page.insert_text((72, 130), PROSE, fontsize=11)
    page.insert_text((72, 200), PROSE.replace("ferry", "tug"), fontsize=11)
    page.insert_text((72, 270), "Weather", fontsize=15)
    page.insert_text((72, 300), "Fog all day.", fontsize=11)
    result = parsed(document)
    joined = " ".join(PROSE.split())
    assert kinds(result) == [
        ("heading", "Harbour log"),
        ("paragraph", joined),
        ("paragraph", joined.replace("ferry", "tug")),
        ("heading", "Weather"),
        ("paragraph", "Fog all day."),
    ]
    assert [b.payload.level for b in result.blocks if isinstance(b.payload, Heading)] == [1, 2]
    assert result.blocks[-1].heading_path == ("Harbour log", "Weather")


def test_bookmarks_name_headings_that_look_like_text() -> None:
    document = pymupdf.open()
    page = document.new_page(width=A4[0], height=A4[1])
    page.insert_text((72, 100), "1.2 Of tides", fontsize=11)
    page.insert_text((72, 140), PROSE, fontsize=11)
    document.set_toc([[1, "Sea", 1], [2, "Of tides", 1]])
    heading = parsed(document).blocks[0]
    assert (heading.text, heading.payload) == ("1.2 Of tides", Heading(2))


def test_a_word_cut_at_the_end_of_a_line_is_put_together_and_keeps_two_boxes() -> None:
    document = pymupdf.open()
    page = document.new_page(width=A4[0], height=A4[1])
    page.insert_text(
        (72, 100), "The harbour-master wrote that the light-\nhouse was dark, and the harbour-\nmaster was right."
    )
    result = parsed(document)
    assert result.blocks[0].text == (
        "The harbour-master wrote that the lighthouse was dark, and the harbour-master was right."
    )
    text = result.pages[0].text
    start = text.index("lighthouse")
    words = [word for word in result.pages[0].words if word.start < start + 10 and start < word.end]
    assert [(text[word.start : word.end], word.line) for word in words] == [("light", 0), ("house", 1)]


def test_chinese_lines_are_joined_without_spaces() -> None:
    document = pymupdf.open()
    page = document.new_page(width=A4[0], height=A4[1])
    page.insert_text(
        (72, 100), "知识库把所有的资料放在一起，\n并且记住每一句话的出处。", fontname="china-s", fontsize=12
    )
    assert kinds(parsed(document)) == [("paragraph", "知识库把所有的资料放在一起，并且记住每一句话的出处。")]


def test_a_title_across_two_columns_comes_before_both() -> None:
    document = pymupdf.open()
    page = document.new_page(width=A4[0], height=A4[1])
    page.insert_text((72, 80), "A title that runs over the whole width of the page", fontsize=18)
    left = [f"left line {number} is written to the edge" for number in range(8)]
    right = [f"right line {number} is written to the edge" for number in range(8)]
    page.insert_text((72, 120), left, fontsize=10)
    page.insert_text((310, 120), right, fontsize=10)
    page.insert_text((72, 300), "Between the columns stands a line that crosses the gutter as well", fontsize=10)
    page.insert_text((72, 330), [line.replace("left", "lower left") for line in left], fontsize=10)
    page.insert_text((310, 330), [line.replace("right", "lower right") for line in right], fontsize=10)
    text = parsed(document).pages[0].text
    places = [text.index(part) for part in ("A title", "left line 0", "left line 7", "right line 0", "right line 7")]
    places += [text.index(part) for part in ("Between", "lower left line 0", "lower left line 7", "lower right line 0")]
    assert places == sorted(places)


def test_three_columns_are_read_one_after_the_other() -> None:
    words = " ".join(f"word{number:03} follows word{number - 1:03}" for number in range(1, 60))
    result = read(laid_out([words], columns=3).data)
    check_places(result)
    assert " ".join(result.pages[0].text.split()) == words


def test_a_ruled_table_keeps_its_cells_and_every_row_its_place() -> None:
    rows = [["Port", "Depth", "Berths"], ["Busan", "17 m", "42"], ["Incheon", "14 m", "28"], ["Mokpo", "9 m", "11"]]
    document = pymupdf.open()
    page = document.new_page(width=A4[0], height=A4[1])
    page.insert_text((72, 80), "Depths of the ports in this year:", fontsize=11)
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            box = pymupdf.Rect(72 + column * 120, 100 + number * 24, 192 + column * 120, 124 + number * 24)
            page.draw_rect(box)
            page.insert_text((box.x0 + 5, box.y1 - 8), cell, fontsize=11)
    page.insert_text((72, 230), "All at low water.", fontsize=11)
    result = parsed(document)
    assert [block.kind for block in result.blocks] == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.PARAGRAPH]
    table = result.blocks[1]
    assert table.payload == Table(tuple(rows[0]), tuple(tuple(row) for row in rows[1:]))
    assert table.text.splitlines() == [" | ".join(row) for row in rows]
    assert len(table.segments) == 4


def test_rows_in_aligned_columns_are_a_table_without_lines() -> None:
    rows = [("Item", "Pieces", "Price"), ("Rope", "12", "40"), ("Anchor", "1", "900"), ("Paint", "6", "55")]
    document = pymupdf.open()
    page = document.new_page(width=A4[0], height=A4[1])
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            page.insert_text((72 + column * 150, 100 + number * 18), cell, fontsize=11)
    result = parsed(document)
    assert [block.payload for block in result.blocks] == [Table(rows[0], tuple(rows[1:]))]


def test_labels_and_values_stay_in_their_rows() -> None:
    document = pymupdf.open()
    page = document.new_page(width=A4[0], height=A4[1])
    for number, (label, value) in enumerate((("Ship", "Aurora"), ("Flag", "Korea"), ("Built", "1987"), ("Crew", "12"))):
        page.insert_text((72, 100 + 16 * number), label)
        page.insert_text((260, 100 + 16 * number), value)
    assert kinds(parsed(document)) == [("paragraph", "Ship Aurora\nFlag Korea\nBuilt 1987\nCrew 12")]


def test_items_are_lines_of_a_list() -> None:
    document = pymupdf.open()
    page = document.new_page(width=A4[0], height=A4[1])
    page.insert_text((72, 100), ["Bring these things with you:", "1. a lamp that burns", "2. a rope", "3. bread"])
    assert kinds(parsed(document)) == [
        ("paragraph", "Bring these things with you:"),
        ("list", "1. a lamp that burns\n2. a rope\n3. bread"),
    ]


def test_running_headers_are_kept_once_and_page_numbers_left_out() -> None:
    document = pymupdf.open()
    for number in range(1, 6):
        page = document.new_page(width=A4[0], height=A4[1])
        page.insert_text((72, 40), "Annual report of the harbour office")
        page.insert_text((72, 100), [f"Chapter {number} tells of year {1990 + 3 * number}", "which was a long one."])
        page.insert_text((290, 815), f"- {number} -")
    result = parsed(document)
    texts = [block.text for block in result.blocks]
    assert texts.count("Annual report of the harbour office") == 1
    assert [text for text in texts if text.startswith("Chapter")] == [
        f"Chapter {number} tells of year {1990 + 3 * number} which was a long one." for number in range(1, 6)
    ]
    assert not any(text.startswith("- ") for text in texts)


def test_different_dates_at_the_top_of_each_page_are_text() -> None:
    document = pymupdf.open()
    for day in (3, 17, 9, 28):
        page = document.new_page(width=A4[0], height=A4[1])
        page.insert_text((72, 40), f"Entry of day {day}")
        page.insert_text((72, 100), ["The sea was calm and nothing", "happened that we know of."])
    texts = [block.text for block in parsed(document).blocks]
    assert [f"Entry of day {day}" in texts for day in (3, 17, 9, 28)] == [True] * 4


def test_numbered_single_lines_at_the_top_are_not_taken_for_headers() -> None:
    document = pymupdf.open()
    for number in range(1, 5):
        document.new_page(width=A4[0], height=A4[1]).insert_text((72, 72), f"This is page number {number} about eels")
    texts = [block.text for block in parsed(document).blocks]
    assert texts == [f"This is page number {number} about eels" for number in range(1, 5)]


def test_targets_of_links_values_of_forms_and_notes_are_found_in_their_boxes() -> None:
    document = pymupdf.open()
    page = document.new_page(width=A4[0], height=A4[1])
    page.insert_text((72, 100), "See the chart and tell us your name.")
    page.insert_link(
        {"kind": pymupdf.LINK_URI, "from": pymupdf.Rect(90, 88, 140, 104), "uri": "https://example.org/chart"}
    )
    field = pymupdf.Widget()
    field.field_type, field.field_name = pymupdf.PDF_WIDGET_TYPE_TEXT, "name"
    field.field_value, field.rect = "Hong Gildong", pymupdf.Rect(72, 200, 300, 220)
    page.add_widget(field)
    page.add_text_annot((400, 300), "check this depth again")
    page.set_rotation(90)
    result = parsed(document)
    text = result.pages[0].text
    for words in ("https://example.org/chart", "Hong Gildong", "check this depth again"):
        assert sum(words in block.text for block in result.blocks) == 1
    start = text.index("https://")
    box = next(word for word in result.pages[0].words if word.start == start)
    # A page of 842 x 595 as displayed: what stood at (90, 88) now stands at (842 - 104, 90).
    assert abs(box.x0 / 100_000 * 842 - (842 - 104)) < 1
    assert abs(box.y0 / 100_000 * 595 - 90) < 1


def test_lines_that_lie_on_their_side_are_joined_all_the_same() -> None:
    document = pymupdf.open()
    page = document.new_page(width=A4[0], height=A4[1])
    lines = PROSE.splitlines()
    for number, line in enumerate(lines):
        page.insert_text((100 + 14 * number, 700), line, rotate=90)
    assert kinds(parsed(document)) == [("paragraph", " ".join(PROSE.split()))]


def test_what_the_file_says_of_itself_is_front_matter_when_meant() -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 100), "Text.")
    document.set_metadata(
        {"title": "Of ferries", "author": "Kim", "keywords": "sea, mail", "creationDate": "D:20240229101530+09'00'"}
    )
    assert dict(parsed(document).front_matter) == {
        "title": "Of ferries",
        "author": "Kim",
        "tags": ["sea", "mail"],
        "created": "2024-02-29T10:15:30+09:00",
    }
    document.set_metadata({"title": "Microsoft Word - draft3.docx", "author": "", "keywords": "", "creationDate": "?"})
    assert dict(parsed(document).front_matter) == {}


def test_attached_files_become_members_with_harmless_names() -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 100), "Text.")
    document.embfile_add("one", b"a,b\n", filename="../../data.csv")
    document.embfile_add("two", b"c", filename="C:\\x\\data.csv")
    members = parsed(document).members
    assert [(member.name, member.data) for member in members] == [("data.csv", b"a,b\n"), ("2-data.csv", b"c")]


def test_a_crop_box_hides_what_it_cuts_off_and_text_off_the_page_is_kept() -> None:
    document = pymupdf.open()
    page = document.new_page(width=300, height=300)
    page.insert_text((40, 100), "inside")
    page.insert_text((40, 20), "cropped")
    page.insert_text((40, 400), "below")
    assert [block.text for block in parsed(document).blocks] == ["cropped", "inside", "below"]
    page.set_cropbox(pymupdf.Rect(0, 50, 300, 300))
    document = pymupdf.open(stream=saved(document))
    assert [block.text for block in parsed(document).blocks] == ["inside"]


@pytest.mark.parametrize("text", ["ﬁsh and ﬂour of the oﬃce", "fish and flour of the office"])
def test_ligatures_are_spelled_out(text: str) -> None:
    from kb.adapters.parsers.pdf.letters import cleaned

    assert " ".join(cleaned(word) for word in text.split()) == "fish and flour of the office"
