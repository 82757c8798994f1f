"""Commits, crashes, stops, progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from kb.domain.failures import StorageFailed
from kb.domain.files import Scope
from kb.domain.items import ItemState
from kb.domain.jobs import Progress
from kb.domain.paths import WorkspacePath
from kb.ingest import batch
from kb.ingest.pipeline import IngestRun
from tests.fakes.ingest_library import Crash
from tests.unit.ingest.world import World, counts


def three_files() -> World:
    world = World()
    for name, text in (("a.md", "Apples are red."), ("b.md", "Bananas are yellow."), ("c.md", "Cherries are dark.")):
        world.files.write(name, text)
    return world


def test_documents_are_committed_together_and_not_one_by_one() -> None:
    world = World()
    for number in range(450):
        world.files.write(f"n{number:03}.md", f"Note {number}.")
    world.ingest()
    assert world.library.activations == [200, 200, 50]
    assert world.text_index.commits == 3


def test_many_documents_share_a_transaction_that_begins_after_their_copies_are_durable() -> None:
    world = World()
    for number in range(70):
        world.files.write(f"n{number:02}.md", f"Note {number}.")
    world.files.write("z.pdf", b"%PDF-")
    seen: list[tuple[int, int]] = []

    @contextmanager
    def together() -> Iterator[None]:
        begun = len(world.library.staged())
        assert set(world.assets.copies) == world.assets.settled
        yield
        seen.append((begun, len(world.library.staged())))

    IngestRun(replace(world.ports(), together=together), Scope()).run()
    assert seen == [(0, 32), (32, 64), (64, 70)]
    assert world.library.live_items()[WorkspacePath("z.pdf")].state is ItemState.UNSUPPORTED


def test_a_batch_with_much_text_is_committed_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "_BATCH_CHARACTERS", 30)
    world = three_files()
    world.ingest()
    assert world.library.activations == [2, 1]


def test_the_text_index_holds_a_document_before_it_is_shown() -> None:
    world = three_files()
    world.library.crash_at(4)
    with pytest.raises(Crash):
        world.ingest()  # three documents staged, then the crash instead of the switch
    assert world.library.visible() == {}
    assert len(world.text_index.texts()) == 3


def change(world: World) -> None:
    world.files.write("b.md", "Bananas are brown.")
    world.files.move("c.md", "d.md")
    world.files.remove("a.md")


def ingest_with_a_crash(world: World, call: int) -> bool:
    """Run, dying at the library's n-th transaction; return whether it came to that."""
    world.library.crash_at(call)
    try:
        world.ingest()
    except Crash:
        return True
    world.library.calls_left = None
    return False


def test_a_crash_at_any_moment_ends_after_the_next_run_as_if_it_had_not_been() -> None:
    undisturbed = three_files()
    undisturbed.ingest()
    change(undisturbed)
    undisturbed.ingest()
    call, crashed = 0, True
    while crashed:
        call += 1
        world = three_files()
        crashed = ingest_with_a_crash(world, call)
        world.ingest()
        change(world)
        crashed |= ingest_with_a_crash(world, call)
        world.ingest()
        assert world.state() == undisturbed.state(), f"crash at call {call}"
        assert world.embedded() <= 4 + 3 + 1, "only the batch that was lost is embedded twice"
    assert call > 8


def test_a_full_disk_under_the_text_index_leaves_the_old_versions_serving() -> None:
    world = three_files()
    world.ingest()
    world.files.write("a.md", "Apples are green.")
    world.text_index.failures = 2
    with pytest.raises(StorageFailed):
        world.ingest()
    assert world.library.visible()["a.md"] == ["Apples are red."]
    world.ingest()
    assert world.library.visible()["a.md"] == ["Apples are green."]


def test_a_stop_between_files_keeps_what_is_read_and_deletes_nothing() -> None:
    world = three_files()
    world.ingest()
    world.files.write("a.md", "Apples are green.")
    world.files.write("b.md", "Bananas are brown.")
    world.files.remove("c.md")
    world.files.reads.clear()
    report = world.ingest(should_stop=lambda: len(world.files.reads) >= 1)
    assert report.canceled
    assert counts(report) == {"scanned": 2, "updated": 1}
    assert world.library.visible() == {
        "a.md": ["Apples are green."],
        "b.md": ["Bananas are yellow."],
        "c.md": ["Cherries are dark."],
    }
    report = world.ingest()
    assert not report.canceled
    assert set(world.library.visible()) == {"a.md", "b.md"}


def test_progress_rises_to_at_most_99_and_names_its_stages() -> None:
    world = three_files()
    seen: list[Progress] = []
    world.ingest(report=seen.append)
    percents = [progress.percent for progress in seen]
    assert percents == sorted(percents)
    assert percents[-1] <= 99
    assert list(dict.fromkeys(progress.stage for progress in seen)) == ["scan", "read", "embed", "index"]


def test_progress_is_reported_at_most_ten_times_a_second() -> None:
    world = World()
    for number in range(300):
        world.files.write(f"n{number:03}.md", f"Note {number}.")
    seen: list[Progress] = []
    report = world.ingest(report=seen.append)
    stages = 4
    assert len(seen) <= stages + report.duration_ms / 100 + 1


def test_a_document_that_cannot_be_kept_costs_itself_only() -> None:
    world = World()
    for name in "abc":
        world.files.write(f"{name}.md", f"words of {name}")
    stage = world.library.stage

    def stumble(*arguments: Any) -> None:
        if arguments[0].path == "b.md":
            raise OverflowError("int too big to convert")
        stage(*arguments)

    world.library.stage = stumble  # type: ignore[assignment, method-assign]
    report = world.ingest()
    assert world.library.visible() == {"a.md": ["words of a"], "c.md": ["words of c"]}
    item = world.library.item("b.md")
    assert item.state is ItemState.FAILED
    assert item.reason is not None
    assert item.reason.startswith("internal: ")
    assert [notice.reason for notice in report.notices] == ["internal"]
