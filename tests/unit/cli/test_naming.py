"""What is typed behind `kb search`: the syntax, plain words, and names of files."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kb.contract.names import Names
from tests.fakes.facade import FakeFacade
from tests.unit.cli.conftest import Kb


@pytest.mark.parametrize(("options", "syntax"), [((), "query"), (("--plain",), "plain")])
def test_a_search_reads_the_syntax_unless_told_not_to(
    kb: Kb, facade: FakeFacade, options: tuple[str, ...], syntax: str
) -> None:
    assert kb("search", 'budget "profit and loss" tag:work', *options).code == 0
    ((_, _, request),) = [call for call in facade.calls if call[:2] == ("search", "find")]
    assert (cast(Any, request).query, cast(Any, request).syntax) == ('budget "profit and loss" tag:work', syntax)


def test_names_are_printed_one_a_line(kb: Kb, facade: FakeFacade) -> None:
    ran = kb("search", "--names", "ㄱㅂ", "-k", "5")
    (path,) = [item.path for item in cast(Names, facade.replies["search", "names"]).items]
    assert ran.out.splitlines() == [path, "1 file"]
    ((_, _, request),) = [call for call in facade.calls if call[:2] == ("search", "names")]
    assert (cast(Any, request).query, cast(Any, request).limit) == ("ㄱㅂ", 5)


def test_a_name_that_no_file_has_is_no_hit(kb: Kb, facade: FakeFacade) -> None:
    facade.replies["search", "names"] = Names(items=())
    ran = kb("search", "--names", "zzz")
    assert (ran.code, ran.out) == (1, "no file has such a name\n")
