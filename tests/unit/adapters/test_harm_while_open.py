"""Files that are mapped and change behind our back: checked anew before they are read, so that nobody dies."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.adapters.tantivy.index import TantivyTextIndex
from kb.adapters.vectorscan.index import ScanVectors
from kb.domain.failures import StorageFailed
from tests.contracts import text_search, vector_index
from tests.contracts.text_search import ANY, entry
from tests.contracts.vector_index import MODEL, row, some

pytestmark = pytest.mark.skipif(os.name == "nt", reason="mapped files cannot be changed on Windows")


def cut(path: Path) -> None:
    """Cut in half."""
    os.truncate(path, path.stat().st_size // 2)


def flip(path: Path) -> None:
    """Change a byte in the middle."""
    with path.open("r+b") as file:
        middle = path.stat().st_size // 2
        file.seek(middle)
        byte = file.read(1)
        file.seek(middle)
        file.write(bytes([byte[0] ^ 0xFF]))


ROWS = [row(key, some(key)) for key in range(1, 51)]
HARMS = [cut, flip, Path.unlink]


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
@pytest.mark.parametrize("part", ["term", "idx", "fast", "store", "json"])
def test_a_text_index_harmed_while_open_is_noticed(tmp_path: Path, part: str, harm: Callable[[Path], None]) -> None:
    noticed: list[str] = []
    folder = tmp_path / "tantivy"
    index = TantivyTextIndex(folder, "library", damaged=lambda: noticed.append("damaged"))
    entries = [entry(key, f"word text{key}") for key in range(1, 300)]
    index.rebuild(text_search.snapshot(1, *entries))
    expected = index.search("text7", ANY, 10)
    assert (index.search("text7", ANY, 10), noticed) == (expected, [])
    harm(max(folder.glob(f"*.{part}") if part != "json" else [folder / "meta.json"], key=lambda path: path.name))
    with pytest.raises(StorageFailed, match="damaged"):
        index.search("text7", ANY, 10)
    assert noticed
    assert index.position() is None
    index.rebuild(text_search.snapshot(1, *entries))
    assert index.search("text7", ANY, 10) == expected
    assert sorted(index.keys()) == list(range(1, 300))
    index.close()


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
@pytest.mark.parametrize("end", ["scan", "stamp"])
def test_a_vector_file_harmed_while_open_is_noticed(tmp_path: Path, end: str, harm: Callable[[Path], None]) -> None:
    noticed: list[str] = []
    index = ScanVectors(tmp_path, "library", damaged=lambda: noticed.append("damaged"))
    index.rebuild(MODEL, vector_index.snapshot(1, *ROWS))
    expected = index.search(MODEL, some(3), 10, None)
    assert (index.search(MODEL, some(3), 10, None), noticed) == (expected, [])
    (file,) = tmp_path.glob(f"*.{end}")
    harm(file)
    if harm is flip and end == "scan":
        with file.open("r+b") as data:  # the middle is room no row has taken yet
            data.seek(4096)
            data.write(b"\xff" * 8)
    with pytest.raises(StorageFailed, match="damaged"):
        index.search(MODEL, some(3), 10, None)
    assert noticed
    assert index.position(MODEL) is None
    index.rebuild(MODEL, vector_index.snapshot(1, *ROWS))
    assert index.search(MODEL, some(3), 10, None) == expected
    assert len(index.keys(MODEL)) == 50
    index.close()
