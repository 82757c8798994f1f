"""HTML read element by element: what a reader sees goes on to become blocks, and no tree is built.

A tree would lose everything below some depth (libxml2 stops there) and take many times the memory of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from kb.adapters.parsers.shared.html_blocks import BlockFlow, Shown
from kb.adapters.parsers.shared.html_head import Head
from kb.domain.errors import Unreadable


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_UNSEEN = _names(
    "script style noscript template iframe object embed canvas audio video datalist select option rp area map "
    "annotation annotation-xml defs desc metadata noembed bgsound param source track"
)
_BLOCKS = _names(
    "address article aside blockquote body center details dialog dd div dl dt fieldset figcaption figure footer form "
    "header hgroup hr html legend li main menu nav ol optgroup p pre section summary tbody tfoot thead ul table tr td "
    "th caption textarea text"
)
_ENDS_HEADING = _names("p ul ol table section article pre blockquote dl main footer nav")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NAVIGATION = frozenset(("navigation", "menu", "menubar"))
# Marks of well-known generators: links to edit or to link a heading, formulas printed twice, line numbers.
_DECORATION = _names(
    "mw-editsection headerlink anchorjs-link katex-html skip-link skip-to-content linenos lineno linenodiv gutter"
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_JUMP = re.compile(r"skip|jump", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\n\r\f\v]+")
_LANGUAGE = re.compile(r"(?:\blanguage-|\blang-|highlight-source-|brush:\s*)([\w+#-]{1,30})")
_POWER = re.compile(r"[-+\u2212]?\d{1,3}|[ni]")
_RAISED = re.compile(r"(?:\d|\)|(?<![^\W\d])[A-Za-z\u03bc]{1,2})\Z")
_LONGEST_SOURCE = 500
_DEEPEST_LISTED = 9

_Closer = Callable[[], None]


class HtmlFlow:
    """A target of lxml's parser, whose events are balanced whatever the page is like.

    Attributes:
        head: what the page says about itself.
        pictures: sources of the pictures it shows, in order.
        characters: of visible text so far.
        left_out: whether words of navigation were left out.
    """

    def __init__(self, flow: BlockFlow, most_characters: int, *, keep_navigation: bool) -> None:
        self.head = Head()
        self.pictures: list[str] = []
        self.characters = 0
        self.left_out = False
        self._flow, self._most, self._keep_navigation = flow, most_characters, keep_navigation
        self._open: list[_Closer | None] = []
        self._skipping = 0
        self._drawings = 0
        self._is_navigation = False
        self._captured: list[str] | None = None
        self._raw: list[str] | None = None
        self._language: str | None = None
        self._readings: list[str] = []
        self._actions: Mapping[str, Callable[[Mapping[str, str]], _Closer | None]] = {
            **dict.fromkeys(("ul", "menu"), self._list),
            "ol": self._ordered,
            "li": self._item,
            "table": self._table,
            "tr": self._row,
            "td": self._cell,
            "th": self._header_cell,
            "thead": self._thead,
            "caption": self._caption,
            "blockquote": self._quote,
            "figure": self._figure,
            "pre": self._pre,
            "code": self._code,
            "dl": self._definitions,
            "dt": self._definition,
            "img": self._img,
            "image": self._img,
            "br": self._br,
            "sup": self._sup,
            "svg": self._drawing,
            "ruby": self._ruby,
            "rt": self._reading,
        }

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        tag = tag.rpartition(":")[2].lower()
        if self._captured is not None:
            self._open.append(None)
            return
        if tag == "meta":
            self.head.meta(attributes)
        if self._skipping:
            self._skipping += 1
            return
        said = self._about(tag, attributes)
        if said is not None:
            self._open.append(self._captures(said))
            return
        if self._unseen(tag, attributes):
            self._skipping = 1
            return
        level = _HEADINGS.get(tag) or _role_level(attributes)
        if level:
            self._open.append(self._heading(level))
            return
        if tag in _BLOCKS:
            if self._flow.heading and tag in _ENDS_HEADING:
                self._flow.end_heading()
            self._break()
        action = self._actions.get(tag)
        closer = action(attributes) if action else None
        self._open.append(closer or (self._break if tag in _BLOCKS else None))

    def end(self, tag: str) -> None:
        """The element begun last ends."""
        del tag
        if self._captured is None and self._skipping:
            self._skipping -= 1
            if not self._skipping:
                self._is_navigation = False
            return
        closer = self._open.pop() if self._open else None
        if closer is not None:
            closer()

    def data(self, text: str) -> None:
        """Text between elements."""
        if self._captured is not None:
            self._captured.append(text)
        elif self._skipping:
            self.left_out = self.left_out or (self._is_navigation and bool(text.strip()))
        else:
            self.characters += len(text)
            if self.characters > self._most:
                raise Unreadable("it has more text than the limit allows", reason="too_big")
            if self._raw is not None:
                self._raw.append(text)
            else:
                self._flow.pieces.append(_SPACE.sub(" ", text).replace("\u00ad", ""))

    def comment(self, text: str) -> None:
        """Comments are not seen."""

    def close(self) -> None:
        """The page ends."""
        while self._open or self._skipping:
            self.end("")
        self._flow.finish()

    # -- what is seen, and what the page says about itself

    def _about(self, tag: str, attributes: Mapping[str, str]) -> Callable[[str], None] | None:
        """Return what takes the text of an element that is not shown but says something about the page."""
        if tag == "html":
            self.head.language(attributes.get("lang") or attributes.get("xml:lang") or "")
        elif tag == "title":
            # Within a drawing it names the drawing.
            return _forget if self._drawings else self.head.title
        elif tag == "script" and "ld+json" in (attributes.get("type") or "").lower():
            return self.head.linked_data
        return None

    def _captures(self, use: Callable[[str], None]) -> _Closer:
        taken: list[str] = []
        self._captured = taken

        def finish() -> None:
            self._captured = None
            use("".join(taken))

        return finish

    def _unseen(self, tag: str, attributes: Mapping[str, str]) -> bool:
        if (
            tag in _UNSEEN
            or (tag == "dialog" and "open" not in attributes)
            or (attributes and _hidden(tag, attributes))
        ):
            return True
        navigation = tag == "nav" or (attributes.get("role") or "").strip().lower() in _NAVIGATION
        self._is_navigation = navigation and not self._keep_navigation
        return self._is_navigation

    def _break(self) -> None:
        if self._raw is not None:
            self._raw.append("\n")
        else:
            self._flow.flush()

    # -- elements that mean more than a break

    def _heading(self, level: int) -> _Closer:
        if self._raw is None and self._flow.begin_heading(level):
            return self._flow.end_heading
        return self._break

    def _list(self, attributes: Mapping[str, str], *, ordered: bool = False) -> _Closer | None:
        if self._raw is not None:
            return None
        start = attributes.get("start") or ""
        first = int(start) if start.isascii() and start.isdigit() and len(start) < _DEEPEST_LISTED else 1
        return self._flow.end_list if self._flow.begin_list(ordered=ordered, start=first) else None

    def _ordered(self, attributes: Mapping[str, str]) -> _Closer | None:
        return self._list(attributes, ordered=True)

    def _item(self, attributes: Mapping[str, str]) -> None:
        del attributes
        self._flow.begin_item()

    def _table(self, attributes: Mapping[str, str]) -> _Closer | None:
        if self._raw is not None:
            return None
        layout = (attributes.get("role") or "") in {"presentation", "none"}
        return self._flow.end_table if self._flow.begin_table(layout=layout) else None

    def _row(self, attributes: Mapping[str, str]) -> None:
        del attributes
        if self._flow.table is not None:
            self._flow.table.row()

    def _thead(self, attributes: Mapping[str, str]) -> _Closer | None:
        del attributes
        table = self._flow.table
        if table is None:
            return None
        table.head(opened=True)

        def finish() -> None:
            self._flow.flush()
            table.head(opened=False)

        return finish

    def _cell(self, attributes: Mapping[str, str], *, header: bool = False) -> None:
        if self._flow.table is not None and not self._flow.table.layout:
            self._flow.table.begin(
                header=header,
                colspan=attributes.get("colspan") or "",
                rowspan=attributes.get("rowspan") or "",
            )

    def _header_cell(self, attributes: Mapping[str, str]) -> None:
        self._cell(attributes, header=True)

    def _caption(self, attributes: Mapping[str, str]) -> _Closer | None:
        del attributes
        return self._flow.caption if self._raw is None else None

    def _quote(self, attributes: Mapping[str, str]) -> _Closer:
        del attributes
        self._flow.quotes += 1

        def finish() -> None:
            self._break()
            self._flow.quotes -= 1

        return finish

    def _figure(self, attributes: Mapping[str, str]) -> _Closer:
        del attributes
        self._flow.figures += 1

        def finish() -> None:
            self._break()
            self._flow.figures -= 1

        return finish

    def _pre(self, attributes: Mapping[str, str]) -> _Closer | None:
        if self._raw is not None or not self._flow.stand_alone():
            return None
        taken: list[str] = []
        self._raw = taken
        self._language = _language_of(attributes)

        def finish() -> None:
            self._raw = None
            self._flow.code("".join(taken), self._language)

        return finish

    def _code(self, attributes: Mapping[str, str]) -> None:
        if self._raw is not None and self._language is None:
            self._language = _language_of(attributes)

    def _definition(self, attributes: Mapping[str, str]) -> _Closer:
        del attributes
        return self._flow.term if self._raw is None else self._break

    def _definitions(self, attributes: Mapping[str, str]) -> _Closer:
        del attributes
        return self._flow.end_terms if self._raw is None else self._break

    def _img(self, attributes: Mapping[str, str]) -> None:
        source = attributes.get("src") or attributes.get("href") or attributes.get("xlink:href") or ""
        alt = " ".join((attributes.get("alt") or "").split())
        if self._raw is not None:
            self._raw.append(alt)
            return
        self.characters += len(alt)
        if source.startswith("data:") or len(source) > _LONGEST_SOURCE:
            source = ""
        if source:
            self.pictures.append(source)
        self._flow.pieces.append(Shown(source, alt))

    def _br(self, attributes: Mapping[str, str]) -> None:
        del attributes
        (self._flow.pieces if self._raw is None else self._raw).append("\n")

    def _sup(self, attributes: Mapping[str, str]) -> _Closer | None:
        del attributes
        if self._raw is not None:
            return None
        pieces = self._flow.pieces
        start = len(pieces)

        def finish() -> None:
            words = "".join(piece for piece in pieces[start:] if isinstance(piece, str)).strip()
            before = pieces[start - 1] if 0 < start < len(pieces) else ""
            if pieces is not self._flow.pieces or not isinstance(before, str) or not _POWER.fullmatch(words):
                return
            # A raised number is a power after a number or a unit, and a note after a word.
            if _RAISED.search(before[-4:]):
                pieces.insert(start, "^")
            elif before[-1:].isalnum():
                pieces.insert(start, " ")

        return finish

    def _drawing(self, attributes: Mapping[str, str]) -> _Closer:
        del attributes
        self._drawings += 1

        def finish() -> None:
            self._drawings -= 1

        return finish

    def _ruby(self, attributes: Mapping[str, str]) -> _Closer:
        del attributes
        self._readings = []

        def finish() -> None:
            # After the whole word: between its characters they would keep it from being found.
            if any(self._readings) and self._raw is None:
                self._flow.pieces.append(f"({''.join(self._readings)})")
            self._readings = []

        return finish

    def _reading(self, attributes: Mapping[str, str]) -> _Closer:
        del attributes
        return self._captures(lambda text: self._readings.append(text.strip()))


def _hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    hidden = attributes.get("hidden")
    if (hidden is not None and hidden.lower() != "until-found") or _HIDDEN_STYLE.search(attributes.get("style") or ""):
        return True
    classes = attributes.get("class") or ""
    if not _DECORATION.isdisjoint(classes.split()):
        return True
    return tag == "a" and (attributes.get("href") or "").startswith("#") and bool(_JUMP.search(classes))


def _forget(text: str) -> None:
    del text


def _role_level(attributes: Mapping[str, str]) -> int:
    if attributes.get("role") != "heading":
        return 0
    level = attributes.get("aria-level") or ""
    return min(int(level), 6) if len(level) == 1 and level.isdigit() else 2


def _language_of(attributes: Mapping[str, str]) -> str | None:
    found = _LANGUAGE.search(attributes.get("class") or "")
    return found[1] if found else None
