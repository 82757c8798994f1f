"""What the workspace stands on, with devices made up."""

from __future__ import annotations

import os
from pathlib import Path

from kb.adapters.files.ground import WorkspaceGround


class Devices:
    """The disk as it is, with other devices at and below some folders."""

    def __init__(self, root: Path, mounted: set[str]) -> None:
        self.root = os.path.realpath(root)
        self.mounted = mounted

    def look(self, path: str) -> os.stat_result:
        found = list(Path(path).stat())
        below = os.path.relpath(path, self.root)
        for number, folder in enumerate(sorted(self.mounted)):
            if below == folder or below.startswith(folder + os.sep):
                found[2] = 1000 + number
        return os.stat_result(found)


def test_folders_with_a_device_of_their_own_are_told(tmp_path: Path) -> None:
    for folder in ("notes/a", "stick/deep/er", "far"):
        (tmp_path / folder).mkdir(parents=True)
    devices = Devices(tmp_path, {"stick", "far"})
    ground = WorkspaceGround(tmp_path, devices.look)
    found = ground.ground({"notes/a", "stick/deep/er", "far", ""})
    assert found.mounts == ("far", "stick")
    assert ground.is_mounted("stick")
    assert not ground.is_mounted("stick/deep")
    assert not ground.is_mounted("notes")


def test_a_drive_that_is_taken_away_is_no_longer_mounted(tmp_path: Path) -> None:
    (tmp_path / "stick").mkdir()
    devices = Devices(tmp_path, {"stick"})
    ground = WorkspaceGround(tmp_path, devices.look)
    devices.mounted = set()
    assert not ground.is_mounted("stick")
    (tmp_path / "stick").rmdir()
    assert not ground.is_mounted("stick")


def test_another_folder_in_the_place_of_the_root_is_another_root(tmp_path: Path) -> None:
    root = tmp_path / "kb"
    root.mkdir()
    before = WorkspaceGround(root).ground(())
    assert before == WorkspaceGround(root).ground(())
    root.rename(tmp_path / "away")
    assert WorkspaceGround(root).ground(()).root == ""
    root.mkdir()
    assert WorkspaceGround(root).ground(()).root not in {"", before.root}
