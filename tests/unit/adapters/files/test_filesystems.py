"""Where locks do not hold: network and synchronised folders, told by what the system says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.adapters.files.filesystems import LOCAL, file_system, name_of_magic


@pytest.mark.parametrize(
    ("magic", "name"),
    [(0x6969, "NFS"), (0xFF534D42, "SMB"), (0xFE534D42, "SMB"), (0x517B, "SMB"), (0x65735546, "FUSE")],
)
def test_network_file_systems_are_told_by_their_magic(magic: int, name: str) -> None:
    assert name_of_magic(magic) == name


@pytest.mark.parametrize("magic", [0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x794C7630])
def test_local_file_systems_are_trusted(magic: int) -> None:
    assert name_of_magic(magic) is None


def test_a_magic_with_its_sign_extended_is_the_same() -> None:
    assert name_of_magic(0xFFFFFFFFFF534D42) == "SMB"


def test_a_folder_on_a_network_drive_is_not_safe(tmp_path: Path) -> None:
    asked: list[Path] = []

    def remote(folder: Path) -> str:
        asked.append(folder)
        return "NFS"

    found = file_system(tmp_path / "not" / "there", remote_name=remote)
    assert (found.name, found.is_safe_for_wal, asked) == ("NFS", False, [tmp_path])


@pytest.mark.parametrize("name", ["OneDrive - Work", "Dropbox", "Mobile Documents"])
def test_a_synchronised_folder_is_not_safe(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "kb"
    folder.mkdir(parents=True)
    assert not file_system(folder, remote_name=lambda _: None).is_safe_for_wal


def test_any_other_folder_is_local(tmp_path: Path) -> None:
    assert file_system(tmp_path, remote_name=lambda _: None) == LOCAL


def test_the_system_itself_can_be_asked(tmp_path: Path) -> None:
    assert file_system(tmp_path).name
