"""Names that say their value is a secret, in the languages people keep notes in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class SecretName(NamedTuple):
    """A name at `start` to `end`; `is_password` when people choose such values, so that they may be words."""

    start: int
    end: int
    kind: str
    is_password: bool
    text: str


class _Family(NamedTuple):
    """Names that contain `needle`; `whole` is matched where the needle stands, `before` must precede it."""

    needle: str
    whole: re.Pattern[str]
    kind: str
    is_password: bool
    before: re.Pattern[str] | None = None


_NOT_GOING_ON = r"(?![a-z])"
_BEFORE_KEY = re.compile(
    r"(?:api|access|auth|account|app|application|client|consumer|encryption|master|private|service|signing|storage"
    r"|license|deploy|deployment|webhook|subscription|session|admin|aws|jwt|primary|secondary|secret|shared|sharedaccess"
    r"|shared access|recovery|product|activation|hmac|crypto|cipher|aes|token|instrumentation|integration|rest|server"
    r"|write|openai|anthropic|stripe|sendgrid|google|azure|github|gitlab|slack|twilio|mailgun|datadog"
    r"|cloudflare|heroku)[ _.\-]?\Z"
)
_WORD_START = re.compile(r"(?:\A|[^a-z0-9])\Z")
_PASS = rf"pass(?:[ _-]?(?:word|phrase|code)|wd|wort|wörter)s?{_NOT_GOING_ON}"
_SECRET = rf"secret(?:[ _-]?(?:access)?[ _-]?(?:key|token|string))?s?{_NOT_GOING_ON}"


def _family(needle: str, whole: str, kind: str = "password", before: re.Pattern[str] | None = None) -> _Family:
    return _Family(needle, re.compile(whole), kind, kind == "password", before)


_LATIN = (
    _family("pass", _PASS),
    # Alone it is a verb and a verdict as well: only a value that is no word counts.
    _Family("pass", re.compile(rf"pass{_NOT_GOING_ON}"), "password", is_password=False, before=_WORD_START),
    _family("pwd", rf"pwd{_NOT_GOING_ON}"),
    _family("pw", rf"pw{_NOT_GOING_ON}", before=_WORD_START),
    _family("pin", rf"pin(?:[ _-]?(?:code|number))?{_NOT_GOING_ON}", "pin", before=_WORD_START),
    _family("kennwort", "kennwort"),
    _family("contrase", "contrase(?:ñ|n)a"),
    _family("mot de passe", "mot de passe"),
    _family("hasło", "hasło"),
    _family("senha", rf"senha{_NOT_GOING_ON}", before=_WORD_START),
    _family("identified by", "identified by", before=_WORD_START),
    _family("phrase", rf"phrase{_NOT_GOING_ON}", before=re.compile(r"(?:seed|recovery|secret|backup)[ _-]?\Z")),
    _family("secret", _SECRET, "secret"),
    _family("token", rf"token{_NOT_GOING_ON}", "token"),
    _family("credential", rf"credentials?{_NOT_GOING_ON}", "secret"),
    _family("key", rf"key{_NOT_GOING_ON}", "api_key", _BEFORE_KEY),
)
_PASSWORD_WORDS = (
    *("비밀번호", "비밀 번호", "패스워드", "비번", "암호", "핀번호"),
    *("密码", "密碼", "口令", "パスワード", "暗証番号"),
    *("пароль", "ật khẩu", "كلمة المرور", "كلمة السر", "κωδικός"),
)
_KEY_WORDS = (
    *(
        "비밀키",
        "비밀 키",
        "인증키",
        "인증 키",
        "접근 키",
        "액세스 키",
        "액세스키",
        "api키",
        "api 키",
        "토큰",
        "시크릿",
    ),
    *("密钥", "密鑰", "秘钥", "令牌", "トークン", "秘密鍵"),
)
# One pass for all of them, and for their letters alone, which no text in Latin letters has: names that begin in Latin
# are sought from their first other letter on.
_OTHERS = re.compile("|".join(word.removeprefix("api").lstrip() for word in _PASSWORD_WORDS + _KEY_WORDS))
_LOOK_BACK = 24


def secret_names(lower: str) -> Iterator[SecretName]:
    """Yield the names in a text in lower case, family by family."""
    for family in _LATIN:
        at = lower.find(family.needle)
        while at >= 0:
            match = family.whole.match(lower, at)
            if match and _stands_right(lower, at, family):
                name = lower[max(0, at - _LOOK_BACK) : match.end()]
                yield SecretName(at, match.end(), _kind(family.kind, name), family.is_password, name)
            at = lower.find(family.needle, at + len(family.needle))
    if not lower.isascii():
        for match in _OTHERS.finditer(lower):
            is_password = match[0] in _PASSWORD_WORDS
            if match[0] != "키" or lower[max(0, match.start() - 4) : match.start()].rstrip().endswith("api"):
                yield SecretName(*match.span(), "password" if is_password else "token", is_password, match[0])


def _stands_right(lower: str, at: int, family: _Family) -> bool:
    return family.before is None or bool(family.before.search(lower[max(0, at - _LOOK_BACK) : at]))


def _kind(kind: str, name: str) -> str:
    """Return the narrower kind where the name tells it."""
    if "aws" in name and "secret" in name:
        return "aws_secret"
    if re.search(r"(?:account|sharedaccess|shared access) ?key\Z", name):
        return "azure_key"
    return kind
