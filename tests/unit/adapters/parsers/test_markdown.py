"""Markdown to blocks: kinds, plain words, and the line every word came from."""

from __future__ import annotations

import pytest

from kb.adapters.parsers.markdown.parser import MAX_BYTES, MAX_LINE, MarkdownItParser
from kb.domain.blocks import BlockKind, Code, Heading, MediaRef, Prose, Table
from kb.domain.documents import ParsedBlock, ParsedDocument
from kb.domain.inlines import Link, Styled
from kb.domain.paths import WorkspacePath
from kb.domain.spans import LineSpan
from tests.fakes.parsing import Utf8Decoder, lines_of

PATH = WorkspacePath("notes/a.md")


def parse(text: str) -> ParsedDocument:
    return MarkdownItParser(Utf8Decoder()).parse(text.encode("utf-8", errors="surrogatepass"), PATH)


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parse(text).blocks]


def only(text: str) -> ParsedBlock:
    (block,) = parse(text).blocks
    return block


def words(text: str) -> str:
    return " ".join(block.text for block in parse(text).blocks)


def test_a_heading_opens_a_path_that_holds_its_own_title() -> None:
    found = [(b.text, b.heading_path) for b in parse("# A\n\nx\n\n## B\n\n### C\n\n## D\n\ny").blocks]
    assert found == [
        ("A", ("A",)),
        ("x", ("A",)),
        ("B", ("A", "B")),
        ("C", ("A", "B", "C")),
        ("D", ("A", "D")),
        ("y", ("A", "D")),
    ]


def test_a_heading_loses_its_anchor() -> None:
    assert blocks("## 概述 {#overview}\n\n## 개요 {/*overview*/}") == [("heading", "概述"), ("heading", "개요")]


def test_a_heading_over_two_lines_is_one_title_with_two_places() -> None:
    block = only("One\ntwo\n===")
    assert block.payload == Heading(1)
    assert block.heading_path == ("One two",)
    assert lines_of(block.segments, block.text) == [("One", 1), ("two", 2)]


def test_markup_goes_and_words_stay() -> None:
    block = only("A **bold** _word_, `code_x`, [text](http://x.y/z) and ~~old~~ news &amp; more \\* <b>tag</b>.")
    assert block.text == "A bold word, code_x, text and old news & more * tag."
    assert isinstance(block.payload, Prose)
    assert block.payload.inlines == (
        Styled("bold", "strong"),
        Styled("word", "emph"),
        Styled("code_x", "code"),
        Link("text", "http://x.y/z"),
    )


def test_a_wrapped_paragraph_is_one_run_of_sentences_with_a_place_for_each_line() -> None:
    block = only("first line\nsecond *line\nthird* line  \nafter a break")
    assert block.text == "first line second line third line\nafter a break"
    assert lines_of(block.segments, block.text) == [
        ("first line", 1),
        ("second line", 2),
        ("third line", 3),
        ("after a break", 4),
    ]


def test_a_line_end_inside_chinese_or_japanese_is_no_space_but_in_korean_it_is() -> None:
    assert only("这是一个很长的\n句子。").text == "这是一个很长的句子。"
    assert only("한국어는\n띄어 쓴다").text == "한국어는 띄어 쓴다"


def test_a_link_over_two_lines_does_not_move_what_follows() -> None:
    block = only("see [a](\nhttp://x\n'title') here\nand there")
    assert lines_of(block.segments, block.text) == [("see a", 1), (" here", 3), ("and there", 4)]


def test_a_code_span_over_two_lines_is_cited_with_both() -> None:
    block = only("x `a\nb` y")
    spans = [(block.text[s.start : s.end], s.span) for s in block.segments]
    assert spans == [("x ", LineSpan(1, 1)), ("a b", LineSpan(1, 2)), (" y", LineSpan(2, 2))]


def test_a_list_is_one_block_with_its_items_on_lines() -> None:
    block = only("- one\n- two\n  wrapped\n  1. three\n\n     ```py\n     x = 1\n     ```\n  2. four\n     > five")
    assert block.kind is BlockKind.LIST
    assert block.text == "one\ntwo wrapped\n  1. three\n  x = 1\n  2. four\n  five"
    assert lines_of(block.segments, block.text) == [
        ("one", 1),
        ("two", 2),
        ("wrapped", 3),
        ("three", 4),
        ("x = 1", 7),
        ("four", 9),
        ("five", 10),
    ]
    assert block.span == LineSpan(1, 10)


def test_an_ordered_list_keeps_its_numbers_and_tasks_their_boxes() -> None:
    assert only("7. seven\n8. eight").text == "7. seven\n8. eight"
    assert only("- [ ] open\n- [x] done").text == "[ ] open\n[x] done"


