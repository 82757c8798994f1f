"""What we add to markdown-it's rules: wiki links, notice fences, and inline tokens that know where they end."""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, autolink, backtick, html_inline, image, link
from mdit_py_plugins.footnote.index import footnote_def

MAX_NESTING = 100
_NOTICE = re.compile(r":{3,}[ \t]*(.*?)[ \t:]*\Z")
_WIKI = re.compile(r"!?\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")

InlineRule = Callable[[StateInline, bool], bool]


def reader() -> MarkdownIt:
    """Return markdown-it with our rules. Only its block and inline parts are used, never its renderer."""
    markdown = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    # targets stay as written: they are looked up in the workspace, never followed
    markdown.normalizeLink = _as_written  # type: ignore[method-assign, assignment]
    markdown.block.ruler.before("reference", "footnote_def", footnote_def, {"alt": ["paragraph", "reference"]})
    markdown.block.ruler.before(
        "paragraph", "notice", _notice, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    markdown.inline.ruler.before("link", "wiki", _wiki)
    for name, rule in (
        ("backticks", backtick),
        ("link", link),
        ("image", image),
        ("html_inline", html_inline),
        ("autolink", autolink),
    ):
        markdown.inline.ruler.at(name, _ending(rule))
    return markdown


def _as_written(target: str) -> str:
    return target


def _ending(rule: InlineRule) -> InlineRule:
    """Wrap a rule: a token of more than one line keeps the positions where it begins and ends."""

    def run(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the library's signature
        start = state.pos
        done = rule(state, silent)
        if done and not silent and "\n" in state.src[start : state.pos]:
            state.tokens[-1].meta = {"begins": start, "ends": state.pos}
        return done

    return run


def _wiki(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the library's signature
    """`[[target|text]]`, `[[target#heading]]` and the embed `![[file|text]]`."""
    if not state.src.startswith(("[[", "![["), state.pos):
        return False
    found = _WIKI.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        token = state.push("wiki", "", 0)
        token.content = (found[2] or "").strip()
        token.attrs = {"href": found[1].strip()}
        token.markup = "!" if found[0][0] == "!" else ""
    state.pos = found.end()
    return True


def _notice(state: StateBlock, start_line: int, _end_line: int, silent: bool) -> bool:  # noqa: FBT001
    """A fence of an admonition, `::: tip Title` or `:::`: its title is a paragraph, its inside ordinary blocks."""
    start = state.bMarks[start_line] + state.tShift[start_line]
    if not state.src.startswith(":::", start) or state.is_code_block(start_line):
        return False
    found = _NOTICE.match(state.src[start : state.eMarks[start_line]])
    if not found:
        return False
    if silent:
        return True
    state.line = start_line + 1
    if found[1]:
        token = state.push("paragraph_open", "p", 1)
        token.map = [start_line, state.line]
        token = state.push("inline", "", 0)
        token.content = found[1]
        token.map = [start_line, state.line]
        token.children = []
        state.push("paragraph_close", "p", -1)
    return True
