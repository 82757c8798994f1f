from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
from kb.adapters.parsers.web.html import HtmlParser
from kb.domain.blocks import Code, Table
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from tests.fakes.format_reading import ledger, parse, short_id, shown

PARSER = HtmlParser(CharsetNormalizerDecoder())

PAGE = """<!DOCTYPE html><html lang="ko"><head><title>Kebab &amp; 빵</title>
<meta name="author" content="Kim"><meta property="article:published_time" content="2026-03-01T12:00:00+09:00">
<style>p { color: red }</style><script>let words = "never seen"</script></head><body>
<nav><a href="/">Home</a></nav>
<p>Before any heading.</p>
<h1>Dough</h1>
<p>Flour, water,<br>10<sup>2</sup> g of <b>sa</b>lt.</p>
<ul><li>knead<ol><li>fold<li>turn</ol><li>rest</ul>
<h2>Oven</h2>
<blockquote><p>Hot, hotter.</blockquote>
<table><caption>Heat</caption><tr><th>Bread<th>°C<tr><td rowspan=2>Rye<td>250<tr><td>230</table>
<pre class="language-python">if hot:
    bake()</pre>
<figure><img src="loaf.jpg" alt="A loaf"><figcaption>Ready</figcaption></figure>
</body></html>"""


def test_a_page_becomes_blocks_in_numbered_sections() -> None:
    document = parse(PARSER, PAGE)
    assert shown(document) == [
        ("paragraph", 1, "Before any heading."),
        ("heading", 1, "Dough"),
        ("paragraph", 1, "Flour, water,\n10^2 g of salt."),
        ("list", 1, "- knead\n  1. fold\n  2. turn\n- rest"),
        ("heading", 2, "Oven"),
        ("quote", 2, "Hot, hotter."),
        ("paragraph", 2, "Heat"),
        ("table", 2, "Bread | °C\nRye | 250\nRye | 230"),
        ("code", 2, "if hot:\n    bake()"),
        ("image_ref", 2, "A loaf"),
        ("paragraph", 2, "Ready"),
    ]
    assert document.blocks[-1].heading_path == ("Dough", "Oven")
    assert document.blocks[8].payload == Code("python")


def test_a_page_says_its_title_author_date_and_language() -> None:
    facts = parse(PARSER, PAGE).front_matter
    assert facts == {"title": "Kebab & 빵", "author": "Kim", "created": "2026-03-01T12:00:00+09:00", "lang": "ko"}


def test_linked_data_gives_date_and_author_where_no_meta_element_does() -> None:
    page = (
        '<script type="application/ld+json">{"datePublished": "2026-01-02", "author": [{"name": "Lee"}]}</script><p>x'
    )
    assert parse(PARSER, page).front_matter == {"created": "2026-01-02T00:00:00", "author": "Lee"}


def test_navigation_is_left_out_and_the_ledger_says_so() -> None:
    assert ledger(parse(PARSER, PAGE)) == [(1, 2, "text", None), (3, 3, "skipped", "navigation")]


def test_a_page_of_nothing_but_navigation_is_read() -> None:
    document = parse(PARSER, "<nav><ul><li>Home<li>Prices</ul></nav>")
    assert shown(document) == [("list", 1, "- Home\n- Prices")]
    assert ledger(document) == [(1, 1, "text", None)]


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>secret()</script>",
        "<style>secret</style>",
        "<template><p>secret</p></template>",
        "<noscript>secret</noscript>",
        "<div hidden>secret</div>",
        '<div style="color:red; DISPLAY : none">secret</div>',
        "<dialog>secret</dialog>",
        "<!-- secret -->",
        "<select><option>secret</select>",
        '<iframe srcdoc="secret">secret</iframe>',
        "<svg><title>secret</title></svg>",
        '<img src="x" onerror="secret()">',
    ],
    ids=short_id,
)
def test_what_a_reader_does_not_see_is_not_read(hidden: str) -> None:
    assert shown(parse(PARSER, f"<p>before</p>{hidden}<p>after</p>")) == [
        ("paragraph", 1, "before"),
        ("paragraph", 1, "after"),
    ]


@pytest.mark.parametrize(
    "seen",
    ["<details><summary>words</summary></details>", '<p aria-hidden="true">words', "<svg><text>words</text></svg>"],
    ids=short_id,
)
def test_what_a_reader_can_see_is_read(seen: str) -> None:
    assert [text for _, _, text in shown(parse(PARSER, seen))] == ["words"]


def test_header_cells_that_span_columns_name_each_of_them() -> None:
    document = parse(
        PARSER,
        "<table><thead><tr><th rowspan=2>City<th colspan=2>2025<tr><th>Q1<th>Q2</thead><tr><td>Seoul<td>4<td>5</table>",
    )
    assert document.blocks[0].payload == Table(("City", "2025 / Q1", "2025 / Q2"), (("Seoul", "4", "5"),))


def test_a_table_that_only_arranges_a_page_is_ordinary_text() -> None:
    page = "<table><tr><td><h2>News</h2><p>One.<td><table><tr><th>a<th>b<tr><td>1<td>2</table></table>"
    assert shown(parse(PARSER, page)) == [
        ("heading", 1, "News"),
        ("paragraph", 1, "One."),
        ("table", 1, "a | b\n1 | 2"),
    ]


def test_a_table_within_a_cell_of_a_real_table_stays_in_that_cell() -> None:
    page = "<table><tr><th>a<th>b<tr><td>1<td><table><tr><td>x<td>y</table></table>"
    assert shown(parse(PARSER, page)) == [("table", 1, "a | b\n1 | x, y")]


