"""What nothing needs is found and removed, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kb.adapters.files.disk import free_bytes, require_room, taken_bytes
from kb.adapters.files.leftovers import FileLeftovers
from kb.domain.failures import StorageFailed

NAME = "ab" + "0" * 30
OTHER = "ab" + "1" * 30


def put(folder: Path, path: str, data: bytes = b"data") -> Path:
    """Write a file."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def test_what_nothing_needs_goes_and_the_rest_stays(tmp_path: Path) -> None:
    gone = [
        put(tmp_path, "tantivy.old-1/a.term").parent,
        put(tmp_path, "chroma/f/old-2/chroma.sqlite3").parent,
        put(tmp_path, "vectors/f.aaaa.scan"),
        put(tmp_path, "assets/.new/tmp1"),
        put(tmp_path, f"assets/ab/{NAME}"),
        put(tmp_path, "generations/2/tantivy.new-3/meta.json").parent,
    ]
    kept = [
        put(tmp_path, "kb.sqlite"),
        put(tmp_path, "tantivy/meta.json"),
        put(tmp_path, "vectors/f.bbbb.scan"),
        put(tmp_path, "vectors/f.stamp", b'{"generation": "bbbb"}'),
        put(tmp_path, f"assets/ab/{OTHER}"),
        put(tmp_path, "assets/ab/a note of a person"),
        put(tmp_path, "chroma/f/store/chroma.sqlite3"),
    ]
    leftovers = FileLeftovers(tmp_path, settled_seconds=0)
    found = leftovers.find({f"assets/ab/{OTHER}"})
    assert {leftover.path for leftover in found} == set(gone)
    assert sum(leftover.bytes for leftover in found) == 4 * len(gone)
    assert leftovers.remove(found) == len(gone)
    assert [path.exists() for path in (*gone, *kept)] == [False] * len(gone) + [True] * len(kept)
    assert leftovers.find({f"assets/ab/{OTHER}"}) == []


def test_what_was_written_just_now_may_be_in_use(tmp_path: Path) -> None:
    put(tmp_path, "assets/.new/tmp1")
    assert FileLeftovers(tmp_path).find(()) == []


@pytest.mark.skipif(os.name == "nt", reason="making links needs rights")
def test_nothing_a_link_leads_to_is_removed(tmp_path: Path) -> None:
    data, outside = tmp_path / "data", tmp_path / "outside"
    precious = put(outside, "precious")
    put(outside, f"ab/{NAME}")
    data.mkdir()
    (data / "tantivy.old-1").symlink_to(outside)
    (data / "assets").symlink_to(outside)
    leftovers = FileLeftovers(data, settled_seconds=0)
    leftovers.remove(leftovers.find(()))
    assert precious.exists()
    assert (outside / "ab" / NAME).exists()
    assert not (data / "tantivy.old-1").is_symlink()


def test_work_is_refused_when_the_disk_is_nearly_full(tmp_path: Path) -> None:
    put(tmp_path, "a/b", b"12345")
    assert taken_bytes(tmp_path) == 5
    free = free_bytes(tmp_path / "not" / "there")
    assert free is not None
    require_room(tmp_path, 0)
    with pytest.raises(StorageFailed, match="nearly full") as caught:
        require_room(tmp_path, (free >> 20) * 2 + 1)
    assert "storage.min_free_mb" in caught.value.hint
