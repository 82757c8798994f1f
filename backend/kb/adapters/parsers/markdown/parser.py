"""The Markdown parser: bytes to blocks whose lines are those of the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kb.adapters.parsers.markdown.front_matter import read_front_matter
from kb.domain.blocks import BlockKind
from kb.domain.documents import ParsedBlock, ParsedDocument, ParseWarning
from kb.domain.items import MediaType
from kb.domain.lines import count_lines, lines_block, plain_paragraphs, source_text
from kb.domain.paths import WorkspacePath
from kb.ingest.ports import TextDecoder

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

VERSION = "markdown-v1"
MAX_BYTES = 8 * 1024 * 1024
MAX_LINE = 1024 * 1024

# white space that Python strips and Markdown does not: a line of nothing else would shift what follows
_ODD_SPACE = re.compile("[\x0b\x0c\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_ODD_BLANK = re.compile(r"^[^\S\n]+$", re.MULTILINE)


class MarkdownItParser:
    """Reads Markdown with markdown-it-py."""

    media_types = frozenset({MediaType.MARKDOWN})
    version = VERSION

    def __init__(self, decoder: TextDecoder) -> None:
        self._decoder = decoder
        self._markdown: MarkdownIt | None = None

    def parse(self, data: bytes, path: WorkspacePath) -> ParsedDocument:
        """Return the blocks of a Markdown file; one too big for Markdown is read as plain text.

        Raises:
            Unreadable: the bytes are not text.
        """
        del path
        decoded = self._decoder.decode(data)
        warnings = [ParseWarning("encoding_fallback", decoded.note)] if decoded.note else []
        source = source_text(decoded.text)
        line_count = count_lines(source)
        front = read_front_matter(source)
        blocks: list[ParsedBlock] = []
        body = source
        if front.line_count:
            lines = source.split("\n", front.line_count)
            # blank lines in its place keep the numbers of all others
            body = "\n" * front.line_count + (lines[front.line_count] if len(lines) > front.line_count else "")
            if front.problem:
                warnings.append(ParseWarning("malformed_frontmatter", f"{front.problem}; kept as text"))
                kept = [line.rstrip() for line in lines[1 : front.line_count - 1]]
                if any(kept):
                    blocks.append(lines_block(BlockKind.PARAGRAPH, kept, 2))
        why = _too_big(data, body)
        if why:
            warnings.append(ParseWarning("extract_failed", f"{why}; read as plain text, not as Markdown"))
            blocks += plain_paragraphs(body)
        else:
            blocks += self._blocks(body, warnings)
        return ParsedDocument(tuple(blocks), front.values, tuple(warnings), line_count, decoded.encoding)

    def _blocks(self, body: str, warnings: list[ParseWarning]) -> list[ParsedBlock]:
        from markdown_it.token import Token

        from kb.adapters.parsers.markdown.blocks import BlockReader
        from kb.adapters.parsers.markdown.inline import InlineReader
        from kb.adapters.parsers.markdown.rules import reader

        if self._markdown is None:
            self._markdown = reader()
        if _ODD_SPACE.search(body):
            body = _ODD_BLANK.sub("", body)
        env: dict[str, object] = {}
        tokens: list[Token] = []
        self._markdown.block.parse(body, self._markdown, env, tokens)
        blocks = BlockReader(body, InlineReader(self._markdown, env))
        blocks.read(tokens)
        warnings += blocks.warnings
        return blocks.blocks


def _too_big(data: bytes, body: str) -> str:
    if len(data) > MAX_BYTES:
        return f"the file is bigger than {MAX_BYTES // 1024 // 1024} MB"
    if len(body) > MAX_LINE and max(map(len, body.split("\n"))) > MAX_LINE:
        return "a line is longer than a million characters"
    return ""
