"""A swap that a crash broke off is finished when the index is next opened, before anything is searched."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kb.adapters.tantivy.index import TantivyTextIndex
from tests.contracts.text_search import entry, found, snapshot


def _made(folder: Path, position: int, *texts: str) -> None:
    made = TantivyTextIndex(folder, "library")
    made.rebuild(snapshot(position, *(entry(key, text) for key, text in enumerate(texts, 1))))
    made.close()


@pytest.fixture
def between(tmp_path: Path) -> Path:
    """Where the index should be, as a crash between the two renames leaves it: the old aside, the new not yet there."""
    _made(tmp_path / "before" / "tantivy", 3, "early words")
    _made(tmp_path / "after" / "tantivy", 7, "early words", "late words")
    (tmp_path / "before" / "tantivy").rename(tmp_path / "tantivy.old-0001")
    (tmp_path / "after" / "tantivy").rename(tmp_path / "tantivy.new-0002")
    return tmp_path / "tantivy"


def test_a_whole_new_index_takes_its_place_and_the_first_search_finds_all(between: Path) -> None:
    noticed: list[bool] = []
    opened = TantivyTextIndex(between, "library", damaged=lambda: noticed.append(True))
    assert sorted(found(opened, "late words")) == [1, 2]
    assert (opened.position(), noticed) == (7, [])


@pytest.mark.parametrize("spoilt", ["stamp.json", "meta.json"])
def test_a_new_index_that_is_not_whole_leaves_the_old_one(between: Path, spoilt: str) -> None:
    (between.with_name("tantivy.new-0002") / spoilt).unlink()
    opened = TantivyTextIndex(between, "library")
    assert found(opened, "early words") == [1]
    assert opened.position() == 3


def test_without_a_whole_one_there_is_none(between: Path) -> None:
    for left in between.parent.glob("tantivy.*"):
        (left / "stamp.json").unlink()
    assert TantivyTextIndex(between, "library").position() is None
    assert not between.exists()


def test_an_index_that_is_there_stays(between: Path) -> None:
    shutil.copytree(between.with_name("tantivy.old-0001"), between)
    assert TantivyTextIndex(between, "library").position() == 3


def test_the_next_rebuild_removes_what_is_left(between: Path) -> None:
    opened = TantivyTextIndex(between, "library")
    opened.rebuild(snapshot(9, entry(1, "early words")))
    assert [path.name for path in between.parent.glob("tantivy*")] == ["tantivy"]
