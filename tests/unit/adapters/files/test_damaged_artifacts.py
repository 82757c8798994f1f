"""Artifacts that are not what was written are found by their checksums."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.adapters.files.artifacts import FileArtifacts
from tests.contracts.artifacts import DOC, FIRST, OTHER, SCAN, SPOKEN


@pytest.fixture
def store(tmp_path: Path) -> FileArtifacts:
    store = FileArtifacts(tmp_path)
    store.keep(DOC, [FIRST, SCAN], SPOKEN)
    store.keep(OTHER, [FIRST], None)
    store.settle()
    return store


def test_files_as_they_were_written_are_sound(store: FileArtifacts) -> None:
    assert store.damaged([DOC, OTHER]) == []


@pytest.mark.parametrize("name", ["pdf-text", "ocr", "transcript"])
def test_any_cut_or_flipped_byte_or_added_one_is_damage_to_its_document_only(
    store: FileArtifacts, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "artifacts" / DOC / name
    data = path.read_bytes()
    middle = len(data) // 2
    flipped = data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]
    for harmed in (b"", data[:middle], data[:-1], flipped, data + b"\0"):
        path.write_bytes(harmed)
        assert store.damaged([DOC, OTHER]) == [DOC], harmed
    path.write_bytes(data)
    assert store.damaged([DOC, OTHER]) == []


def test_a_folder_whose_files_are_gone_is_damaged(store: FileArtifacts, tmp_path: Path) -> None:
    (tmp_path / "artifacts" / OTHER / "pdf-text").unlink()
    assert store.damaged([DOC, OTHER]) == [OTHER]
