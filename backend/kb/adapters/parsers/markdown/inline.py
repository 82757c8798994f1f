"""Inline Markdown to plain text: markup goes, words stay, every word keeps its line.

Most text has only plain words, code spans, simple links and emphasis. It is read by one regular
expression, whose pieces are what markdown-it would make of them (a property test says so); the
rest goes through markdown-it's own inline rules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from kb.adapters.parsers.markdown.html import visible_lines
from kb.domain.blocks import BlockKind
from kb.domain.inlines import Inline, Link, Styled
from kb.domain.lines import LinedText

MAX_CHARACTERS = 20_000
"""No paragraph of a person is longer; more is read as plain text, since inline rules may be slow on it."""

_MARKUP = re.compile(r"[\\`*_~\[<&\n]")
_PIECES = re.compile(
    r"""
      (?P<text> (?: [^\\`*_~\[<&\n!]++
                  | !(?!\[)
                  | (?<=[^\W_])_+(?=[^\W_])
                  | (?<!~)~(?!~)
                  | <(?=[\s\d=]|\Z) | &(?=\s|\Z) )+ )
    | (?P<line> \n[ \t]* )
    | `(?P<code>[^`\n]+)`(?!`)
    | (?<!!)\[(?P<label>(?:[^\[\]\\`*_~<&!\n]|(?<!`)`[^`\n]+`(?!`))+)\]
      \((?P<href>(?!(?:javascript|vbscript|file|data):)[^\s()<>\\&`\[\]"'\x00-\x20\x7f]+)\)
    | (?<!\*)\*\*(?P<strong>[^\W_](?:(?:[^\\`*_~\[<&\n!]|(?<!`)`[^`\n]+`(?!`))*[^\W_])?)\*\*(?!\*)
    | (?<!\*)\*(?P<emph>[^\W_](?:[^\\`*_~\[<&\n!]*[^\W_])?)\*(?!\*)
    | (?<![^\s!-/:-@\[-^`{-~])_(?P<under>[^\W_](?:[^\\`*_~\[<&\n!]*[^\W_])?)_(?![^\s!-/:-@\[-^`{-~])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CODE_SPAN = re.compile(r"`([^`\n]+)`")
_FOOTNOTE = re.compile(r" ?\[\^([^\]\s]+)\]")
_WIDE = "[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
_WIDE_END = re.compile(_WIDE + r"\Z")
_WIDE_START = re.compile(_WIDE)
_POWER = 3
_SIZE = re.compile(r"\d+(?:x\d+)?\Z")
_SUFFIX = re.compile(r"\.([A-Za-z0-9]{2,5})(?:[?#].*)?\Z", re.DOTALL)
_IMAGES = frozenset(("png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "tif", "tiff", "heic", "avif"))
_SOUNDS = frozenset(("mp3", "m4a", "wav", "flac", "ogg", "oga", "opus", "aac", "wma", "aiff", "3gp"))


@dataclass(frozen=True, slots=True)
class Media:
    """A picture or recording met in a text."""

    kind: BlockKind
    src: str
    alt: str
    line: int
    last_line: int


class InlineReader:
    """Reads the inline contents of one document; `inlines` and `media` fill up while it does."""

    def __init__(self, markdown: MarkdownIt, env: dict[str, object], *, quick: bool = True) -> None:
        self._markdown = markdown
        self._env = env
        self._quick = quick
        self._soft = False
        self._hidden = ""
        self._power = False
        self.inlines: list[Inline] = []
        self.media: list[Media] = []
        self.media_characters = 0

    @property
    def _footnotes(self) -> Mapping[str, int]:
        notes = self._env.get("footnotes")
        refs = notes.get("refs") if isinstance(notes, dict) else None
        return refs if isinstance(refs, dict) else {}

    def read(self, content: str, line: int, into: LinedText) -> None:
        """Append the words of `content`, which starts on `line`, to `into`."""
        self._soft = self._power = False
        self._hidden = ""
        if _MARKUP.search(content) is None:
            into.add(content, line)
        elif len(content) > MAX_CHARACTERS:
            self._plain(content, line, into)
        elif not (self._quick and self._read_pieces(content, line, into)):
            self._read_tokens(content, line, into)

    def _plain(self, content: str, line: int, into: LinedText) -> None:
        for number, text in enumerate(content.split("\n"), line):
            if number > line:
                into.own("\n")
            into.add(text.strip(), number)

    def _text(self, text: str, line: int, into: LinedText, last_line: int = 0) -> None:
        """Append words; a line end that is only the file's becomes a space, or nothing in Chinese and Japanese."""
        if self._soft:
            self._soft = False
            last = into.parts[-1] if into.parts else ""
            if not (_WIDE_START.match(text) and _WIDE_END.search(last)):
                into.own(" ")
        if self._power:  # 2<sup>8</sup> is not 28
            self._power = False
            into.own("^" if len(text) <= _POWER else " ")
        into.add(text, line, last_line)

    def _read_pieces(self, content: str, line: int, into: LinedText) -> bool:
        pieces: list[tuple[str | None, str, str]] = []
        position, end = 0, len(content)
        match = _PIECES.match
        while position < end:
            found = match(content, position)
            if found is None:
                return False
            kind = found.lastgroup
            if kind == "href":
                pieces.append(("label", found["label"], found["href"]))
            else:
                pieces.append((kind, found[kind], "") if kind else (None, "", ""))
            position = found.end()
        for index, (kind, text, href) in enumerate(pieces):
            if kind == "text":
                before_line = index + 1 < len(pieces) and pieces[index + 1][0] == "line"
                self._text(text.rstrip(" ") if before_line else text, line, into)
                if before_line and text.endswith("  "):
                    into.own("\n")
            elif kind == "line":
                hard = index > 0 and pieces[index - 1][0] == "text" and pieces[index - 1][1].endswith("  ")
                self._soft = not hard
                line += 1
            elif kind == "code":
                self._code(text, line, into)
            else:
                shown = self._words(text, line, into)
                if kind == "label":
                    self._link(shown, href, line, line)
                else:
                    self.inlines.append(Styled(shown, "strong" if kind == "strong" else "emph"))
        return True

    def _words(self, text: str, line: int, into: LinedText) -> str:
        """Append words that may hold code spans; return them as shown."""
        if "`" not in text:
            self._text(text, line, into)
            return text.strip()
        part = len(into.parts)
        for number, piece in enumerate(_CODE_SPAN.split(text)):
            if number % 2:
                self._code(piece, line, into)
            elif piece:
                self._text(piece, line, into)
        return into.text(part).strip()

    def _code(self, text: str, line: int, into: LinedText) -> None:
        if text[0] == text[-1] == " " and text.strip(" "):
            text = text[1:-1]
        self._text(text, line, into)
        self.inlines.append(Styled(text, "code"))

    def _read_tokens(self, content: str, line: int, into: LinedText) -> None:
        markdown = self._markdown
        state = StateInline(content, markdown, self._env, [])
        markdown.inline.tokenize(state)
        for rule in markdown.inline.ruler2.getRules(""):
            rule(state)
        current = line
        open_parts: list[tuple[int, Token, int]] = []
        for token in state.tokens:
            kind = token.type
            last = line + content.count("\n", 0, token.meta["ends"]) if token.meta else current
            if kind in {"text", "text_special"}:
                if token.content and not self._hidden:
                    self._text(self._without_footnotes(token.content), current, into)
            elif kind == "softbreak":
                current = last = current + 1
                self._soft = True
            elif kind == "hardbreak":
                current = last = current + 1
                self._soft = False
                into.own("\n")
            elif token.nesting > 0:
                open_parts.append((len(into.parts), token, current))
            elif token.nesting < 0 and open_parts:
                part, opening, opened = open_parts.pop()
                self._close(opening, into.text(part).strip(), opened, last)
            else:
                self._leaf(token, current, last, into)
            current = last

    def _close(self, opening: Token, text: str, line: int, last: int) -> None:
        if opening.type == "link_open":
            self._link(text, str(opening.attrs.get("href", "")), line, last)
        elif opening.type in {"strong_open", "em_open"}:
            self.inlines.append(Styled(text, "strong" if opening.type == "strong_open" else "emph"))

    def _leaf(self, token: Token, line: int, last: int, into: LinedText) -> None:
        kind = token.type
        if kind == "code_inline":
            self._text(token.content, line, into, last)
            self.inlines.append(Styled(token.content, "code"))
        elif kind == "image":
            alt = _alt(token.children or [])
            self._picture(str(token.attrs.get("src", "")), alt, (line, last), into)
        elif kind == "wiki":
            self._wiki(token, line, into)
        elif kind == "html_inline":
            self._tag(token.content, line, into)

    def _tag(self, tag: str, line: int, into: LinedText) -> None:
        name = tag[1:8].lower()
        if self._hidden:
            self._hidden = "" if name.startswith(self._hidden) else self._hidden
        elif name.startswith(("script", "style")):
            self._hidden = "/script" if name.startswith("script") else "/style"
        elif name.startswith("br"):
            into.own(" ")
        elif name == "sup>":
            self._power = True
        elif name.startswith("img"):
            self._text(" ".join(filter(None, visible_lines(tag))), line, into, line + tag.count("\n"))

    def _wiki(self, token: Token, line: int, into: LinedText) -> None:
        target = str(token.attrs.get("href", ""))
        suffix = _SUFFIX.search(target)
        shown = token.content
        if token.markup and suffix and suffix[1].lower() in _IMAGES:
            alt = "" if _SIZE.match(shown) else shown
            self._picture(target, alt or target.rpartition("/")[2], (line, line), into)
            return
        shown = shown or target.replace("#", " > ").removeprefix(" > ")
        self._text(shown, line, into)
        if token.markup and suffix and suffix[1].lower() in _SOUNDS:
            self._link(shown, target, line, line)
        else:
            self.inlines.append(Link(shown, target, "wiki"))

    def _picture(self, src: str, alt: str, lines: tuple[int, int], into: LinedText) -> None:
        self.media.append(Media(BlockKind.IMAGE_REF, src, alt or _file_name(src), *lines))
        if alt:
            self._text(alt, lines[0], into, lines[1])
            self.media_characters += len(alt)

    def _link(self, text: str, href: str, line: int, last: int) -> None:
        suffix = _SUFFIX.search(href)
        if suffix and suffix[1].lower() in _SOUNDS:
            self.media.append(Media(BlockKind.AUDIO_REF, href, text or _file_name(href), line, last))
            self.media_characters += len(text)
        else:
            self.inlines.append(Link(text, href))

    def _without_footnotes(self, text: str) -> str:
        if "[^" not in text or not self._footnotes:
            return text

        def known(found: re.Match[str]) -> str:
            if ":" + found[1] not in self._footnotes:
                return found[0]
            self.inlines.append(Link(found[1], "#fn-" + found[1], "footnote"))
            return ""

        return _FOOTNOTE.sub(known, text)


def _alt(children: list[Token]) -> str:
    words = []
    for child in children:
        if child.type in {"softbreak", "hardbreak"}:
            words.append(" ")
        elif child.type == "image":
            words.append(_alt(child.children or []))
        elif child.type != "html_inline":
            words.append(child.content)
    return "".join(words)


def _file_name(src: str) -> str:
    return unquote(src.split("?", maxsplit=1)[0].split("#", maxsplit=1)[0].rpartition("/")[2])