def test_a_fence_keeps_its_lines_as_they_are() -> None:
    block = only("```py title\nif x:\n\n    y()\n```")
    assert block.payload == Code("py")
    assert block.text == "if x:\n\n    y()"
    assert lines_of(block.segments, block.text) == [("if x:", 2), ("    y()", 4)]
    assert block.span == LineSpan(1, 5)


def test_an_unclosed_fence_reaches_to_the_end() -> None:
    assert blocks("```\nx = 1\ny = 2") == [("code", "x = 1\ny = 2")]


def test_a_table_has_a_line_a_row() -> None:
    block = only("| a | `b` |\n|---|:-:|\n| **1** | [2](u) |\n| 3 |")
    assert block.text == "a | b\n1 | 2\n3 | "
    assert block.payload == Table(("a", "b"), (("1", "2"), ("3", "")))
    assert lines_of(block.segments, block.text) == [("a", 1), ("b", 1), ("1", 3), ("2", 3), ("3", 4)]


def test_cells_beyond_the_header_are_kept_and_told() -> None:
    document = parse("| a | b |\n|---|---|\n| 1 | 2 | 3 | 4 |")
    assert document.blocks[0].text == "a | b\n1 | 2 | 3 | 4"
    assert [(w.kind, w.note) for w in document.warnings] == [
        ("malformed_table", "line 3: this row has more cells than the header; all are kept")
    ]


def test_a_table_whose_rule_does_not_fit_is_text_and_told() -> None:
    document = parse("a | b\n-- | -- | --\n1 | 2")
    assert document.blocks[0].text == "a | b\n-- | -- | --\n1 | 2"
    assert document.warnings[0].kind == "malformed_table"


def test_a_quote_is_one_block() -> None:
    block = only("> one\n> two\n>\n> - three")
    assert (block.kind, block.text) == (BlockKind.QUOTE, "one two\nthree")
    assert lines_of(block.segments, block.text) == [("one", 1), ("two", 2), ("three", 4)]


def test_a_picture_alone_is_a_reference_with_its_words() -> None:
    block = only("![A red fox](img/fox.png)")
    assert (block.kind, block.text, block.payload) == (
        BlockKind.IMAGE_REF,
        "A red fox",
        MediaRef("img/fox.png", "A red fox"),
    )


def test_a_picture_in_a_sentence_keeps_the_sentence_whole_and_is_no_second_text() -> None:
    found = parse("The ![logo](l.png) is new.").blocks
    assert [(b.kind.value, b.text) for b in found] == [("paragraph", "The logo is new."), ("image_ref", "")]
    assert found[1].payload == MediaRef("l.png", "logo")


def test_a_picture_without_words_is_found_by_its_name() -> None:
    assert only("![](img/red%20fox.png)").text == "red fox.png"


@pytest.mark.parametrize(
    ("text", "kind", "src", "words"),
    [
        ("[Stand-up](rec/monday.mp3)", BlockKind.AUDIO_REF, "rec/monday.mp3", "Stand-up"),
        ("![[voice memo.m4a]]", BlockKind.AUDIO_REF, "voice memo.m4a", "voice memo.m4a"),
        ("![[board.png|300]]", BlockKind.IMAGE_REF, "board.png", "board.png"),
        ("![[board.png|the plan]]", BlockKind.IMAGE_REF, "board.png", "the plan"),
    ],
)
def test_recordings_and_embeds_are_references(text: str, kind: BlockKind, src: str, words: str) -> None:
    block = only(text)
    assert (block.kind, block.text) == (kind, words)
    assert block.payload == MediaRef(src, words)


def test_wiki_links_show_their_text_and_keep_their_target() -> None:
    block = only("See [[Plan]], [[Plan|the plan]] and [[Plan#Dates]].")
    assert block.text == "See Plan, the plan and Plan > Dates."
    assert isinstance(block.payload, Prose)
    assert [(i.text, i.href, i.kind) for i in block.payload.inlines if isinstance(i, Link)] == [
        ("Plan", "Plan", "wiki"),
        ("the plan", "Plan", "wiki"),
        ("Plan > Dates", "Plan#Dates", "wiki"),
    ]


def test_a_wiki_link_in_a_table_may_escape_its_bar() -> None:
    assert only("| a |\n|---|\n| [[x\\|y]] |").text == "a\ny"


def test_a_footnote_is_a_paragraph_and_its_mark_is_gone() -> None:
    text = "Water boils[^1] here [^2].\n\n[^1]: At 100 degrees\n    at sea level.\n\n[^unused]: Nobody points here."
    assert blocks(text) == [
        ("paragraph", "Water boils here [^2]."),
        ("paragraph", "At 100 degrees at sea level."),
        ("paragraph", "Nobody points here."),
    ]


