from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from kb.adapters.parsers.notebook.parser import NotebookParser
from kb.domain.blocks import Code, Table
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from tests.fakes.containers import make_png
from tests.fakes.format_reading import ledger, parse, short_id, shown


def notebook(*cells: Any, **metadata: Any) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": list(cells)})


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs), "metadata": {}}


def prose(*lines: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": list(lines), "metadata": {}}


def test_cells_are_read_one_by_one_with_what_they_printed() -> None:
    page = "<style>x</style><table><tr><th></th><th>price</th></tr><tr><th>0</th><td>12</td></tr></table>"
    document = parse(
        NotebookParser(),
        notebook(
            prose("# Prices\n", "\n", "of **rye** bread\n", "\n", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n"),
            code("print(1)\nframe", {"output_type": "stream", "text": ["\x1b[31m1\x1b[0m\n"]},
                 {"output_type": "execute_result", "data": {"text/html": [page], "text/plain": ["   price"]}}),
            code(""),
            code("1/0", {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero",
                         "traceback": ["\x1b[0;31m----> 1 secret trace"]}),
            {"cell_type": "raw", "source": "as it is"},
            title="Bread", authors=[{"name": "Kim"}], kernelspec={"language": "python"},
        ),
    )  # fmt: skip
    assert shown(document) == [
        ("heading", 1, "Prices"),
        ("paragraph", 1, "of rye bread"),
        ("table", 1, "a | b\n1 | 2"),
        ("code", 2, "print(1)\nframe"),
        ("code", 2, "1"),
        ("table", 2, " | price\n0 | 12"),
        ("code", 4, "1/0"),
        ("code", 4, "ZeroDivisionError: division by zero"),
        ("paragraph", 5, "as it is"),
    ]
    assert document.blocks[3].payload == Code("python")
    assert document.blocks[5].payload == Table(("", "price"), (("0", "12"),))
    assert ledger(document) == [(1, 2, "text", None), (3, 3, "blank", None), (4, 5, "text", None)]
    assert document.front_matter == {"title": "Bread", "author": "Kim"}


def test_drawings_are_members_when_they_are_big() -> None:
    pictures = [
        {
            "output_type": "display_data",
            "data": {"image/png": base64.b64encode(picture).decode(), "text/plain": "<Figure>"},
        }
        for picture in (make_png(640, 480, 9_000), make_png(16, 16, 9_000), make_png(640, 480, 9_001))
    ]
    document = parse(NotebookParser(), notebook(code("plot()", *pictures)))
    assert [(member.name, len(member.data)) for member in document.members] == [
        ("cell-1.1.png", 9_000),
        ("cell-1.2.png", 9_001),
    ]
    assert [text for _, _, text in shown(document)] == ["plot()", "", ""]


def test_notebooks_of_version_three_are_read() -> None:
    old = {
        "nbformat": 3,
        "metadata": {"name": "Old"},
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": ["Old times"]},
                    {
                        "cell_type": "code",
                        "input": ["1 + 1"],
                        "language": "python",
                        "outputs": [{"output_type": "pyout", "text": ["2"]}, {"output_type": "stream", "text": "x"}],
                    },
                ]
            }
        ],
    }
    document = parse(NotebookParser(), json.dumps(old))
    assert shown(document) == [("heading", 1, "Old times"), ("code", 2, "1 + 1"), ("code", 2, "2"), ("code", 2, "x")]
    assert document.front_matter == {"title": "Old"}


CODE_WITH_ODD_OUTPUTS = {"cell_type": "code", "source": "a", "outputs": ["no output", {"data": 7}]}


def test_a_broken_cell_costs_only_itself() -> None:
    odd = {"cell_type": 7, "source": {"x": 1}}
    document = parse(NotebookParser(), notebook("no cell", CODE_WITH_ODD_OUTPUTS, odd))
    assert shown(document) == [("code", 2, "a")]
    assert ledger(document) == [(1, 1, "failed", "damaged"), (2, 2, "text", None), (3, 3, "blank", None)]


def test_html_in_a_cell_is_read_and_its_scripts_are_not() -> None:
    document = parse(
        NotebookParser(), notebook(prose("<b>bold</b> words <script>no()</script>\n\n<div hidden>no</div>"))
    )
    assert [text for _, _, text in shown(document)] == ["bold words"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "damaged"),
        ('{"cells": [', "damaged"),
        (b"\xff\xfe\x00", "damaged"),
        ("[" * 100_000, "nested_too_deep"),
        ('{"nbformat": 4}', "wrong_type"),
        ("[]", "wrong_type"),
        (notebook(*[prose("x")] * 30), "too_many_entries"),
        (notebook(prose("x" * 2_000)), "too_big"),
    ],
    ids=short_id,
)
def test_what_is_no_notebook_fails_with_its_reason(data: str | bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(NotebookParser(), data, limits=ReadingLimits(entries=20, characters=1_000))
    assert caught.value.reason == reason
