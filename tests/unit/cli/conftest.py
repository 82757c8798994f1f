"""`kb` in this process, over a facade that is a fake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest

from kb.app import gateway
from kb.cli.main import app
from kb.contract.facade import Facade
from tests.fakes.facade import FakeFacade


class Ran(NamedTuple):
    """What one command did."""

    code: int
    out: str
    err: str


Kb = Callable[..., Ran]


@pytest.fixture
def facade() -> FakeFacade:
    """A facade that gives the examples of the contract; every page is the last one."""
    made = FakeFacade()
    for name, reply in made.replies.items():
        if getattr(reply, "next", None) is not None:
            made.replies[name] = reply.model_copy(update={"next": None})
    return made


@pytest.fixture
def kb(facade: FakeFacade, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Kb:
    """Run one command."""

    @contextmanager
    def opened(*_: object, **__: object) -> Iterator[Facade]:
        yield facade.as_facade()

    monkeypatch.setattr(gateway, "open_library", opened)

    def run(*arguments: str) -> Ran:
        code = app(list(arguments), prog_name="kb", standalone_mode=False)
        return Ran(code, *capsys.readouterr())

    return run
