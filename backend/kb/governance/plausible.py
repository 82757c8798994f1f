"""Whether a value is a secret, or a word, a placeholder or program text that stands where a secret could."""

from __future__ import annotations

import math
import re
from collections import Counter

from kb.governance.words import EXAMPLE_WORDS, STOP_WORDS

_SEPARATORS = re.compile(r"[\s_\-.,:/+]+|(?<=[a-z])(?=[A-Z])")
# What examples are made of. A value of nothing but these words says "your secret goes here".
# In brackets of any kind (the last may be cut off as punctuation), a variable, dots or stars, a name in capitals, a tag
# of YAML. Passwords may begin and end with brackets as well: what is in them must be mild.
_PLACEHOLDER = re.compile(
    r"\A(?:[<\[{(][\w .\-|:/$@,=]*[>\])}]*|[\w.]*[<\[{(].*[>\])}]|\[masked:.*|\$[A-Za-z_]\w*|\$[({].*|.*\$\{.*|.*\{\{.*"
    r"|%[^%]*%|[*•●∗·x.\-_#?…█○]+|[xX]{3,}.*|.*[xX*]{4,}|.*\.{3}.*|.*….*|[A-Z][A-Z_]*_[A-Z_]*|0+"
    r"|1234|12345|!{1,2}[A-Za-z/.]+)\Z",
    re.DOTALL,
)
# Names of methods and formats that hold digits (`password: bcrypt2b`), and measures (`8-16 characters`, `128bit`).
_TECHNICAL = re.compile(
    r"\A(?:(?:base\d+|sha-?\d+|md\d|utf-?\d+|bcrypt|argon2|pbkdf2|scrypt|oauth2?|oidc|aes-?\d*|rsa-?\d*|ed25519|hs\d+|rs\d+"
    r"|es\d+|x509|pkcs-?\d+|ipv\d|http/?\d|2fa|mfa|v\d+|ansi|ascii|iso-?\d+)(?:[-_/][a-z0-9]+)*"
    r"|[~≥>≤<]?\d+(?:\.\d+)?(?:[-~–]\d+)?[-+]?(?:st|nd|rd|th|chars?|characters?|bits?|bytes?|kb|mb|gb|ms|s|min|h|days?|d|x|%"
    r"|letters?|digits?|words?)?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})\Z",
    re.IGNORECASE,
)
_EXPRESSION = re.compile(
    r"\A(?:[&*!]?(?:self|this|props|state|req|request|res|response|ctx|context|config|settings|options|opts|args|params|data|"
    r"form|body|user|env|process|os|std|e|event|ev|input|row|obj|session|app|module|window|document)[.\[?].*"
    r"|[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)+[!?]?|.*\(.*|.*[;{}].*|[&*][\w:]+|[A-Za-z_$][\w$.]*\[.*|\w+<.*|.*=>.*|.*&&.*|.*\|\|.*)\Z",
    re.DOTALL,
)
_PATH = re.compile(r"\A(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.\-/\\]*\Z|\A[\w.\-]+(?:/[\w.\-]+)+\Z|\A\w+://")
_BASE64_WITH_SLASH = re.compile(r"(?=.*[0-9])(?=.*[A-Z])(?=.*[a-z])[A-Za-z0-9+/]{32,200}={0,2}\Z")
_FILE = re.compile(
    r"\A[\w.\-]+\.(?:md|txt|json|ya?ml|toml|env|py|js|ts|tsx|jsx|rs|html?|css|pdf|docx?|xlsx?|png|jpe?g|svg|key|pem|com|org|net|io)(?:[#?].*)?\Z"
)
_HARD_SYMBOL = re.compile(r"[!@#$%^&*+=?~]")
_ASIAN = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]")
_HANGUL = re.compile("[\uac00-\ud7a3]{2}")
_LEAST_HANGUL = 6
_INTERLEAVED = re.compile(r"[0-9][^\W\d_]+[0-9]|[^\W\d_]+[0-9]+[^\W\d_]")
_CASE_CHANGES = re.compile(r"[a-z][A-Z]")
_WORD_AND_NUMBER = re.compile(r"\A[a-z]+[-_]?\d{0,2}\Z|\A[A-Z][a-z]+\d{0,2}\Z", re.IGNORECASE)
# A name of a type or a variable that says what it holds, such as `V1SecretVolumeSource`.
_NAMES_ITSELF = re.compile(
    r"(?=\D*(?:\d\D*){0,3}\Z)[A-Za-z_]\w*?(?:[Ss]ecret|[Tt]oken|[Pp]assword|[Kk]ey|[Cc]redential)\w*\Z"
)
_LEAST_STRONG = 5
_LEAST_RANDOM = 12
_LEAST_BITS = 2.8


