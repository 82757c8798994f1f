"""Values that a name beside them says to be secret: `password: …`, `API_KEY=…`, `비밀번호: …`, `密码：…`.

The families of names follow the keyword rules of detect-secrets and gitleaks and the words that people write in notes;
what is a value and what is not is decided in `plausible`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kb.governance.found import Found, Setting
from kb.governance.names import SecretName, secret_names
from kb.governance.plausible import (
    is_expression,
    is_hangul_password,
    is_name_like,
    is_placeholder,
    is_random,
    is_stop_word,
    is_strong,
    is_technical,
    is_word,
)
from kb.governance.words import SENTENCE_WORDS
from kb.governance.wrapping import always, extent

# How an identifier may go on after the word that names the secret, what closes it, and what parts it from the value.
_REST = re.compile(
    r"(?P<more>(?:[_.\-][A-Za-z0-9_.\-]{1,40}|[0-9]{1,3})?)"
    r"(?P<closing>[\\\"'`*_\])>}]{0,5})"
    r"(?P<remark>[ \t\u00a0]{0,3}[(（\[][^()（）\[\]\n]{0,40}[)）\]])?"
    r"(?:(?P<sign>[ \t\u00a0]{0,20}(?:=>|:=|={1,2}|[:：＝]|->|→)[ \t\u00a0*_]{0,20}(?P<line>\n[ \t\u00a0]{0,20})?)"
    r"|(?P<cell>[ \t]{0,4}\|[ \t]{0,4})"
    r"|(?P<verb>[ \t]{1,3}(?:is|was|are|ist|es|est)(?: now| still| set to)?:?[ \t]{1,3}"
    r"|[은는이가][ \t]{0,3}|[ ]?(?:是|为|為|は|就是)[ :：]{0,3})"
    r"|(?P<element>(?<=>)(?=[^\s<]))"
    r"|(?P<space>[ \t]{1,3})"
    r"|(?P<below>[ \t]{0,4}\n[ \t]{0,8}))"
)
_DESCRIBES = re.compile(
    r"[_.\-]?(?:hash|field|reset|policy|length|len|file|path|url|uri|manager|input|label|hint|min|max|expir\w*|name|type|count"
    r"|limit|size|required|prompt|error|message|help|text|title|placeholder|regex|pattern|format|strength|confirm\w*|rotation|number"
    r"|provider|store|storage|id|arn|ref|status|ttl|scope\w*|source|location|dir|class|style|selector|index|column|policy)\b",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}
_OPENING = re.compile(r"\\?([\"'`“‘「『«])")
_BARE = re.compile(r"[^\s\"'`“”‘’「」『』|，。、；（）]{1,300}+")
_END = re.compile(r"[,;:.)\]}>\\]+\Z")
_COPULA = re.compile(r"(?<=[0-9A-Za-z!@#$%^&*+=?~])(?:입니다|이에요|예요|이다|임|이고|이며)[.!?]?\Z")
_SENTENCE_REST = re.compile(r"[ \t]*[^\W\d_]")
_RANDOM_BODY = re.compile(r"[A-Za-z0-9+/=_\-]{1,4000}+")
_OPTION = re.compile(r"--[A-Za-z\-]{0,20}\Z")
_OTHER_VALUE = re.compile(r"[^\s/]{1,60}[ \t]{0,2}/[ \t]{0,2}(?=\S)")
_COMMENT = re.compile(r"[ \t]{0,80}(?:#|//|--|/?\*|<!--|;|%|\"\"\")")
_PHRASE = re.compile(r"[a-z]{3,12}(?:[ \-][a-z]{3,12}){3,23}(?=[ \t]*(?:\n|\Z|\|))")
_LINE_START = re.compile(r"(?:\A|\n)[ \t>*#\-]{0,12}(?:[A-Za-z]{1,12}[ _-])?\Z")
_PIN = re.compile(r"([0-9]{4,8})(?=[ \t]*(?:[.,;|)]|\n|\Z))")
_MOST_WORDS = 8
_NUMBER_IN_NAME = re.compile(r"[A-Za-z]{3,}[0-9]{1,3}[A-Za-z]{4,}\Z")
_LOOK_BACK = 24
_AWS_SECRET_LENGTH = 40
_DIGIT = re.compile(r"[0-9]")
_LEAST_QUOTED = 4
_MOST_QUOTED = 300
_LEAST_TOKEN = 8
_LEAST_BARE = 6


class _Value:
    """A value as it stands: from where to where, whether in quotes, and whether anything follows on its line."""

    __slots__ = ("alone", "end", "quoted", "start", "text")

    def __init__(self, text: str, start: int, end: int, *, quoted: bool, alone: bool) -> None:
        self.start, self.end, self.quoted, self.alone = start, end, quoted, alone
        self.text = text[start:end]


def find_named(
    text: str, lower: str, setting: Callable[[int], Setting], joins: Callable[[int], bool] = always
) -> Iterator[Found]:
    """Yield the values that stand beside the name of a secret; `lower` is the text in lower case, just as long."""
    for name in secret_names(lower):
        rest = _REST.match(text, name.end)
        if not rest or _DESCRIBES.match(rest["more"]):
            continue
        before = text[max(0, name.start - _LOOK_BACK) : name.start]
        at = rest.end()
        if before.rstrip().endswith("/"):  # `user / password: ann / secret`
            other = _OTHER_VALUE.match(text, at)
            at = other.end() if other else at
        if name.kind == "pin":
            number = _PIN.match(text, at) if rest["sign"] is not None and setting(at) is not Setting.PROGRAM else None
            if number:
                yield Found(*number.span(1), "password", number[1])
            continue
        value = _phrase(text, at, name, rest, setting)
        if value:
            yield Found(value.start, value.end, name.kind, value.text)
            continue
        value = _value(text, at, name.start)
        if value is None or (rest["element"] is not None and not text.startswith("</", value.end)):
            continue
        kind_of_text = setting(value.start)
        if kind_of_text is Setting.PROGRAM and _COMMENT.match(text, text.rfind("\n", 0, name.start) + 1):
            kind_of_text = Setting.PROSE
        if _accepted(value, kind_of_text) and _says_so(
            value, rest, is_password=name.is_password, setting=kind_of_text, is_option=bool(_OPTION.search(before))
        ):
            end = _whole(text, value, name.text, joins)
            yield Found(value.start, end, name.kind, "".join(text[value.start : end].split()))


def _value(text: str, at: int, name_start: int) -> _Value | None:
    opening = _OPENING.match(text, at)
    if opening:
        closing = text.find(_QUOTES[opening[1]], opening.end(), opening.end() + _MOST_QUOTED)
        start = opening.end()
        if closing < 0 or "\n" in text[start:closing]:
            return None
        end = closing - 1 if text[closing - 1] == "\\" else closing
        return _Value(text, start, end, quoted=True, alone=True) if end > start else None
    bare = _BARE.match(text, at)
    if not bare:
        return None
    end = bare.end()
    end = _cut_parameters(text, at, end, name_start)
    tail = _END.search(text, at, end)
    stops = text[end : end + 1] in {"", " ", "\n", "\t", "|", '"', "'", "<"}
    if tail and tail.start() > at and stops:
        end = tail.start()
    copula = _COPULA.search(text, at, end)
    if copula and copula.start() > at:
        end = copula.start()
    element = text.find("</", at, end)
    if element > at:
        end = element
    line_end = text.find("\n", end, end + 200)
    rest = text[end : line_end if line_end >= 0 else end + 200]
    return _Value(text, at, end, quoted=False, alone=not _SENTENCE_REST.search(rest.partition("|")[0][:40]))


def _cut_parameters(text: str, at: int, end: int, name_start: int) -> int:
    """Return where a value ends that is one of several: in a query of an address, or a connection string."""
    semicolon = text.find(";", at, end)
    if semicolon > at:
        end = semicolon
    if "&" in text[at:end] and (text[name_start - 1 : name_start] in {"?", "&"} or re.search(r"&\w+=", text[at:end])):
        end = text.index("&", at, end)
    return end


def _accepted(value: _Value, setting: Setting) -> bool:
    """Return whether a value may be one at all: no placeholder, no word of a sentence, no program text."""
    text = value.text
    if is_placeholder(text) or is_stop_word(text):
        return False
    program = setting is Setting.PROGRAM and not value.quoted
    if is_expression(text) and (program or not _sure(text)):
        return False
    return not (program and (is_name_like(text) or not is_strong(text)))


def _says_so(value: _Value, rest: re.Match[str], *, is_password: bool, setting: Setting, is_option: bool) -> bool:
    """Return whether a value is one for what parts it from its name: the weaker the sign, the stronger it must be."""
    text = value.text
    if " " in text:
        return _is_phrase(value, is_password=is_password)
    if rest["space"] is not None and not is_option:
        # `PASSWORD 'x'` of SQL, `wifi password x` of notes: nothing says that a value follows but the value.
        return is_password and is_strong(text) and len(text) >= _LEAST_BARE and _is_hard(text)
    if rest["verb"] is not None:
        if is_password and (is_hangul_password(text) or (value.alone and _is_said(text))):
            return True
        return is_strong(text) and _is_mixed(text) and (is_password or is_random(text))
    if rest["cell"] is not None or rest["below"] is not None or rest["line"] is not None:
        whole = value.alone or rest["cell"] is not None
        return whole and is_strong(text) and not is_name_like(text) and (is_password or is_random(text))
    return _beside_sign(value, is_password=is_password, setting=setting)


def _beside_sign(value: _Value, *, is_password: bool, setting: Setting) -> bool:
    """Return whether a value behind `:` or `=` is a secret."""
    text = value.text
    if not is_password:
        return is_random(text) or (len(text) >= _LEAST_TOKEN and is_strong(text) and _is_mixed(text))
    if is_strong(text) or is_hangul_password(text):
        return True
    alone = value.alone if setting is not Setting.PROGRAM else value.quoted and len(text) > _LEAST_QUOTED
    return alone and is_word(text)


def _phrase(
    text: str, at: int, name: SecretName, rest: re.Match[str], setting: Callable[[int], Setting]
) -> _Value | None:
    """Return words that are a pass phrase: some in a row that make no sentence, and nothing else on the line.

    What is not called a phrase must begin a line: `password: correct horse battery staple`.
    """
    called = "phrase" in name.text
    first = called or (name.is_password and _LINE_START.search(text, max(0, name.start - _LOOK_BACK), name.start))
    if rest["sign"] is None or not first or not (match := _PHRASE.match(text, at)):
        return None
    words = match[0].replace("-", " ").split()
    if any(is_stop_word(word) for word in words):
        return None
    if not called and (
        setting(at) is Setting.PROGRAM or len(words) > _MOST_WORDS or not SENTENCE_WORDS.isdisjoint(words)
    ):
        return None
    return _Value(text, match.start(), match.end(), quoted=False, alone=True)


def _is_phrase(value: _Value, *, is_password: bool) -> bool:
    """Return whether quoted words are a pass phrase: few, and one of them no word."""
    words = value.text.split()
    short = is_password and value.quoted and len(words) <= 4  # noqa: PLR2004 - more are a sentence
    return short and is_strong("".join(words)) and _is_mixed("".join(words)) and bool(_DIGIT.search(value.text))


def _is_mixed(text: str) -> bool:
    """Return whether three of the four kinds of characters occur, or letters and digits take turns at some length."""
    kinds = [
        any(letter.islower() for letter in text),
        any(letter.isupper() for letter in text),
        any(letter.isdigit() for letter in text),
        bool(re.search(r"[^\w\s.,:;/()\-]", text)),
    ]
    return sum(kinds) >= 3 or is_random(text)  # noqa: PLR2004 - three of four


def _is_said(text: str) -> bool:
    """Return whether the last word of `the password is …` is one: letters with a digit in them, no word and number."""
    is_name = is_name_like(text) or _NUMBER_IN_NAME.match(text)
    return len(text) >= _LEAST_BARE and is_strong(text) and not is_name and text.isalnum()


def _is_hard(text: str) -> bool:
    """Return whether letters, digits and a sign that no word has occur together."""
    return bool(re.match(r"(?=.*[A-Za-z])(?=.*[0-9]).*[!@#$%^&*?~]", text))


def _sure(text: str) -> bool:
    """Return whether a value with signs of program text is a password all the same: no call, no path of names."""
    return (
        "(" not in text
        and not re.match(r"[A-Za-z_$][\w$]*(?:\.|::|->|\?\.)[A-Za-z_$]", text)
        and not is_technical(text)
    )


def _whole(text: str, value: _Value, name: str, joins: Callable[[int], bool]) -> int:
    """Return where the value ends, a part on the next line included."""
    if value.quoted or not is_random(value.text):
        full = _AWS_SECRET_LENGTH if "aws" in name and len(value.text) < _AWS_SECRET_LENGTH else 0
        if not full or value.quoted:
            return value.end
        return max(
            value.end, extent(text, value.start, _RANDOM_BODY, (1, full), exact=full == _AWS_SECRET_LENGTH, joins=joins)
        )
    run = _RANDOM_BODY.match(text, value.start)
    if not run or run.end() != value.end:
        return value.end
    full = _AWS_SECRET_LENGTH if "secret" in name and len(value.text) < _AWS_SECRET_LENGTH else len(value.text)
    return max(
        value.end, extent(text, value.start, _RANDOM_BODY, (1, full), exact=full == _AWS_SECRET_LENGTH, joins=joins)
    )
