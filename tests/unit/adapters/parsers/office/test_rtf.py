r"""Rich text: code pages of fonts, Unicode with stand-ins, headings, tables, notes; nothing hidden."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.parsers.office.rtf import RtfParser
from kb.adapters.parsers.shared.building import clean
from kb.domain.coverage import CoverageUnit
from tests.unit.adapters.parsers.office.making import LIMITS, lines, png, read, reason_of

PARSER = RtfParser()
FONTS = (
    r"{\fonttbl{\f0 Times;}{\f1\fcharset129 Batang;}{\f2\fcharset134 SimSun;}{\f3\fcharset136 Ming;}"
    r"{\f4\fcharset128 Gothic;}}"
)


def rtf(body: str, page: int = 1252) -> bytes:
    return (rf"{{\rtf1\ansi\ansicpg{page}\deff0" + FONTS + body + "}").encode("latin-1")


def hexed(text: str, encoding: str) -> str:
    return "".join(rf"\'{byte:02x}" for byte in text.encode(encoding))


@pytest.mark.parametrize(
    ("font", "encoding", "text"),
    [
        (1, "cp949", "안녕하세요"),
        (2, "gbk", "你好，世界"),
        (3, "big5", "繁體中文"),
        (4, "cp932", "日本語"),
        (0, "cp1252", "Café"),
    ],
)
def test_bytes_are_read_in_the_code_page_of_their_font(font: int, encoding: str, text: str) -> None:
    assert lines(read(PARSER, rtf(rf"\f{font} {hexed(text, encoding)}\par"))) == [f"paragraph 1: {text}"]


def test_bytes_without_a_font_are_read_in_the_code_page_of_the_file() -> None:
    assert lines(read(PARSER, rtf(hexed("한글", "cp949"), 949))) == ["paragraph 1: 한글"]


def test_a_double_byte_letter_may_end_in_a_plain_letter() -> None:
    assert "ソ".encode("cp932") == b"\x83\\"
    assert lines(read(PARSER, rtf(r"\f4 \'83\\\'83A"))) == ["paragraph 1: ソア"]


def test_unicode_letters_leave_out_what_stands_in_for_them() -> None:
    assert lines(read(PARSER, rtf(r"\u-11082?\u8364 ?{\uc2\u44032\'b0\'a1}\uc0\u44033 x\u55357\u56832"))) == [
        "paragraph 1: 풶€가각x😀"
    ]


def test_headings_by_style_and_by_outline_level_number_the_sections() -> None:
    body = (
        r"{\stylesheet{\s0 Normal;}{\s1 heading 1;}{\s7\outlinelevel1 Mine;}}"
        r"before\par\pard\s1 One\par\pard text\par\pard\s7 Two\par\pard\outlinelevel0 Three\par\pard end"
    )
    document = read(PARSER, rtf(body))
    assert lines(document) == [
        "paragraph 1: before",
        "heading 1: One",
        "paragraph 1: text",
        "heading 2: Two",
        "heading 3: Three",
        "paragraph 3: end",
    ]
    assert document.coverage == (CoverageUnit("section", 1, 3, "text"),)


def test_tables_lists_notes_comments_and_boxes() -> None:
    body = (
        r"\trowd\pard\intbl Name\cell Note\cell\row\trowd\pard\intbl Ann\par Lee\cell a\cell\row"
        r"\pard{\listtext 1.\tab}\ls1 first\par\pard\ls1 second\par"
        r"\pard Text{\footnote {\super 1} At {\b the} foot}{\*\atnauthor Kim}{\*\annotation Really?}\par"
        r"{\shp{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt Box\par}}}"
    )
    assert lines(read(PARSER, rtf(body))) == [
        "table 1: Name | Note\nName: Ann Lee | Note: a",
        "list 1: - first\n- second",
        "paragraph 1: Text",
        "paragraph 1: 1 At the foot",
        "quote 1: Kim: Really?",
        "paragraph 1: Box",
    ]


def test_headers_come_once_at_the_end_and_what_is_not_shown_not_at_all() -> None:
    body = (
        r"{\info{\title Plan}{\author Ann}{\keywords a; b}{\creatim\yr2024\mo5\dy6}}{\header Secret Inc\par}"
        r"{\headerf Secret Inc}text"
        r"{\v hidden}{\deleted gone}{\*\unknown no}{\field{\*\fldinst HYPERLINK x}{\fldrslt link}}\par"
    )
    document = read(PARSER, rtf(body))
    assert lines(document) == ["paragraph 1: textlink", "paragraph 1: Secret Inc"]
    assert document.front_matter == {
        "title": "Plan",
        "author": "Ann",
        "tags": ["a", "b"],
        "created": "2024-05-06T00:00:00",
    }


def test_pictures_become_members_and_raw_bytes_are_stepped_over() -> None:
    picture = png(200, 100).hex()
    document = read(PARSER, rtf(r"a{\pict\pngblip " + picture + r"}{\pict\wmetafile8\bin4 }}}}b}c"))
    assert [member.name for member in document.members] == ["picture1.png"]
    assert document.members[0].data == png(200, 100)
    assert lines(document) == ["paragraph 1: ac"]


def test_the_unicode_form_is_taken_where_there_are_two() -> None:
    assert lines(read(PARSER, rtf(r"{\upr{old}{\*\ud{new\u54620?}}}"))) == ["paragraph 1: new한"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "wrong_type"), (b"plain text", "wrong_type"), (b"{\\rtf1" + b"{" * 5000, "too_complex")],
    ids=["empty", "text", "deep"],
)
def test_what_is_no_rich_text_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    assert reason_of(PARSER, data) == reason


def test_more_characters_than_allowed_are_too_big() -> None:
    assert reason_of(PARSER, rtf("x" * 30), replace(LIMITS, characters=20)) == "too_big"


@given(st.binary(max_size=200), st.integers(0, 200))
def test_whatever_follows_the_first_word_never_breaks_the_reader(noise: bytes, at: int) -> None:
    good = rtf(r"{\stylesheet{\s1 heading 1;}}\s1 One\par{\footnote x}\trowd\intbl a\cell\row{\pict\pngblip 00}")
    read(PARSER, good[: at + 6] + noise + good[at + 6 :])


@given(st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="\\{}|"), min_size=1, max_size=40))
def test_any_text_written_in_unicode_is_read_again(text: str) -> None:
    units = memoryview(text.encode("utf-16-le")).cast("H")
    body = "".join(rf"\u{unit - 65536 if unit > 32767 else unit}?" for unit in units)
    found = "".join(block.text for block in read(PARSER, rtf(body)).blocks)
    assert found == clean(text).strip()
