"""Searching takes time in proportion to the text, whatever stands in it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.governance.finding import find_secrets
from kb.governance.found import Setting

PIECES = [
    "password: ",
    "password",
    "password" + " " * 30,
    "a",
    "a ",
    "/",
    "://a:",
    "://a:b@",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA\n",
    "Private-Lines: 1\n",
    "sk-",
    "sk-a ",
    "ghp_a1 ",
    "ghp_",
    "eyJ.",
    "eyJhbGciOi.",
    "AKIA",
    "AKIAAAAAAAAAAAAAAAAA ",
    "key=",
    "api_key=" + "a1" * 20 + "\n",
    "Bearer ",
    "authorization basic ",
    "curl -u a:",
    "--password ",
    "passphrase: aaa ",
    "비밀번호: ",
    "pass\u200b",
    "\u0301",
    "=",
    '"',
    "password='",
    "password (",
    "password_",
    "pin: ",
    "pin: 4821\n",
    "password: correct horse ",
    "비밀번호는 사과나무123!",
    "sk-proj-aB3dE5gH7jK9mN1pQ2rS4tU6vW8\n",
    "sk-aB3dE5gH7jK9mN1pQ2rS4\nWord-",
    "\n",
    "| ",
]


def seconds(text: str) -> float:
    begun = time.process_time()
    for setting in Setting:
        find_secrets(text, lambda _position, kind=setting: kind)  # type: ignore[misc]
    return time.process_time() - begun


def growth(piece: str) -> float:
    short, long = piece * (25_000 // len(piece)), piece * (200_000 // len(piece))
    return seconds(long) / max(min(seconds(short) for _ in range(2)), 0.002)


@pytest.mark.parametrize("piece", PIECES)
def test_no_repeated_piece_costs_more_than_its_length(piece: str) -> None:
    # Eight times the text; squares would take sixty-four times as long, every time, and a busy machine now and then.
    assert any(growth(piece) < 40 for _ in range(4))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([*PIECES, "x9Z!", "aB3dE5gH7jK9mN1pQ2rS4tU6vW8", " is ", ": "]), max_size=60).map("".join)
)
def test_any_mixture_gives_places_in_order(text: str) -> None:
    found = find_secrets(text)
    ends = [0, *(one.end for one in found)]
    assert all(before <= one.start < one.end <= len(text) for before, one in zip(ends, found, strict=False))
