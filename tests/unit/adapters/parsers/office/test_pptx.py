"""Presentations: every slide in its order, shapes as they are looked at, what hangs on a slide after it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from kb.adapters.parsers.office.pptx import PptxParser
from kb.domain.coverage import CoverageUnit
from tests.unit.adapters.parsers.office.making import LAUGHS, LIMITS, R, lines, png, read, reason_of, relations, zipped

PARSER = PptxParser()
NAMESPACES = (
    f'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="{R}" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)


def shape(text: str, kind: str = "", x: int = -1, y: int = 0) -> str:
    placeholder = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else ""
    place = f'<p:spPr><a:xfrm><a:off x="{x}" y="{y}"/></a:xfrm></p:spPr>' if x >= 0 else ""
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return f"<p:sp><p:nvSpPr>{placeholder}</p:nvSpPr>{place}<p:txBody>{lines}</p:txBody></p:sp>"


def slides(
    *trees: str, parts: Mapping[str, str | bytes] | None = None, attributes: Mapping[int, str] | None = None
) -> bytes:
    """A presentation with a slide for each shape tree, listed in reverse order of its files."""
    count = len(trees)
    listed = "".join(f'<p:sldId id="{256 + n}" r:id="s{count - n}"/>' for n in range(count))
    files: dict[str, str | bytes] = {
        "_rels/.rels": relations(r1="officeDocument:ppt/presentation.xml"),
        "ppt/presentation.xml": f"<p:presentation {NAMESPACES}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            **{f"s{n}": f"slide:slides/slide{n}.xml" for n in range(1, count + 1)}
        ),
    }
    for position, tree in enumerate(trees):
        more = (attributes or {}).get(position + 1, "")
        files[f"ppt/slides/slide{count - position}.xml"] = (
            f"<p:sld {NAMESPACES} {more}><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:sld>"
        )
    return zipped(files | dict(parts or {}))


def test_slides_come_in_the_order_of_the_show_and_hidden_ones_are_marked() -> None:
    data = slides(
        shape("First", "title") + shape("text"),
        shape("Second", "ctrTitle"),
        shape("no title"),
        attributes={2: 'show="0"'},
    )
    document = read(PARSER, data)
    assert lines(document) == [
        "heading 1: First",
        "paragraph 1: text",
        "heading 2: Second (hidden)",
        "paragraph 3: no title",
    ]
    assert document.blocks[3].heading_path == ()
    assert document.coverage == (CoverageUnit("slide", 1, 3, "text"),)


def test_shapes_are_read_from_the_top_left_to_the_bottom_right() -> None:
    data = slides(
        shape("right below", x=900, y=9_000_000)
        + shape("left below", x=5, y=9_000_100)
        + shape("above", x=500, y=10)
        + shape("The title", "title", x=0, y=99_000_000)
        + shape("7", "sldNum", x=0, y=0)
    )
    assert lines(read(PARSER, data)) == [
        "heading 1: The title",
        "paragraph 1: above",
        "paragraph 1: left below",
        "paragraph 1: right below",
    ]


def test_groups_notes_comments_and_diagrams_are_read() -> None:
    diagram = '<p:graphicFrame><a:graphic><x:relIds xmlns:x="d" r:dm="dm"/></a:graphic></p:graphicFrame>'
    notes = f"<p:notes {NAMESPACES}>{shape('Say this', 'body')}{shape('1', 'sldNum')}</p:notes>"
    data = slides(
        f"<p:grpSp><p:grpSp>{shape('in a group')}</p:grpSp>{shape('one' + chr(10) + 'two')}</p:grpSp>{diagram}",
        parts={
            "ppt/slides/_rels/slide1.xml.rels": relations(
                n="notesSlide:../notesSlides/n1.xml",
                c="comments:../comments/c1.xml",
                dm="diagramData:../diagrams/d1.xml",
            ),
            "ppt/notesSlides/n1.xml": notes,
            "ppt/comments/c1.xml": f"<p:cmLst {NAMESPACES}><p:cm><p:text>Too long</p:text></p:cm></p:cmLst>",
            "ppt/diagrams/d1.xml": (
                f"<d:dataModel xmlns:d='d' {NAMESPACES}>"
                "<d:pt type='doc'><d:t><a:p><a:r><a:t>no</a:t></a:r></a:p></d:t></d:pt>"
                "<d:pt><d:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></d:t></d:pt>"
                "<d:pt><d:t><a:p><a:r><a:t>Do</a:t></a:r></a:p></d:t></d:pt></d:dataModel>"
            ),
        },
    )
    assert lines(read(PARSER, data)) == [
        "paragraph 1: in a group",
        "list 1: - one\n- two",
        "list 1: - Plan\n- Do",
        "quote 1: Say this",
        "quote 1: Too long",
    ]


def test_a_slide_that_is_missing_is_failed_and_an_empty_one_blank() -> None:
    data = slides(
        shape("a"),
        "",
        shape("b"),
        parts={
            "ppt/_rels/presentation.xml.rels": relations(s3="slide:slides/slide3.xml", s2="slide:slides/slide2.xml")
        },
    )
    document = read(PARSER, data)
    assert document.coverage == (
        CoverageUnit("slide", 1, 1, "text"),
        CoverageUnit("slide", 2, 2, "blank"),
        CoverageUnit("slide", 3, 3, "failed", None, "damaged"),
    )


def test_a_damaged_slide_costs_itself_only() -> None:
    document = read(PARSER, slides(shape("a"), shape("b"), parts={"ppt/slides/slide2.xml": "<a><b></a>"}))
    assert document.coverage == (
        CoverageUnit("slide", 1, 1, "failed", None, "damaged"),
        CoverageUnit("slide", 2, 2, "text"),
    )
    alone = read(PARSER, slides(shape("a"), parts={"ppt/slides/slide1.xml": "<a><b></a>"}))
    assert (alone.blocks, alone.coverage) == ((), (CoverageUnit("slide", 1, 1, "failed", None, "damaged"),))


def test_a_hidden_slide_without_anything_is_blank() -> None:
    assert read(PARSER, slides("", attributes={1: 'show="0"'})).coverage == (CoverageUnit("slide", 1, 1, "blank"),)


def test_what_another_program_wrote_is_read() -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "매출"
    chart = CategoryChartData()
    chart.categories = ["1분기", "2분기"]
    chart.add_series("서울", (1.5, 2))
    chart.add_series("부산", (3, 4))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(3), Inches(4), Inches(2), chart)
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(6), Inches(4), Inches(1)).table
    for row, texts in enumerate((("이름", "직책"), ("김철수", "부장"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    picture = slide.shapes.add_picture(io.BytesIO(png(200, 100)), Inches(1), Inches(8))
    picture._element.nvPicPr.cNvPr.set("descr", "A tower")
    slide.notes_slide.notes_text_frame.text = "천천히"
    buffer = io.BytesIO()
    made.save(buffer)
    document = read(PARSER, buffer.getvalue())
    assert lines(document) == [
        "heading 1: 매출",
        "table 1:  | 서울 | 부산\n1분기 | 1.5 | 3\n2분기 | 2 | 4",
        "table 1: 이름 | 직책\n이름: 김철수 | 직책: 부장",
        "image_ref 1: A tower",
        "quote 1: 천천히",
    ]
    assert [member.name for member in document.members] == ["image1.png"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x05\x06" + bytes(18), "wrong_type"),
        (slides(shape("a")).replace(b"ppt/", b"xxx/"), "wrong_type"),
        (slides(shape("a"), parts={"ppt/slides/slide1.xml": LAUGHS + "<a>&c;</a>"}), "too_complex"),
    ],
    ids=["empty", "other", "laughs"],
)
def test_what_is_no_readable_presentation_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    assert reason_of(PARSER, data) == reason


def test_too_many_slides_are_refused() -> None:
    assert reason_of(PARSER, slides(shape("a"), shape("b")), replace(LIMITS, pages=1)) == "too_many_pages"
