"""Suites as YAML: strict, with lines; added to without touching what is there."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kb.app.evaluation.suite_yaml import add_query, read_suite
from kb.domain.errors import InvalidInput
from kb.domain.search import SearchFilters, SearchMode
from kb.evaluation.suites import GoldenQuery

GOOD = """\
# mine
version: 1
name: My suite
queries:
  - id: a      # the first
    query: 备份在哪一天？
    mode: lexical
    filters: {tags_any: [ops], lang: zh}
    expected_docs: [ops/备份.md]
  - {id: b, query: "who?", expected_doc_ids: []}
"""


def test_a_suite_is_read_whole() -> None:
    suite = read_suite(GOOD, "good")
    assert suite.name == "My suite"
    first, second = suite.queries
    assert first == GoldenQuery(
        "a",
        "备份在哪一天？",
        mode=SearchMode.LEXICAL,
        filters=SearchFilters(tags_any=("ops",), lang="zh"),
        expected_docs=("ops/备份.md",),
    )
    assert second.should_refuse


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("queries: []\n", "s, line 1: `version` must be 1"),
        ("version: 2\nqueries: []\n", "s, line 1: `version` must be 1"),
        ("version: 1\n", "there is no `queries`"),
        ("version: 1\nquerys: []\n", "s, line 2: a suite has no key 'querys'"),
        ("version: 1\nqueries: {}\n", "s, line 2: `queries` must be a list"),
        ("version: 1\nqueries:\n  - id: a\n    query: q\n", "s, line 3: 'a' says nothing is expected"),
        ("version: 1\nqueries:\n  - id: a\n    expected_docs: []\n", "s, line 3: a query needs `query`"),
        ("version: 1\nqueries:\n  - id: a\n    query: q\n    expected_docs: x\n", "s, line 5: `expected_docs` must be"),
        ("version: 1\nqueries:\n  - id: a\n    query: q\n    expected_docs: [[x]]\n", "must be a text"),
        (
            "version: 1\nqueries:\n  - id: a\n    query: q\n    expcted: [x]\n",
            "s, line 5: a query has no key 'expcted'",
        ),
        ("version: 1\nqueries:\n  - id: a\n    id: b\n", "s, line 4: 'id' is there twice"),
        (
            "version: 1\nqueries:\n- {id: a, query: q, expected_docs: []}\n- {id: a, query: r, expected_docs: []}\n",
            "line 4",
        ),
        ("version: 1\nqueries:\n- {id: a, query: q, expected_spans: [b.md]}\n", "s, line 3: not a citation"),
        ("version: 1\nqueries:\n- {id: a, query: q, mode: quick, expected_docs: []}\n", "s, line 3:"),
        (
            "version: 1\nqueries:\n- {id: a, query: q, filters: {tag: x}, expected_docs: []}\n",
            "filters has no key 'tag'",
        ),
        (
            "version: 1\nqueries:\n- {id: a, query: q, expected_chunk_ids: [c, d], expected_spans: [b.md#L1]}\n",
            "as many",
        ),
        ("version: 1\nqueries: [\n", "s, line 3:"),
        ("version: 1\n\tqueries: []\n", "s, line 2:"),
        ("- a\n", "s, line 1: a suite must be a mapping"),
        ("", "a suite must be a mapping"),
    ],
)
def test_an_error_names_the_line(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_suite(text, "s")
    assert said in caught.value.message


def test_adding_leaves_every_letter_before_as_it_was() -> None:
    golden = GoldenQuery("c", "# what: is\tthis?\n", expected_spans=("a.md#L1",), tags=("x",), note="“说明”")
    joined = add_query(GOOD, golden, "good")
    assert joined.startswith(GOOD)
    assert read_suite(joined, "good").queries[-1] == golden


@pytest.mark.parametrize(
    "before", [None, "version: 1\nqueries: []\n", "version: 1\nqueries:\n", "queries:\nversion: 1\n"]
)
def test_adding_to_a_suite_that_asks_nothing(before: str | None) -> None:
    golden = GoldenQuery("c", "q", expected_docs=("a.md",))
    if before == "queries:\nversion: 1\n":
        with pytest.raises(InvalidInput, match="must come last"):
            add_query(before, golden, "s")
        return
    assert read_suite(add_query(before, golden, "s"), "s").queries == (golden,)


def test_adding_to_a_file_without_a_last_line_end_and_without_indent() -> None:
    before = "version: 1\nqueries:\n- id: a\n  query: q\n  expected_docs: []"
    joined = add_query(before, GoldenQuery("b", "r"), "s")
    assert [one.query_id for one in read_suite(joined, "s").queries] == ["a", "b"]


def test_an_id_that_is_taken_is_refused() -> None:
    with pytest.raises(InvalidInput, match="has the id 'a' already"):
        add_query(GOOD, GoldenQuery("a", "q"), "s")


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_any_question_reads_back_as_it_was(query: str) -> None:
    joined = add_query(None, GoldenQuery("a", query), "s")
    assert read_suite(joined, "s").queries[0].query == query
    assert yaml.safe_load(joined)["queries"][0]["query"] == query
