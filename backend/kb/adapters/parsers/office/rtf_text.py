"""Rich text read token by token (RTF 1.9.1): groups, destinations, code pages of fonts, styles."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kb.domain.errors import Unreadable

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.DOTALL
)
_CHARSETS = {
    0: "cp1252", 77: "mac_roman", 78: "shift_jis", 79: "cp949", 80: "gb2312", 81: "big5", 128: "cp932", 129: "cp949",
    130: "johab", 134: "gb18030", 136: "big5hkscs", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255",
    178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
_CODE_PAGES = {"936": "gb18030", "950": "big5hkscs", "949": "cp949", "932": "cp932", "65001": "utf-8", "1361": "johab"}
_SIGNS = {
    "tab": "\t",
    "line": "\n",
    "lbr": "\n",
    "emdash": "\u2014",
    "endash": "\u2013",
    "emspace": "\u2003",
    "enspace": "\u2002",
    "qmspace": "\u2005",
    "bullet": "\u2022",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
}
_SYMBOLS = {"~": "\u00a0", "-": "", "_": "\u2011", "\n": "\n", "\r": "\n"}
# Groups that belong to what they stand in, though some are marked as if they could be passed over.
_TRANSPARENT = frozenset(("field", "fldrslt", "shp", "shpinst", "shptxt", "shppict", "object", "result", "info"))
# Groups whose text is read, each for itself; all others with a name or a star are passed over.
_READ = frozenset(
    (
        *("footnote", "annotation", "atnauthor", "stylesheet", "fonttbl", "pict"),
        *("header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"),
        *("title", "author", "subject", "keywords", "creatim", "revtim"),
    )
)
_PASSED_OVER = frozenset(
    (
        *("colortbl", "listtext", "pntext", "pntxta", "pntxtb", "pn", "listtable", "listoverridetable", "revtbl"),
        *("xe", "tc", "rxe", "fldinst", "objdata", "nonshppict", "sp", "upr", "private", "nonesttables", "filetbl"),
        *("operator", "company", "manager", "category", "generator", "printim", "buptim", "doccomm", "comment"),
        *("atnid", "atnref", "atnicn", "atntime", "atnparent", "fname", "panose", "falt", "fontemb", "themedata"),
        *("bkmkstart", "bkmkend", "hlinkbase", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc", "ftncn", "aftncn"),
    )
)
_DEEPEST = 1_000


@dataclass(frozen=True, slots=True)
class State:
    """What holds inside a group; a closing brace brings the state before back.

    Attributes:
        destination: where its text goes, `` for the body, `-` for nowhere.
        skip: letters that stand in for a Unicode letter, for programs that do not know it.
    """

    destination: str = ""
    encoding: str = "cp1252"
    font: int = -1
    skip: int = 1
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """Text, or a control word with its number, and where it stands."""

    word: str
    number: int | None
    text: str
    state: State
    depth: int


def pieces(data: bytes) -> Iterator[Piece]:
    """Yield text and control words in order; the end of a group as the word `}` with the destination around it.

    Raises:
        Unreadable: `wrong_type`, or `too_complex` when groups nest beyond reason.
    """
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf"):
        raise Unreadable("it is no rich text", reason="wrong_type")
    yield from _Reader(data).pieces()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._state = State()
        self._stack: list[State] = []
        self._bytes = bytearray()
        self._encodings: dict[int, str] = {}
        self._font = 0
        self._left_out = 0
        self._starred = False
        self._high = 0
        self._begun = False

    def pieces(self) -> Iterator[Piece]:
        position = 0
        while (found := _TOKEN.match(self._data, position)) is not None:
            position = found.end()
            word, number, code, symbol, brace, text = found.groups()
            if word is not None:
                name = word.decode("ascii")
                if name == "bin":  # raw bytes, whatever they look like
                    position = min(len(self._data), position + max(0, int(number or 0)))
                    continue
                yield from self._word(name, None if number is None else int(number))
            elif code is not None:
                self._take(bytes((int(code, 16),)))
            elif text is not None:
                self._take(text)
            elif symbol is not None:
                yield from self._symbol(symbol)
            elif brace is not None:
                yield from self._brace(brace)
                if self._begun and not self._stack:
                    break
        yield from self._flush()

    def _brace(self, brace: bytes) -> Iterator[Piece]:
        yield from self._flush()
        self._left_out = 0
        if brace == b"{":
            if len(self._stack) >= _DEEPEST:
                raise Unreadable("its groups nest beyond reason", reason="too_complex")
            self._stack.append(self._state)
            self._begun = True
        elif self._stack:
            closed = self._state
            self._state = self._stack.pop()
            yield Piece("}", None, self._state.destination, closed, len(self._stack) + 1)
        self._starred = False

    def _symbol(self, symbol: bytes) -> Iterator[Piece]:
        letter = symbol.decode("latin-1")
        if letter == "*":
            self._starred = True
        elif letter in "\\{}":
            self._take(symbol)
        elif letter in "\r\n":
            yield from self._flush()
            yield Piece("par", None, "", self._state, len(self._stack))
        elif letter in _SYMBOLS:
            yield from self._say(_SYMBOLS[letter])

    def _word(self, name: str, number: int | None) -> Iterator[Piece]:
        if name == "u":
            yield from self._unicode(number or 0)
            return
        if name in _SIGNS:
            yield from self._say(_SIGNS[name])
            return
        yield from self._flush()
        starred, self._starred = self._starred, False
        self._left_out = 0
        passed_over = self._state.destination == "-"
        if name == "ud" and passed_over and len(self._stack) > 1:
            # The Unicode form of the group around it, whose other form is for older programs.
            self._state = replace(self._state, destination=self._stack[-2].destination)
        elif name in _READ and not passed_over:
            self._state = replace(self._state, destination=name)
        elif name in _PASSED_OVER or (starred and name not in _TRANSPARENT and name not in _READ):
            self._state = replace(self._state, destination="-")
        elif name not in _TRANSPARENT:
            self._set(name, number)
        yield Piece(name, number, "", self._state, len(self._stack))

    def _set(self, name: str, number: int | None) -> None:
        state = self._state
        if name == "ansicpg":
            self._state = replace(state, encoding=_known(str(number)))
        elif name in {"mac", "pc", "pca"}:
            self._state = replace(state, encoding={"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[name])
        elif name == "uc":
            self._state = replace(state, skip=max(0, min(number if number is not None else 1, 8)))
        elif name == "f":
            if state.destination == "fonttbl":
                self._font = number or 0
            self._state = replace(state, font=number or 0)
        elif name == "fcharset" and state.destination == "fonttbl":
            if number in _CHARSETS and number:
                self._encodings[self._font] = _CHARSETS[number]
        elif name == "plain":
            self._state = replace(state, font=-1, hidden=False)
        elif name in {"v", "deleted"}:
            self._state = replace(state, hidden=number != 0)

    def _unicode(self, number: int) -> Iterator[Piece]:
        code = number & 0xFFFF if number < 0 else number
        letters = ""
        if 0xD800 <= code < 0xDC00:  # noqa: PLR2004 - first half of a pair
            self._high = code
        elif 0xDC00 <= code < 0xE000 and self._high:  # noqa: PLR2004 - second half
            letters = chr(0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00)
            self._high = 0
        elif not 0xD800 <= code < 0xE000 and code <= 0x10FFFF:  # noqa: PLR2004
            # Symbol fonts say their signs in a private area above their own code.
            letters = "" if 0xF000 <= code <= 0xF0FF else chr(code)  # noqa: PLR2004
        yield from self._say(letters)
        self._left_out = self._state.skip

    def _take(self, raw: bytes) -> None:
        if self._left_out:
            kept = raw[self._left_out :]
            self._left_out = max(0, self._left_out - len(raw))
            raw = kept
        self._bytes += raw

    def _say(self, text: str) -> Iterator[Piece]:
        yield from self._flush()
        self._left_out = 0
        if text:
            yield Piece("", None, text, self._state, len(self._stack))

    def _flush(self) -> Iterator[Piece]:
        if self._bytes:
            raw = bytes(self._bytes)
            self._bytes.clear()
            encoding = self._encodings.get(self._state.font, self._state.encoding)
            text = raw.decode(encoding if not raw.isascii() else "ascii", errors="replace")
            yield Piece("", None, text, self._state, len(self._stack))


def _known(code_page: str) -> str:
    name = _CODE_PAGES.get(code_page, f"cp{code_page}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name
