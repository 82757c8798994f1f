"""Front matter: what it may say, and what becomes of one that is broken, huge or hostile."""

from __future__ import annotations

import json

import pytest

from kb.adapters.parsers.markdown.front_matter import MAX_CHARACTERS, read_front_matter
from kb.adapters.parsers.markdown.parser import MarkdownItParser
from kb.domain.documents import ParsedDocument
from kb.domain.paths import WorkspacePath
from tests.fakes.parsing import Utf8Decoder, lines_of


def parse(text: str) -> ParsedDocument:
    return MarkdownItParser(Utf8Decoder()).parse(text.encode(), WorkspacePath("a.md"))


def test_values_become_json() -> None:
    text = (
        "---\ndate: 2024-05-01\nat: 2024-05-01T10:00:00Z\nn: 3\nx: 1.5\nyes: on\nempty:\nlist: [a, 2, {b: c}]\n"
        "inf: .inf\nbig: 123456789012345678901\n7: seven\nbytes: !!binary aGk=\nset: !!set {b, a}\n---\n"
    )
    front = read_front_matter(text)
    assert front.problem == ""
    assert front.line_count == 14
    assert front.values == {
        "date": "2024-05-01",
        "at": "2024-05-01T10:00:00+00:00",
        "n": 3,
        "x": 1.5,
        "true": True,
        "empty": None,
        "list": ["a", 2, {"b": "c"}],
        "inf": "inf",
        "big": "123456789012345678901",
        "7": "seven",
        "bytes": "aGk=",
        "set": ["a", "b"],
    }
    json.dumps(front.values, allow_nan=False)


def test_an_odd_value_is_a_text_and_costs_no_other() -> None:
    inside = "date: 2024-02-30\nkey: !secret x\nrun: !!python/object:os.system x\nmany: !odd [1, {a: 2}]\ntags: [a]"
    front = read_front_matter(f"---\n{inside}\n---\n")
    assert front.problem == ""
    assert front.values == {"date": "2024-02-30", "key": "x", "run": "x", "many": [1, {"a": 2}], "tags": ["a"]}


def test_toml_between_pluses_is_read_too() -> None:
    assert read_front_matter("+++\ntitle = 'x'\ntags = ['a']\n+++\nb").values == {"title": "x", "tags": ["a"]}


@pytest.mark.parametrize(
    "text", ["", "---", "--- x\na: b\n---", "---\n\na: b\n---\n", "---\na: b\n", "text\n---\na: b\n---"]
)
def test_a_rule_is_not_front_matter(text: str) -> None:
    assert read_front_matter(text).line_count == 0


def test_empty_front_matter_is_none() -> None:
    document = parse("---\n# only a comment\n---\n# A")
    assert document.front_matter == {}
    assert document.warnings == ()
    assert document.blocks[0].text == "A"


@pytest.mark.parametrize(
    "inside",
    [
        "title: [broken",
        "- a\n- list",
        "just words",
        "a: b: c",
        "\tx: 1",
        "? [x]\n: y",
    ],
)
def test_malformed_front_matter_is_kept_as_text_and_told(inside: str) -> None:
    document = parse(f"---\n{inside}\n---\n# A\n\nwords\n")
    assert [w.kind for w in document.warnings] == ["malformed_frontmatter"]
    assert document.front_matter == {}
    assert [b.text for b in document.blocks][1:] == ["A", "words"]
    kept = document.blocks[0]
    assert kept.text == "\n".join(line.rstrip() for line in inside.split("\n"))
    assert lines_of(kept.segments, kept.text)[0] == (inside.split("\n", maxsplit=1)[0], 2)
    assert lines_of(document.blocks[-1].segments, "words") == [("words", len(inside.split("\n")) + 5)]


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "inside",
    [
        "a: &a [x,x,x,x]\n" + "".join(f"k{n}: &k{n} [*a,*a,*a,*a]\n" for n in range(9)),
        "a: &a {x: 1}\n" + "".join(f"b{n}: &b{n}\n  <<: [*a, *a, *a]\n" for n in range(9)),
        "a: &a [*a]",
        "a: " + "[" * 30_000,
        "a: " + "{b: " * 200,
        "- " * 30_000,
        "? " * 30_000,
        "".join(f"{' ' * n}a:\n" for n in range(300)),
        "a: [" + "1," * 20_000 + "]",
        "a: " + "x" * MAX_CHARACTERS,
    ],
    ids=["aliases", "merges", "itself", "brackets", "braces", "dashes", "questions", "indents", "many", "long"],
)
def test_hostile_front_matter_costs_nothing_and_is_told(inside: str) -> None:
    document = parse(f"---\n{inside}\n---\nwords\n")
    assert [w.kind for w in document.warnings] == ["malformed_frontmatter"]
    assert document.blocks[-1].text == "words"


def test_a_few_aliases_are_fine() -> None:
    assert read_front_matter("---\na: &a [1, 2]\nb: *a\n---\n").values == {"a": [1, 2], "b": [1, 2]}