def test_html_shows_its_words_only() -> None:
    text = (
        "<div class='x'>\n<p>Hello <b>world</b> &lt;3</p>\n<script>evil()</script>\n<!-- hidden\nlines -->\nbye\n</div>"
    )
    block = only(text)
    assert block.text == "Hello world <3\nbye"
    assert lines_of(block.segments, block.text) == [("Hello world <3", 2), ("bye", 6)]


def test_html_never_closed_keeps_its_words() -> None:
    assert "all that follows" in words("<div><script> all that follows\n")
    assert "all that follows" in words("<!-- all that follows\n\nand more")


def test_a_power_is_not_glued_to_its_base() -> None:
    assert only("from 2<sup>8</sup> to x").text == "from 2^8 to x"


def test_notice_fences_leave_their_title_and_their_inside() -> None:
    assert blocks("::: tip 안내\nInside **it**\n:::\nafter") == [
        ("paragraph", "tip 안내"),
        ("paragraph", "Inside it"),
        ("paragraph", "after"),
    ]


def test_formulas_keep_their_words() -> None:
    assert only("$$ \\frac{mass}{volume} $$").text == "$$ \\frac{mass}{volume} $$"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_editors_count_them(end: str) -> None:
    document = parse(end.join(["---", "title: x", "---", "# A", "", "one\u2028still one\x0c", "two", ""]))
    assert document.line_count == 7
    assert document.front_matter == {"title": "x"}
    found = [piece for block in document.blocks for piece in lines_of(block.segments, block.text)]
    assert found == [("A", 4), ("one\u2028still one\x0c", 6), ("two", 7)]


def test_a_line_of_odd_white_space_does_not_move_the_next() -> None:
    document = parse("a\n\n\u3000\n\u2028\nwords\n\x0c\nmore")
    found = [piece for block in document.blocks for piece in lines_of(block.segments, block.text)]
    assert found == [("a", 1), ("words", 5), ("more", 7)]


def test_tabs_indent_and_no_line_end_at_the_end_is_fine() -> None:
    document = parse("1.\tone\n\n\t\ttwo")
    assert document.line_count == 3
    assert words("1.\tone\n\n\t\ttwo").split() == ["1.", "one", "two"]


def test_text_is_nfc_and_its_places_fit_it() -> None:
    block = only("한글 한글".encode().decode())
    decomposed = "\u1112\u1161\u11ab\u1100\u1173\u11af"
    assert only(decomposed).text == "한글"
    assert only(f"*{decomposed}* x").segments[0].end == 4
    assert block.text == "한글 한글"


def test_nul_characters_and_halves_of_pairs_lose_nothing_else() -> None:
    assert only("be\0fore \ud800 af\0ter").text == "before \ufffd after"


def test_an_empty_file_and_one_of_blank_lines_have_no_blocks() -> None:
    assert parse("").blocks == ()
    assert parse("").line_count == 0
    assert parse(" \n\t\n\u3000\n").blocks == ()
    assert parse("---\n---\n\n***\n").blocks == ()


def test_quotes_inside_quotes_beyond_any_use_keep_their_words() -> None:
    assert words(">" * 50_000 + " deep down") == "deep down"
    nested = "".join(f"{'> ' * depth}q{depth}\n" for depth in range(1, 300))
    assert set(words(nested).split()) >= {f"q{depth}" for depth in range(1, 300)}


def test_lists_inside_lists_beyond_any_use_keep_their_words() -> None:
    nested = "".join(f"{'  ' * depth}- i{depth}\n" for depth in range(300))
    assert set(words(nested).split()) >= {f"i{depth}" for depth in range(300)}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["[", "![", "*a ", "**a", "`", "<a ", "[a](", "[^", "_a", "[[", "\\", "&", "~~"])
def test_fifty_thousand_openings_do_not_take_minutes(piece: str) -> None:
    for count in (50_000, 18_000 // len(piece)):
        assert parse("x " + piece * count + "end").blocks[-1].text.endswith("end")


@pytest.mark.timeout(60)
def test_a_line_of_millions_is_read_as_plain_text_and_told() -> None:
    document = parse("# A\n\n" + "word " * (MAX_LINE // 4))
    assert [w.kind for w in document.warnings] == ["extract_failed"]
    assert "plain text" in document.warnings[0].note
    assert document.blocks[0].text == "# A"
    assert len(document.blocks[1].text) > MAX_LINE


@pytest.mark.timeout(60)
def test_a_file_of_many_megabytes_is_read_as_plain_text_and_told() -> None:
    document = parse("Some *words*.\n\n" * (MAX_BYTES // 14))
    assert [w.kind for w in document.warnings] == ["extract_failed"]
    assert document.blocks[0].text == "Some *words*."
    assert document.blocks[-1].span == LineSpan(document.line_count - 1, document.line_count - 1)
