"""Made-up secrets in published formats; none has ever opened anything."""

from __future__ import annotations

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def drawn(seed: int, length: int, letters: str = _LETTERS) -> str:
    """Return letters that look drawn, the same for the same seed (Numerical Recipes' linear congruences)."""
    result = []
    state = seed * 2_654_435_761 % 2**32
    for _ in range(length):
        state = (1_664_525 * state + 1_013_904_223) % 2**32
        result.append(letters[(state >> 16) % len(letters)])
    return "".join(result)


def pem(seed: int, lines: int = 4, name: str = "RSA PRIVATE KEY") -> str:
    """Return a private key that is none."""
    body = "\n".join(drawn(seed + line, 64, _LETTERS + "+/") for line in range(lines))
    return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"


def planted(seed: int) -> dict[str, str]:
    """Return a secret of each of 16 kinds, by kind, as the text a person would have in a file."""
    n = seed * 100
    hexes = "0123456789abcdef"
    return {
        "aws_key": "AKIA" + drawn(n + 1, 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
        "aws_secret": f"7{drawn(n + 2, 20)}/aB{drawn(n + 3, 16)}",
        "github_token": f"ghp_{drawn(n + 4, 34)}a7",
        "gitlab_token": f"glpat-{drawn(n + 5, 18)}b8",
        "slack_token": f"xoxb-{drawn(n + 6, 12, '0123456789')}-{drawn(n + 7, 24)}",
        "google_key": f"AIza{drawn(n + 8, 35)}",
        "stripe_key": f"sk_live_{drawn(n + 9, 22)}c9",
        "ai_key": f"sk-proj-{drawn(n + 10, 40)}D1e2",
        "npm_token": f"npm_{drawn(n + 11, 36)}",
        "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJ{drawn(n + 12, 30)}.{drawn(n + 13, 43)}",
        "api_key": drawn(n + 14, 30, hexes) + "a1",
        "password": f"{drawn(n + 15, 6)}7!x#{drawn(n + 16, 4)}",
        "connection_string": f"Q{drawn(n + 17, 9)}4~z",
        "url_password": f"w{drawn(n + 18, 8)}5",
        "bearer_token": f"{drawn(n + 19, 30)}6k",
        "azure_key": f"{drawn(n + 20, 84)}8Z==",
    }


_LINES = {
    "aws_secret": "aws_secret_access_key = {}",
    "api_key": "API_KEY={}",
    "password": "Password: {}",
    "connection_string": "postgres://ledger:{}@db.internal:5432/books",
    "url_password": "https://deploy:{}@files.internal/feed",
    "bearer_token": "Authorization: Bearer {}",
    "azure_key": "AccountName=books;AccountKey={};EndpointSuffix=core.windows.net",
}


def line_with(kind: str, secret: str) -> str:
    """Return a line as people write it, with a secret of that kind in it."""
    return _LINES.get(kind, "The one of the build is {} since May").format(secret)
