"""Files that are gone, or only out of reach."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import pytest

from kb.domain.files import FileIdentity, Ground
from kb.domain.paths import WorkspacePath
from kb.ingest.removals import HeldBack, Missing, judge
from tests.builders import an_item
from tests.unit.ingest.world import World, counts


@dataclass
class FakeGround:
    """A root and devices mounted in it."""

    root: str = "1:2"
    mounted: set[str] = field(default_factory=set)
    kept: Ground | None = None
    writes: int = 0

    def seen(self) -> Ground | None:
        return self.kept

    def keep(self, ground: Ground) -> None:
        self.kept = ground
        self.writes += 1

    def ground(self, folders: Iterable[str]) -> Ground:
        found = set(folders)
        mounts = sorted(m for m in self.mounted if any(f == m or f.startswith(m + "/") for f in found))
        return Ground(self.root, tuple(mounts))

    def is_mounted(self, folder: str) -> bool:
        return folder in self.mounted


@pytest.fixture
def world() -> World:
    world = World(ground=FakeGround())
    for number in range(30):
        world.files.write(f"notes/{number:02}.md", f"Note {number}.")
    for number in range(10):
        world.files.write(f"stick/{number:02}.md", f"On the stick {number}.")
    return world


def ground(world: World) -> FakeGround:
    assert isinstance(world.ground, FakeGround)
    return world.ground


def test_what_is_no_longer_in_an_archive_goes_though_many_files_are_missing() -> None:
    gone = [an_item(f"notes/{number:02}.md") for number in range(20)]
    inside = [
        replace(an_item(path), identity=FileIdentity.inside(1, 1, 1))
        for path in ("all.zip!/old.md", "notes/00.md!/x.md")
    ]
    hidden, held = judge(Missing([*gone, *inside], 30, {"notes"}), None, "1:2", lambda _folder: True, asks=True)
    assert [item.path for item in hidden] == ["all.zip!/old.md"]
    assert held is not None
    assert (held.count, held.reason) == (20, "many_missing")


def remove(world: World, start: str, count: int = 99) -> None:
    for path in [path for path in sorted(world.files.contents) if path.startswith(start)][:count]:
        world.files.remove(path)


def test_few_missing_files_are_hidden_also_when_nobody_is_watching(world: World) -> None:
    world.ingest()
    remove(world, "notes", 9)
    report = world.ingest(asks=True)
    assert counts(report)["deleted"] == 9
    assert report.held_back is None


def test_more_than_a_third_missing_is_held_back_until_a_person_says_so(world: World) -> None:
    world.ingest()
    remove(world, "notes", 15)
    before = world.library.visible()
    report = world.ingest(asks=True)
    examples = tuple(map(WorkspacePath, ("notes/00.md", "notes/01.md", "notes/02.md")))
    assert report.held_back == HeldBack(15, 40, "many_missing", examples)
    assert report.deleted == 0
    assert world.library.visible() == before
    assert [notice.reason for notice in report.notices] == ["held_back"]
    assert "--confirm-removals" in report.notices[0].hint
    assert world.ingest(confirm=True, asks=True).deleted == 15
    assert len(world.library.visible()) == 25


def test_a_person_who_asks_is_believed_at_once(world: World) -> None:
    world.ingest()
    remove(world, "notes", 15)
    assert world.ingest().deleted == 15


def test_the_last_files_of_a_small_library_are_held_back_too() -> None:
    world = World(ground=FakeGround())
    world.files.write("a.md", "One.")
    world.files.write("b.md", "Two.")
    world.ingest()
    remove(world, "")
    report = world.ingest(asks=True)
    assert (report.deleted, report.held_back and report.held_back.reason) == (0, "many_missing")


def test_a_moved_folder_is_not_missing_however_large(world: World) -> None:
    world.ingest()
    for path in list(world.files.contents):
        world.files.move(path, f"elsewhere/{path}")
    report = world.ingest(asks=True)
    assert (report.renamed, report.held_back) == (40, None)


def test_what_lies_on_a_drive_that_is_away_is_held_back_even_from_a_person(world: World) -> None:
    ground(world).mounted = {"stick"}
    world.ingest()
    assert ground(world).kept == Ground("1:2", ("stick",))
    remove(world, "stick")
    remove(world, "notes", 1)
    ground(world).mounted = set()
    report = world.ingest()
    assert report.deleted == 1
    assert report.held_back is not None
    assert (report.held_back.count, report.held_back.reason) == (10, "unmounted")
    again = world.ingest()
    assert (again.deleted, again.held_back) == (
        0,
        report.held_back.__class__(10, 39, "unmounted", again.held_back.examples if again.held_back else ()),
    )
    assert world.ingest(confirm=True).deleted == 10


def test_a_drive_is_known_from_the_first_file_that_was_read_from_it(world: World) -> None:
    on_stick = {path: text for path, text in world.files.contents.items() if path.startswith("stick")}
    remove(world, "stick")
    world.ingest()
    for path, text in on_stick.items():
        world.files.write(path, text)
    ground(world).mounted = {"stick"}
    world.ingest("stick/03.md")  # what following does, long before everything is compared
    assert ground(world).kept == Ground("1:2", ("stick",))
    remove(world, "stick")
    ground(world).mounted = set()
    report = world.ingest()
    assert (report.deleted, report.held_back.reason if report.held_back else None) == (0, "unmounted")


def test_a_drive_met_while_another_is_away_is_known_too(world: World) -> None:
    ground(world).mounted = {"stick"}
    world.ingest()
    remove(world, "stick")
    world.files.write("disk/00.md", "On the disk.")
    ground(world).mounted = {"disk"}
    assert world.ingest().held_back is not None
    assert ground(world).kept == Ground("1:2", ("disk", "stick"))


def test_a_drive_that_is_back_needs_nothing_to_be_read(world: World) -> None:
    ground(world).mounted = {"stick"}
    world.ingest()
    away = {path: text for path, text in world.files.contents.items() if path.startswith("stick")}
    kept = dict(world.files._identities)
    remove(world, "stick")
    ground(world).mounted = set()
    world.ingest()
    world.files.contents.update(away)
    world.files._identities.update(kept)
    ground(world).mounted = {"stick"}
    world.files.reads.clear()
    report = world.ingest()
    assert counts(report) == {"scanned": 40, "skipped": 40}
    assert world.files.reads == []


def test_files_deleted_on_a_drive_that_is_there_are_hidden(world: World) -> None:
    ground(world).mounted = {"stick"}
    world.ingest()
    remove(world, "stick", 3)
    report = world.ingest()
    assert (report.deleted, report.held_back) == (3, None)


def test_an_empty_folder_in_the_place_of_the_workspace_hides_nothing(world: World) -> None:
    world.ingest()
    remove(world, "")
    ground(world).root = "7:9"
    report = world.ingest()
    assert report.deleted == 0
    assert report.held_back is not None
    assert (report.held_back.count, report.held_back.of, report.held_back.reason) == (40, 40, "root_missing")
    assert world.ingest(confirm=True).deleted == 40


def test_a_workspace_that_a_person_emptied_is_empty(world: World) -> None:
    world.ingest()
    remove(world, "")
    assert world.ingest().deleted == 40


def test_the_ground_is_written_only_when_it_changed(world: World) -> None:
    world.ingest()
    world.ingest()
    world.ingest("notes")
    assert ground(world).writes == 1
    ground(world).root = "3:4"
    world.ingest()
    assert (ground(world).writes, ground(world).kept) == (2, Ground("3:4"))
