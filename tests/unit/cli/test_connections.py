"""`kb connections`: what is asked of the facade, and that a key is shown nowhere."""

from __future__ import annotations

import io
import sys

import pytest
from typer.exceptions import TyperException

from kb.contract.connections import ConnectionKeyRemoveRequest, ConnectionKeyRequest, ConnectionTestRequest
from tests.fakes.facade import FakeFacade
from tests.unit.cli.conftest import Kb

KEY = "sk-test-9f8e7d6c5b4a"


def test_a_list_says_where_text_goes_and_what_waits(kb: Kb) -> None:
    ran = kb("connections", "list")
    assert ran.code == 0
    assert ran.out.splitlines()[:3] == [
        "embedding: openai_compatible bge-m3: every passage and question goes to 127.0.0.1:11434, on this computer",
        "  1024 dimensions, does not fit the index",
        "  key: none",
    ]
    assert "rebuild pending; run `kb index build`" in ran.out
    assert "answers: extractive: stays on this computer" in ran.out


def test_a_try_says_how_it_went(kb: Kb, facade: FakeFacade) -> None:
    ran = kb("connections", "test", "embedding")
    assert facade.calls == [("connections", "test", ConnectionTestRequest(role="embedding"))]
    assert ran.code == 0
    assert ran.out.startswith("✓ embedding: it answers")
    assert "(38 ms, 1024 dimensions)" in ran.out


def test_a_key_comes_from_the_standard_input_and_is_not_shown(
    kb: Kb, facade: FakeFacade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{KEY}\nmore\n"))
    ran = kb("connections", "key", "set", "embedding")
    assert facade.calls == [("connections", "set_key", ConnectionKeyRequest(role="embedding", key=KEY))]
    assert ran.code == 0
    assert KEY not in ran.out + ran.err
    assert KEY not in repr(facade.calls)


def test_a_key_in_the_command_line_is_refused(kb: Kb, facade: FakeFacade) -> None:
    with pytest.raises(TyperException, match="unexpected extra argument"):
        kb("connections", "key", "set", "embedding", KEY)
    assert not facade.calls


def test_no_key_is_an_error(kb: Kb, facade: FakeFacade, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    ran = kb("connections", "key", "set", "rerank")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: no key was given")
    assert not facade.calls


def test_a_key_can_be_forgotten(kb: Kb, facade: FakeFacade) -> None:
    assert kb("connections", "key", "remove", "rerank").code == 0
    assert facade.calls == [("connections", "remove_key", ConnectionKeyRemoveRequest(role="rerank"))]
