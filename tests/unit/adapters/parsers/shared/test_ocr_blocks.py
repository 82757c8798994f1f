from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.parsers.shared.ocr_blocks import page_from_ocr
from kb.domain.pages import SCALE, PageText
from kb.ingest.reading_ports import OcrLine, OcrPage, OcrWord


def line(text: str, block: int = 0, y: float = 0.0, confidence: float = 0.9) -> OcrLine:
    """A line whose words are cut at spaces; every character is ten pixels wide and twenty high."""
    words = []
    start = 0
    for word in text.split(" "):
        end = start + len(word)
        words.append(OcrWord(start, end, start * 10.0, y, end * 10.0, y + 20.0))
        start = end + 1
    return OcrLine(text, tuple(words), confidence, block)


def page(*lines: OcrLine) -> tuple[PageText, list[tuple[int, int]]]:
    return page_from_ocr(OcrPage(lines), 3, 595.0, 842.0, 1000, 2000)


def test_lines_of_a_paragraph_are_joined_with_a_space() -> None:
    text, paragraphs = page(line("the quick brown"), line("fox jumps"))
    assert text.text == "the quick brown fox jumps"
    assert paragraphs == [(0, len(text.text))]


def test_lines_of_chinese_and_japanese_are_joined_with_nothing() -> None:
    assert page(line("知识库读取"), line("每一页。"))[0].text == "知识库读取每一页。"
    assert page(line("これは"), line("「本」です"))[0].text == "これは「本」です"


def test_lines_of_korean_keep_the_space() -> None:
    assert page(line("모든 파일을"), line("읽는다"))[0].text == "모든 파일을 읽는다"


def test_a_latin_word_beside_chinese_keeps_a_space() -> None:
    assert page(line("使用 Kebab"), line("阅读"))[0].text == "使用 Kebab 阅读"


@pytest.mark.parametrize("hyphen", ["-", "\u2010", "\u00ad"])
def test_a_word_cut_by_a_hyphen_is_two_words_with_two_boxes_and_no_hyphen(hyphen: str) -> None:
    text, _ = page(line(f"a know{hyphen}"), line("ledge base", y=40))
    assert text.text == "a knowledge base"
    words = list(text.words)
    assert [text.text[w.start : w.end] for w in words] == ["a", "know", "ledge", "base"]
    assert [w.line for w in words] == [0, 0, 1, 1]
    assert words[1].y0 < words[2].y0


def test_a_hyphen_before_a_capital_or_after_a_number_stays() -> None:
    assert page(line("Jean-"), line("Paul"))[0].text == "Jean- Paul"
    assert page(line("1990-"), line("and on"))[0].text == "1990- and on"


def test_blocks_become_paragraphs_in_their_order() -> None:
    text, paragraphs = page(line("first", 0), line("second", 1), line("goes on", 1), line("third", 2))
    assert [text.text[start:end] for start, end in paragraphs] == ["first", "second goes on", "third"]


def test_boxes_are_fractions_of_the_page() -> None:
    (word,) = page(line("word", y=100.0))[0].words
    assert (word.x0, word.y0, word.x1, word.y1) == (0, 5_000, 4_000, 6_000)


def test_a_box_that_sticks_out_is_kept_inside() -> None:
    outside = OcrLine("word", (OcrWord(0, 4, -30.0, 1_990.0, 5_000.0, 2_400.0),), 1.0, 0)
    (word,) = page(outside)[0].words
    assert (word.x0, word.x1, word.y1) == (0, SCALE, SCALE)


def test_confidence_is_the_mean_over_characters() -> None:
    assert page(line("aaaaaaaa", confidence=0.5), line("bb", confidence=1.0))[0].confidence == pytest.approx(0.6)


def test_nothing_recognised_is_an_empty_page() -> None:
    text, paragraphs = page()
    assert (text.text, len(text.words), text.confidence, paragraphs) == ("", 0, None, [])


def test_control_characters_do_not_shift_places() -> None:
    text, paragraphs = page(line("\x00 one\x07 tw\x00o"), line("\x01", 1), line("three", 2))
    assert text.text == "one two\n\nthree"
    assert [text.text[w.start : w.end] for w in text.words] == ["one", "two", "three"]
    assert len(paragraphs) == 2


_WORDS = st.text(st.sampled_from("ab가나中文-。\x00\ud800"), min_size=1, max_size=5)
_LINES = st.tuples(st.lists(_WORDS, min_size=1, max_size=4).map(" ".join), st.integers(0, 1))


@given(st.lists(_LINES, max_size=8))
def test_every_word_is_where_its_range_says_and_paragraphs_hold_all_of_them(drawn: list[tuple[str, int]]) -> None:
    lines = []
    block = 0
    for text, step in drawn:
        block += step
        lines.append(line(text, block))
    read, paragraphs = page(*lines)
    assert [w.start for w in read.words] == sorted(w.start for w in read.words)
    for word in read.words:
        assert read.text[word.start : word.end].strip() == read.text[word.start : word.end] != ""
        assert any(start <= word.start and word.end <= end for start, end in paragraphs)
    assert "\n\n".join(read.text[start:end] for start, end in paragraphs) == read.text
    letters = "".join(read.text[w.start : w.end] for w in read.words)
    assert letters.replace("-", "") == "".join(c for t, _ in drawn for c in t if c not in " -\x00\ud800")
