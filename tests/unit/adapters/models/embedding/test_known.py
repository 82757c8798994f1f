"""What servers said of their models is kept where it can be, and costs no search where it cannot."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kb.adapters.models.embedding.known import KnownDimensions

URL = "http://127.0.0.1:9/v1"


def test_what_a_server_said_is_known_again(tmp_path: Path) -> None:
    KnownDimensions(tmp_path / "connections.json").keep(URL, "small", 384)
    known = KnownDimensions(tmp_path / "connections.json")
    assert (known.get(URL, "small"), known.get(URL, "other"), known.get("http://else", "small")) == (384, None, None)


def test_a_folder_that_takes_nothing_costs_nothing(tmp_path: Path) -> None:
    known = KnownDimensions(tmp_path / "not there" / "connections.json")
    known.keep(URL, "small", 384)
    assert known.get(URL, "small") is None


def test_several_that_learn_it_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    known = KnownDimensions(tmp_path / "connections.json")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: known.keep(URL, "small", 384), range(40)))
    assert known.get(URL, "small") == 384
    assert [path.name for path in tmp_path.iterdir()] == ["connections.json"]
