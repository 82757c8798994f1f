"""Tokens and keys that show what they are: the formats their makers publish.

Sources: docs.github.com "GitHub's token formats" (2021); GitLab "Token prefixes"; AWS IAM "IAM identifiers" (unique id
prefixes); api.slack.com "Token types" and "Incoming webhooks"; Google Cloud "API keys" and "OAuth client secrets";
stripe.com/docs/keys; platform.openai.com and docs.anthropic.com (keys begin with `sk-`); docs.npmjs.com "npm tokens";
the help of PyPI (macaroons, `pypi-`); Docker "Personal access tokens"; huggingface.co/docs/hub/security-tokens; RFC
7519 (JWT); Microsoft "Shared access signature". The prefixes of further services are as in the public rule families of
detect-secrets, gitleaks and trufflehog. Lengths are kept looser than published, since makers lengthen them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kb.governance.found import Found
from kb.governance.wrapping import always, extent

_ALNUM = r"[A-Za-z0-9]"
_WORD = r"[A-Za-z0-9_]"
_URLSAFE = r"[A-Za-z0-9_\-]"
_DOTTED = r"[A-Za-z0-9_.\-]"
_BASE64 = r"[A-Za-z0-9+/=_\-]"
_HEX = r"[A-Fa-f0-9]"
_LONGEST_EXACT = 36


@dataclass(frozen=True, slots=True)
class _Shape:
    """Tokens that begin with one of some prefixes.

    Attributes:
        body: the class of the characters that follow.
        least: how many must follow.
        full: how many follow by the published format; a token broken over lines is put together up to there.
        needs: what the body must contain, so that words with such a beginning stay.
        keeps: the prefix is a name or an address and stays.
    """

    kind: str
    prefixes: tuple[str, ...]
    body: re.Pattern[str]
    least: int
    full: int
    needs: re.Pattern[str]
    keeps: bool = False

    @property
    def is_exact(self) -> bool:
        """Return whether the format has one length; others grow with what they carry."""
        return self.full <= _LONGEST_EXACT


def _shape(
    kind: str, prefixes: str, body: str, length: tuple[int, int], needs: str = "", *, keeps: bool = False
) -> _Shape:
    run = re.compile(f"{body}{{1,4000}}+")
    return _Shape(kind, tuple(prefixes.split()), run, *length, re.compile(needs), keeps)


_DIGIT = r".*[0-9]"
_MIXED = r"(?=.*[0-9])(?=.*[A-Za-z])"
_BOTH_CASES = r"(?=.*[A-Z])(?=.*[a-z])"
_GITLAB = "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glsoat- glagent-"
_SLACK = "xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxd- xoxo- xoxe- xoxe. xapp-"
_SLACK_HOOKS = "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/"
_DISCORD_HOOKS = "discord.com/api/webhooks/ discordapp.com/api/webhooks/"
_OTHER_SERVICES = (
    "lin_api_ ntn_ sbp_ glsa_ glc_ rubygems_ tskey- pscale_tkn_ pscale_pw_ sntrys_ dp.pt. PMAK- NRAK- ops_eyJ sq0atp- "
    "sq0csp- ATATT3 HRKU- lsv2_pt_"
)
_SHAPES = (
    _shape("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM, (20, 36)),
    _shape("github_token", "github_pat_", _WORD, (22, 82)),
    _shape("gitlab_token", _GITLAB, _DOTTED, (20, 20), _MIXED),
    # Beside the true beginnings those that recognised text gives, in which I, l and 1 look alike.
    _shape("aws_key", "AKIA AKlA AK1A ASIA ASlA ABIA ACCA", r"[A-Z0-9]", (16, 16), r".{16}\Z"),
    _shape("slack_token", _SLACK, r"[A-Za-z0-9\-%.]", (20, 40), _DIGIT),
    _shape("webhook", _SLACK_HOOKS, r"[A-Za-z0-9/_+\-]", (20, 40), keeps=True),
    _shape("webhook", _DISCORD_HOOKS, r"[A-Za-z0-9/_\-]", (40, 60), keeps=True),
    _shape("google_key", "AIza Alza A1za", _URLSAFE, (30, 35), _MIXED),
    _shape("google_key", "GOCSPX-", _URLSAFE, (20, 28)),
    _shape("google_key", "ya29.", _DOTTED, (30, 60)),
    _shape("google_key", "1//0", _URLSAFE, (40, 60), _MIXED),
    _shape("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"[A-Za-z0-9+/=]", (16, 99), _DIGIT),
    _shape("ai_key", "sk-", _URLSAFE, (20, 48), rf"{_MIXED}(?:(?=.*[A-Z])|.*[0-9a-f]{{16}})"),
    _shape("ai_key", "gsk_ pplx- xai- r8_", _ALNUM, (30, 40), _MIXED),
    _shape("npm_token", "npm_", _ALNUM, (30, 36)),
    _shape("pypi_token", "pypi-", _URLSAFE, (50, 150), _MIXED),
    _shape("docker_token", "dckr_pat_ dckr_oat_", _URLSAFE, (20, 27)),
    _shape("huggingface_token", "hf_ api_org_", _ALNUM, (30, 34), _BOTH_CASES),
    _shape("jwt", "eyJ", _DOTTED, (30, 80), r"[^.]{6,}\.[^.]{6,}\."),
    _shape("azure_key", "sig=", r"[A-Za-z0-9%+/=]", (40, 46), r"(?=.*%3[dD])|.*=\Z", keeps=True),
    _shape("sendgrid_key", "SG.", _DOTTED, (50, 66), r"[^.]{16,}\.[^.]{16,}"),
    _shape("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", _HEX, (40, 64)),
    _shape("shopify_token", "shpat_ shpca_ shppa_ shpss_", _HEX, (30, 32)),
    _shape("databricks_token", "dapi", r"[a-f0-9]", (32, 32)),
    _shape("age_key", "AGE-SECRET-KEY-1", r"[A-Z0-9]", (50, 58)),
    _shape("vault_token", "hvs. hvb. hvr.", _URLSAFE, (24, 90), _MIXED),
    _shape("api_token", _OTHER_SERVICES, _BASE64, (20, 32), _MIXED),
    _shape("api_token", "EAAC EAAA", _ALNUM, (60, 100), _MIXED),
    _shape("twilio_key", "SK", r"[a-f0-9]", (32, 32), r".{32}\Z"),
)
# Every token has a stretch this long (as has the beginning of one that a line end cuts), and hardly any word. One match
# steps over all shorter ones and always succeeds, so the time is that of one pass.
_STRETCH = re.compile(
    r"(?:[^A-Za-z0-9_\-./:+=%]*+[A-Za-z0-9_\-./:+=%]{1,9}+(?![A-Za-z0-9_\-./:+=%]))*+[^A-Za-z0-9_\-./:+=%]*+"
    r"([A-Za-z0-9_\-./:+=%]{10,}+|\Z)"
)
_PREFIXES = {prefix: shape for shape in _SHAPES for prefix in shape.prefixes}
_TELEGRAM = re.compile(r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_\-]{32,34}(?![A-Za-z0-9_\-])")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=_\-.])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_])")
_NEAR = 300
_MIX = re.compile(r"(?=.*[0-9])(?=.*[A-Z])(?=.*[a-z])")
_MASKLIKE = re.compile(r"(.)\1{9}|[xX]{6}|EXAMPLEEXAMPLE|0123456789ABCDEF0123456789", re.DOTALL)


def _any_prefix() -> re.Pattern[str]:
    """Return the pattern of all prefixes, parted by their first letters: one step tells that none begins here."""
    rests: dict[str, list[str]] = {}
    for prefix in sorted(_PREFIXES, key=len, reverse=True):
        rests.setdefault(prefix[0], []).append(re.escape(prefix[1:]))
    # Looked at, not taken: what ends one prefix may be what stands before the next.
    any_of = "|".join(f"{re.escape(first)}(?:{'|'.join(r)})" for first, r in rests.items())
    return re.compile(rf"(?:\A|[^A-Za-z0-9])(?=({any_of}))")


_ANY_PREFIX = _any_prefix()
_LEAST_PREFIX = 3  # two letters come about by chance
_OTHERS = re.compile("|".join(re.escape(prefix) for prefix in _PREFIXES if len(prefix) >= _LEAST_PREFIX))


def find_tokens(text: str, joins: Callable[[int], bool] = always) -> Iterator[Found]:
    """Yield the tokens of published formats, those broken over a line end too; `joins` as in `extent`."""
    stretches = "\n".join(_STRETCH.findall(text))
    for prefix in sorted(set(_ANY_PREFIX.findall(stretches))):
        yield from _with_prefix(text, _PREFIXES[prefix], prefix, joins)
    if ":AA" in stretches:
        for match in _TELEGRAM.finditer(text):
            yield Found(match.start(), match.end(), "telegram_token", match[0])


def _with_prefix(text: str, shape: _Shape, prefix: str, joins: Callable[[int], bool]) -> Iterator[Found]:
    at = text.find(prefix)
    while at >= 0:
        begin = at + len(prefix)
        end = _body_end(text, shape, at, begin, joins)
        if end:
            start = begin if shape.keeps else at
            yield Found(start, end, shape.kind, "".join(text[start:end].split()))
            if shape.kind == "aws_key":
                yield from _aws_secrets(text, at, end)
        # What is no token from here is none from within either: the run is not looked at again.
        run = None if end else shape.body.match(text, begin)
        at = text.find(prefix, end or (run.end() if run and _bounded(text, at, shape) else begin))


def _body_end(text: str, shape: _Shape, at: int, begin: int, joins: Callable[[int], bool]) -> int:
    """Return where the token ends, 0 when there is none."""
    if not _bounded(text, at, shape):
        return 0
    length = shape.least, shape.full
    end = extent(text, begin, shape.body, length, exact=shape.is_exact, joins=joins, others=_OTHERS)
    while end > begin and text[end - 1] in ".-/%":
        end -= 1
    body = "".join(text[begin:end].split())
    if len(body) < shape.least or not shape.needs.match(body) or _MASKLIKE.search(body):
        return 0
    return end


def _bounded(text: str, at: int, shape: _Shape) -> bool:
    """Return whether a prefix begins a word, or an address, which may stand within one."""
    return not at or shape.keeps or not (text[at - 1].isalnum() and text[at - 1].isascii())


def _aws_secrets(text: str, start: int, end: int) -> Iterator[Found]:
    """Yield secret access keys beside an access key id: they have no prefix of their own."""
    for match in _AWS_SECRET.finditer(text, max(0, start - _NEAR), end + _NEAR):
        if _MIX.match(match[0]):
            yield Found(match.start(), match.end(), "aws_secret", match[0])
