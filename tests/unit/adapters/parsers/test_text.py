"""Plain text and source code: paragraphs, pieces, names, lines."""

from __future__ import annotations

import itertools

import pytest

from kb.adapters.parsers.text.code import SourceCodeParser, language_of
from kb.adapters.parsers.text.plain import PlainTextParser
from kb.domain.blocks import BlockKind, Code
from kb.domain.paths import WorkspacePath
from kb.domain.spans import LineSpan
from tests.fakes.parsing import Utf8Decoder, lines_of

PATH = WorkspacePath("a.txt")


def test_paragraphs_stand_between_blank_lines() -> None:
    document = PlainTextParser(Utf8Decoder()).parse(b"\none\r\n  two \r\n \t\r\n\r\nthree", PATH)
    assert [(b.text, b.span) for b in document.blocks] == [("one\n  two", LineSpan(2, 3)), ("three", LineSpan(6, 6))]
    assert lines_of(document.blocks[0].segments, document.blocks[0].text) == [("one", 2), ("  two", 3)]
    assert document.line_count == 6


def test_markdown_in_a_text_file_is_only_text() -> None:
    document = PlainTextParser(Utf8Decoder()).parse(b"# not a heading\n*x*", PATH)
    assert [(b.kind, b.text) for b in document.blocks] == [(BlockKind.PARAGRAPH, "# not a heading\n*x*")]


def test_a_log_without_blank_lines_becomes_blocks_of_bounded_size() -> None:
    lines = [f"line {number} of a log that goes on" for number in range(10_000)]
    document = PlainTextParser(Utf8Decoder()).parse("\n".join(lines).encode(), PATH)
    assert "\n".join(b.text for b in document.blocks) == "\n".join(lines)
    assert max(len(b.text) for b in document.blocks) < 22_000
    spans = [b.span for b in document.blocks if isinstance(b.span, LineSpan)]
    assert spans[0].start == 1
    assert spans[-1].end == 10_000
    assert all(after.start == before.end + 1 for before, after in itertools.pairwise(spans))


@pytest.mark.timeout(60)
def test_fifty_megabytes_on_one_line_are_one_block() -> None:
    document = PlainTextParser(Utf8Decoder()).parse(b"word " * 10_000_000, PATH)
    (block,) = document.blocks
    assert len(block.text) == 49_999_999
    assert block.span == LineSpan(1, 1)


def test_code_is_cut_before_lines_at_the_margin_after_a_blank_one() -> None:
    source = (
        b"import os\n\n\nX = 1\nclass A:\n\n    def f(self):\n        pass\n\n\nasync def go(x):\n    return (\n\n)\n"
    )
    document = SourceCodeParser(Utf8Decoder()).parse(source, WorkspacePath("src/a.py"))
    assert [(b.heading_path, b.span) for b in document.blocks] == [
        ((), LineSpan(1, 1)),
        (("A",), LineSpan(4, 8)),
        (("go",), LineSpan(11, 14)),
    ]
    assert document.blocks[2].text == "async def go(x):\n    return (\n\n)"
    assert all(b.payload == Code("py") for b in document.blocks)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("def f(x):", "f"),
        ("export default class Card extends X {", "Card"),
        ("pub(crate) fn parse<T>(x: T) {", "parse"),
        ("func (s *Server) Listen() {", "Listen"),
        ("export async function load() {", "load"),
        ("CREATE TABLE IF NOT EXISTS items (", "items"),
        ("public static final class Foo {", "Foo"),
        ("impl<T> Walker for X {", "Walker"),
        ("struct 상태 {", "상태"),
        ("x = 1", None),
    ],
)
def test_definitions_name_their_piece(line: str, name: str | None) -> None:
    document = SourceCodeParser(Utf8Decoder()).parse(f"// c\n{line}\n  body\n".encode(), WorkspacePath("a.x"))
    assert document.blocks[0].heading_path == ((name,) if name else ())


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.yml", "yaml"),
        ("Dockerfile", "dockerfile"),
        ("x.PY", "py"),
        (".bashrc", None),
        ("LICENSE", None),
        ("a.h", "c"),
    ],
)
def test_the_language_follows_from_the_name(path: str, language: str | None) -> None:
    assert language_of(WorkspacePath(path)) == language


@pytest.mark.parametrize("parser", [PlainTextParser(Utf8Decoder()), SourceCodeParser(Utf8Decoder())])
def test_every_line_with_words_is_in_a_block(parser: PlainTextParser | SourceCodeParser) -> None:
    source = "\n".join(f"{' ' * (n % 5)}{'' if n % 7 == 0 else f'w{n}'}" for n in range(500))
    found = [p for b in parser.parse(source.encode(), PATH).blocks for p in lines_of(b.segments, b.text)]
    assert [(text.strip(), line) for text, line in found] == [(f"w{n}", n + 1) for n in range(500) if n % 7]
