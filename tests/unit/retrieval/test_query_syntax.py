"""The query syntax: what is read, what is plain text, and what points at its spot."""

from __future__ import annotations

import contextlib
import itertools
from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kb.domain.errors import InvalidInput
from kb.domain.metadata import TrustLevel
from kb.domain.search import SearchFilters
from kb.retrieval.query_filters import filters_of
from kb.retrieval.query_syntax import ParsedQuery, PartKind, parse, to_text

_PIECES = st.sampled_from(
    [*'"\u201c\u201d\uff02:\uff1a-\uff0d ()*\u3000\n', "tag:", "path:", "lang:", "in:", "after:", "type:", "trust:",
     "before:", "TAG\uff1a", "ｔａｇ：", "http://", "2025", "-03", "ko", "pdf", "悬空", "학교", "word",
     '"a b"', "\ud800"]
)  # fmt: skip


def pieces(text: str) -> list[tuple[str, str]]:
    return [(part.kind.value, part.value) for part in parse(text).parts]


def meaning(query: ParsedQuery) -> tuple[object, ...]:
    parts = tuple((part.kind, part.value, part.negated) for part in query.parts)
    return parts, tuple((problem.message, problem.hint) for problem in query.problems)


@settings(max_examples=1000, deadline=None)
@given(st.text(max_size=60) | st.lists(_PIECES, max_size=15).map("".join))
@example('-tag:"a b" "open')
@example("x\u201ca\u201d\u201cb")
@example('tag:a tag:"b\u201d -"" -\uff02?')
def test_anything_has_a_reading_with_spans_inside_the_text_that_is_written_back(text: str) -> None:
    query = parse(text)
    spans = [(part.start, part.end) for part in query.parts]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert "".join("".join(text[s:e] for s, e in spans).split()) == "".join(text.split())
    assert all(0 <= p.start < p.end <= len(text) for p in query.problems)
    assert meaning(parse(to_text(query))) == meaning(query)
    with contextlib.suppress(InvalidInput):
        filters_of(query)


def test_every_kind_of_piece_is_read() -> None:
    query = parse(
        'budget "profit and loss" -draft -"old plan" tag:work tag:red path:"my notes/**" lang:zh-Hant type:PDF'
        " trust:Secondary in:Research after:2025-03 before:2026/01/15"
    )
    assert query.problems == ()
    assert query.text == "budget profit and loss"
    assert filters_of(query) == SearchFilters(
        tags_any=("work", "red"),
        lang="zh-Hant",
        path_glob="my notes/**",
        trust_min=TrustLevel.SECONDARY,
        source_types=("pdf",),
        collections=("Research",),
        changed_from=date(2025, 3, 1),
        changed_to=date(2026, 1, 14),
        phrases=("profit and loss",),
        excluded=("draft", "old plan"),
    )


@pytest.mark.parametrize(
    "text",
    ["http://example.org/a:b", "std::vector", "C++:", "12:30", "a tag :b", "--flag", "a - b", "-", "- x", '27" monitor',
     'devices usb-c adapter""', "tags:red", "-(x)", "文件：说明", "«x»", "it's"],
)  # fmt: skip
def test_what_only_looks_like_syntax_is_text(text: str) -> None:
    query = parse(text)
    assert query.problems == ()
    assert query.filters == ()
    assert query.text == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("标签 tag：红色", [("text", "标签"), ("tag", "红色")]),
        ("ＴＡＧ：x", [("tag", "x")]),
        ("你好“悬空 引用”吧", [("text", "你好"), ("phrase", "悬空 引用"), ("text", "吧")]),
        ("path：“我的 笔记/**”", [("path", "我的 笔记/**")]),
        ("회의 －초안 ＂분기 보고＂", [("text", "회의"), ("word", "초안"), ("phrase", "분기 보고")]),
        ("-悬空“a”", [("word", "悬空"), ("phrase", "a")]),
        ("-“悬空 引用”", [("phrase", "悬空 引用")]),
    ],
)
def test_full_width_and_typographic_marks_are_read_as_keyboards_write_them(
    text: str, right: list[tuple[str, str]]
) -> None:
    assert pieces(text) == right
    assert parse(text).problems == ()


@pytest.mark.parametrize(
    ("text", "spot", "message", "hint"),
    [
        ('find "open phrase', '"', "not closed", "put a quote"),
        ('a tag:"red', '"', "not closed", "put a quote"),
        ("a tag: red", "tag:", "needs a value", "tag:work"),
        ('a ""', '""', "no word", "leave them out"),
        ('a "?!" b', '"?!"', "no word", "leave them out"),
        ("a -tag:red b", "-tag:red", "cannot be left out", '"tag:red"'),
        ("a type:pfd", "type:pfd", "no type 'pfd'", "type:pdf"),
        ("a trust:much", "trust:much", "no level", "primary, secondary, generated"),
        ("a lang:한국어", "lang:한국어", "no language", "ko"),
        ("a after:yesterday", "after:yesterday", "no day", "after:2025-03-01"),
        ("a before:2025-02-30", "before:2025-02-30", "no day", "before:2025"),
        ("a before:0001", "before:0001", "no day", "before:2025"),
        ("a lang:ko lang:en", "lang:en", "twice", "keep one"),
        ("a " + "-b " * 20 + "-c", "-c", "more than 20", "leave some"),
        ("👍🏽 tag:", "tag:", "needs a value", "tag:work"),
    ],
)
def test_a_problem_points_at_its_spot_and_names_the_remedy(text: str, spot: str, message: str, hint: str) -> None:
    query = parse(text)
    (problem,) = query.problems
    assert text[problem.start : problem.end] == spot
    assert message in problem.message
    assert hint in problem.hint
    with pytest.raises(InvalidInput, match=rf"\(character {problem.start + 1}\)"):
        filters_of(query)


def test_a_query_that_looks_for_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="looks for nothing"):
        filters_of(parse("tag:red -draft"))


def test_a_path_without_wildcards_is_how_paths_begin() -> None:
    assert filters_of(parse("x path:notes/")).path_glob == "notes/**"
    assert filters_of(parse("x path:notes/a.md")).path_glob == "notes/a.md**"
    assert filters_of(parse("x path:*.md")).path_glob == "*.md"


def test_a_year_after_and_before_the_next_is_that_year() -> None:
    found = filters_of(parse("x after:2025 before:2026"))
    assert (found.changed_from, found.changed_to) == (date(2025, 1, 1), date(2025, 12, 31))


def test_parts_say_what_is_left_out() -> None:
    assert [(p.kind, p.negated) for p in parse('a -b -"c" "d"').parts] == [
        (PartKind.TEXT, False),
        (PartKind.WORD, True),
        (PartKind.PHRASE, True),
        (PartKind.PHRASE, False),
    ]