def is_placeholder(value: str) -> bool:
    """Return whether a value only stands for a secret: `<password>`, `${TOKEN}`, `xxxx`, `your-api-key`."""
    if _PLACEHOLDER.match(value) or len(set(value)) <= 2:  # noqa: PLR2004 - `------`, `abab`
        return True
    words = [word for word in _SEPARATORS.split(value.strip("'\"`")) if word]
    return bool(words) and all(word.lower() in EXAMPLE_WORDS for word in words)


def is_technical(value: str) -> bool:
    """Return whether a value is a measure, a date, the name of a method, a path, an address or a file."""
    if _TECHNICAL.match(value) or _FILE.match(value):
        return True
    return bool(_PATH.match(value)) and not _BASE64_WITH_SLASH.match(value)


def is_expression(value: str) -> bool:
    """Return whether a value is program text that only leads to a secret: a call, an attribute, a lookup."""
    return bool(_EXPRESSION.match(value))


def is_stop_word(value: str) -> bool:
    """Return whether a value is a word that describes or types a secret: `string`, `required`, `hidden`."""
    return value.lower() in STOP_WORDS


def is_strong(value: str) -> bool:
    """Return whether a value is no word: letters with digits or hard symbols, in one piece."""
    if len(value) < _LEAST_STRONG or _ASIAN.search(value) or is_placeholder(value) or is_technical(value):
        return False
    letters = any(letter.isalpha() for letter in value)
    digits = any(letter.isdigit() for letter in value)
    return (letters and (digits or _has_inner_symbol(value))) or (digits and bool(_HARD_SYMBOL.search(value)))


def is_hangul_password(value: str) -> bool:
    """Return whether a value is Hangul with a digit and a hard symbol in it: no word, no measure."""
    return (
        len(value) >= _LEAST_HANGUL
        and bool(_HANGUL.search(value))
        and any(letter.isdigit() for letter in value)
        and bool(_HARD_SYMBOL.search(value))
        and not is_placeholder(value)
    )


def is_word(value: str) -> bool:
    """Return whether a value is one plain word (or number of four digits and more) that may be a weak password."""
    if _ASIAN.search(value) or is_placeholder(value) or is_stop_word(value) or is_expression(value):
        return False
    if value.isdigit():
        return 4 <= len(value) <= 16  # noqa: PLR2004 - PINs, numbers as passwords
    return len(value) >= 4 and not is_technical(value)  # noqa: PLR2004 - shorter ones are abbreviations


def is_random(value: str) -> bool:
    """Return whether a value looks drawn, not written: what a key or token without a format of its own looks like."""
    if len(value) < _LEAST_RANDOM or _ASIAN.search(value) or is_placeholder(value) or is_technical(value):
        return False
    if _bits(value) < _LEAST_BITS or _NAMES_ITSELF.match(value):
        return False
    parts = [part for part in re.split(r"[_\-./+=:]", value) if part]
    if any(_INTERLEAVED.search(part) for part in parts):
        return True
    long = max(map(len, parts), default=0)
    if long >= 16 and any(letter.isdigit() for letter in value):  # noqa: PLR2004 - hex digits and base64 that happen to be tidy
        return True
    return long >= 24 and len(_CASE_CHANGES.findall(value)) >= 4  # noqa: PLR2004 - more than camel case has


def is_name_like(value: str) -> bool:
    """Return whether a value could be the name of a variable: a word, perhaps with a number behind it."""
    return bool(_WORD_AND_NUMBER.match(value))


def _has_inner_symbol(value: str) -> bool:
    """Return whether a hard symbol stands in a value, not only the mark that ends a sentence."""
    # `!vault` is a tag of YAML, and `done!` a sentence.
    return bool(_HARD_SYMBOL.search(value.strip("!?")))


def _bits(value: str) -> float:
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)
