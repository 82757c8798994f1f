"""A long run and what goes before it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import count

import pytest

from kb.domain.paths import WorkspacePath
from kb.ingest.pipeline import IngestRun
from kb.ingest.report import IngestReport
from kb.ingest.run_ports import IngestOptions
from kb.ingest.urgent import MOST_FILES
from tests.fakes.ingest_library import Crash
from tests.unit.ingest.world import World, counts


@dataclass
class Interrupted:
    """Each time the long run gives way, the next of `steps` happens; a step returns the paths that it handled."""

    world: World
    steps: list[Callable[[], Collection[str]]]
    at: int = 1
    asked: int = 0
    stop: bool = False
    reports: list[IngestReport] = field(default_factory=list)
    wanted: Callable[[], bool] = lambda: True

    def urgent(self, *paths: str) -> Collection[str]:
        self.reports.append(self.world.ingest(*paths, urgent=True, asks=True))
        return paths

    def give_way(self) -> Collection[WorkspacePath] | None:
        self.asked += 1
        if self.asked < self.at or not self.steps:
            return None
        return [WorkspacePath(path) for path in self.steps.pop(0)()]

    def run(self) -> IngestReport:
        ticks = count()
        return IngestRun(
            self.world.ports(),
            self.world.scope(),
            IngestOptions(),
            should_stop=lambda: self.stop,
            give_way=self.give_way,
            wanted=self.wanted,
            now=lambda: float(next(ticks)),
        ).run()


def a_world(files: int = 40) -> World:
    world = World()
    for number in range(files):
        world.files.write(f"{number:03}.md", f"Long known note {number}.")
    return world


def undisturbed(world: World) -> dict[str, object]:
    other = World(files=world.files)
    other.ingest()
    return other.state()


@pytest.mark.parametrize("at", [1, 2, 3, 10, 20, 40, 45, 60])
def test_a_note_saved_during_a_long_run_is_found_at_once_and_stays_as_it_was_saved(at: int) -> None:
    world = a_world()
    world.ingest()
    for number in range(40):
        world.files.write(f"{number:03}.md", f"Changed note {number}.")

    def save() -> Collection[str]:
        world.files.write("007.md", "Saved in between.")
        handled = interrupted.urgent("007.md")
        assert world.library.visible()["007.md"] == ["Saved in between."]
        assert "Saved in between." in world.text_index.texts()
        assert len(world.scan_index.rows) > 0
        return handled

    interrupted = Interrupted(world, [save], at)
    report = interrupted.run()
    assert len(interrupted.reports) == 1
    assert counts(interrupted.reports[0])["updated"] == 1
    assert counts(interrupted.reports[0])["embedded"] == 1
    assert world.library.visible()["007.md"] == ["Saved in between."]
    assert report.scanned == report.new + report.updated + report.renamed + report.skipped + report.errors
    assert world.state() == undisturbed(world)


@pytest.mark.parametrize("at", [1, 5, 20, 43])
def test_new_moved_and_removed_files_of_others_are_left_alone(at: int) -> None:
    world = a_world()
    world.ingest()
    ids = {path: world.library.item(path).item_id for path in ("000.md", "001.md")}
    world.files.move("000.md", "moved-000.md")
    world.files.remove("002.md")
    for number in range(3, 40):
        world.files.write(f"{number:03}.md", f"Changed note {number}.")

    def others() -> Collection[str]:
        world.files.move("001.md", "moved-001.md")
        world.files.write("new.md", "A new one.")
        world.files.write("002.md", "It is back.")
        world.files.remove("003.md")
        return interrupted.urgent("001.md", "moved-001.md", "new.md", "002.md", "003.md")

    interrupted = Interrupted(world, [others], at)
    interrupted.run()
    assert world.library.item("moved-000.md").item_id == ids["000.md"]
    assert world.library.item("moved-001.md").item_id == ids["001.md"]
    assert world.library.visible()["002.md"] == ["It is back."]
    assert "003.md" not in world.library.visible()
    assert world.state() == undisturbed(world)


def test_an_urgent_run_embeds_its_own_passages_and_leaves_the_rest() -> None:
    world = a_world()
    before: list[int] = []

    def save() -> Collection[str]:
        world.files.write("mine.md", "My own note.")
        before.append(world.embedded())
        handled = interrupted.urgent("mine.md")
        before.append(world.embedded())
        return handled

    interrupted = Interrupted(world, [save], 30)
    interrupted.run()
    assert before == [0, 1]
    assert world.embedded() == 41
    assert world.state() == undisturbed(world)


def test_an_urgent_run_leaves_other_vector_indexes_to_a_whole_one() -> None:
    world = a_world(2)
    world.ingest()
    world.files.write("mine.md", "My own note.")
    world.ingest("mine.md", urgent=True, asks=True)
    assert (len(world.scan_index.rows), len(world.chroma.rows)) == (3, 2)
    world.ingest()
    assert len(world.chroma.rows) == 3


def test_a_folder_that_others_took_in_is_passed_over() -> None:
    world = a_world()
    for number in range(10):
        world.files.write(f"sub/{number}.md", f"Below {number}.")
    interrupted = Interrupted(world, [lambda: interrupted.urgent("sub")], 2)
    report = interrupted.run()
    assert (report.new, interrupted.reports[0].new) == (40, 10)
    assert world.state() == undisturbed(world)


def test_an_urgent_run_that_is_none_does_nothing_and_says_so() -> None:
    world = a_world(MOST_FILES + 1)
    report = world.ingest(urgent=True, asks=True)
    assert (report.too_many, report.new) == (True, 0)
    assert world.library.visible() == {}


def test_a_stop_while_others_ran_ends_the_long_run_and_keeps_their_work() -> None:
    world = a_world()

    def save_and_stop() -> Collection[str]:
        world.files.write("mine.md", "My own note.")
        handled = interrupted.urgent("mine.md")
        interrupted.stop = True
        return handled

    interrupted = Interrupted(world, [save_and_stop], 10)
    assert interrupted.run().canceled
    assert world.library.visible()["mine.md"] == ["My own note."]
    world.ingest()
    assert world.state() == undisturbed(world)


def test_many_saves_of_one_note_all_count() -> None:
    world = a_world()

    def save(text: str) -> Callable[[], Collection[str]]:
        def step() -> Collection[str]:
            world.files.write("020.md", text)
            return interrupted.urgent("020.md")

        return step

    interrupted = Interrupted(world, [save("One."), save("Two."), save("One.")])
    interrupted.run()
    assert world.library.visible()["020.md"] == ["One."]
    assert world.state() == undisturbed(world)


@pytest.mark.parametrize("call", range(1, 7))
def test_a_kill_while_urgent_files_go_first_loses_nothing(call: int) -> None:
    world = a_world(20)
    world.ingest()
    for number in range(20):
        world.files.write(f"{number:03}.md", f"Changed note {number}.")

    def killed() -> Collection[str]:
        world.files.write("mine.md", "My own note.")
        world.library.crash_at(call)
        return interrupted.urgent("mine.md")

    interrupted = Interrupted(world, [killed], 8)
    with pytest.raises(Crash):
        interrupted.run()
    world.library.calls_left = None
    world.ingest()
    assert world.library.visible()["mine.md"] == ["My own note."]
    assert world.state() == undisturbed(world)


def test_a_run_nobody_waits_for_does_not_put_its_work_aside() -> None:
    world = a_world()
    alone = Interrupted(world, [lambda: ()], wanted=lambda: False)
    alone.run()
    assert alone.asked == 0
    assert world.state() == undisturbed(world)