def test_names_and_values_read_as_pairs() -> None:
    page = "<table><tr><th>Born<td>1900<tr><th>Died<td>1980</table><dl><dt>Rye<dd>A grain.</dl>"
    assert [text for _, _, text in shown(parse(PARSER, page))] == ["Born: 1900", "Died: 1980", "Rye: A grain."]


def test_readings_of_characters_stand_after_the_word() -> None:
    page = "<p><ruby>東<rp>(</rp><rt>とう</rt>京<rt>きょう</rt></ruby>へ"
    assert shown(parse(PARSER, page)) == [("paragraph", 1, "東京(とうきょう)へ")]


@pytest.mark.parametrize(
    ("page", "encoding"),
    [
        ("<meta charset=euc-kr><p>한국어 문서".encode("cp949"), "cp949"),
        ("<meta http-equiv=Content-Type content='text/html; charset=gb2312'><p>中文网页".encode("gb18030"), "gb18030"),
        ("<?xml version='1.0' encoding='shift_jis'?><html><p>日本語".encode("cp932"), "cp932"),
        ("<meta charset=iso-2022-jp><p>日本語".encode("iso2022_jp"), "iso2022_jp"),
        ("<meta charset=iso-8859-1><p>한국어 문서".encode(), "utf-8"),
        ("\ufeff<p>한국어".encode("utf-16"), "utf-16-le"),
    ],
    ids=short_id,
)
def test_encodings_are_read_as_declared_unless_the_bytes_are_utf8(page: bytes, encoding: str) -> None:
    document = parse(PARSER, page)
    assert document.encoding == encoding
    assert document.blocks[0].text in {"한국어 문서", "中文网页", "日本語", "한국어"}


def test_words_below_a_hundred_thousand_elements_are_found() -> None:
    document = parse(PARSER, "<div>" * 100_000 + "deep words" + "</div>" * 100_000 + "<p>after")
    assert [text for _, _, text in shown(document)] == ["deep words", "after"]


@pytest.mark.parametrize(
    "opened", ["<table><tr><td>", "<table><tr><th>a<td>", "<ul><li>", "<blockquote>", "<b><i>"], ids=short_id
)
def test_deep_nesting_of_any_kind_keeps_the_words(opened: str) -> None:
    assert "deep words" in parse(PARSER, opened * 20_000 + "deep words").blocks[-1].text


def test_a_self_closing_script_of_xhtml_does_not_swallow_the_page() -> None:
    page = (
        '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY x "y">]><html xmlns="http://www.w3.org/1999/xhtml"><head>'
        '<script src="a.js"/><title/></head><body><p>words<![CDATA[ & <more>]]></p></body></html>'
    )
    assert shown(parse(PARSER, page)) == [("paragraph", 1, "words & <more>")]


def saved(*parts: str) -> bytes:
    body = "".join(f"--X\r\n{part}\r\n" for part in parts)
    head = 'From: <Saved by a browser>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\tboundary="X"'
    return f"{head}\r\n\r\n{body}--X--\r\n".encode()


def test_a_page_saved_as_one_file_is_taken_out_of_it() -> None:
    page = "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
    document = parse(PARSER, saved(f"{page}<title>T</title><p>=ED=95=9C words</p>", "Content-Type: image/png\r\n\r\nx"))
    assert shown(document) == [("paragraph", 1, "한 words")]
    assert document.front_matter == {"title": "T"}


def test_a_file_that_should_hold_a_page_and_holds_none_is_damaged() -> None:
    with pytest.raises(Unreadable) as caught:
        parse(PARSER, saved("Content-Type: image/png\r\n\r\nx"))
    assert caught.value.reason == "damaged"


def test_an_empty_page_is_blank() -> None:
    assert ledger(parse(PARSER, b"")) == [(1, 1, "blank", None)]
    assert ledger(parse(PARSER, "<html><body> </body></html>")) == [(1, 1, "blank", None)]


@pytest.mark.parametrize(
    ("page", "limits", "reason"),
    [
        ("<p>" + "word " * 50, ReadingLimits(characters=100), "too_big"),
        ("<table>" + "<tr><th>a<td colspan=1000>b" * 20, ReadingLimits(cells=500), "too_complex"),
        ("<table><tr><td rowspan=65534 colspan=1000>a<th>b" + "<tr><td>x" * 5_000, ReadingLimits(), "too_complex"),
        (bytes(range(256)) * 8, ReadingLimits(), "wrong_type"),
        (b"\x00" * 2_000, ReadingLimits(), "wrong_type"),
    ],
    ids=short_id,
)
def test_a_page_beyond_the_limits_fails_with_its_reason(page: str | bytes, limits: ReadingLimits, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(PARSER, page, limits=limits)
    assert caught.value.reason == reason


@given(
    st.lists(
        st.sampled_from(
            ["<h1>", "</h1>", "<p>", "</p>", "<ul>", "<ol start=3>", "<li>", "</ul>", "<table>", "<tr>", "<td>", "<th>",
             "</table>", "<pre>", "</pre>", "<nav>", "</nav>", "<dl>", "<dt>", "<dd>", "<br>", "<img alt=a>", "<sup>",
             "2", "</sup>", "<ruby>", "<rt>", "</ruby>", "<svg>", "<title>", "</title>", "<blockquote>", "x", " ",
             "<caption>", "<thead>", "</thead>", "<div hidden>", "</div>", "<figure>", "</li>", "&amp;", "<![CDATA["]
        ),
        max_size=40,
    )
)  # fmt: skip
def test_any_order_of_elements_keeps_the_ledger_whole(pieces: list[str]) -> None:
    document = parse(PARSER, "".join(pieces))
    assert document.coverage[0].start == 1
    for before, after in zip(document.coverage, document.coverage[1:], strict=False):
        assert after.start == before.end + 1
    assert all(number <= document.coverage[-1].end for _, number, _ in shown(document))
