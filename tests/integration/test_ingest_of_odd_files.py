"""Odd files on a real disk, through a whole run: each a clear reason or a correct result."""

from __future__ import annotations

import os
import tracemalloc
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.adapters.files.assets import CopiedAssets
from kb.adapters.files.workspace import WorkspaceFiles
from kb.domain.errors import NotFound
from kb.domain.files import Scope
from kb.domain.items import Item, ItemState
from kb.domain.paths import WorkspacePath
from kb.ingest.pipeline import IngestRun
from kb.ingest.report import IngestReport
from kb.ingest.run_ports import IngestOptions
from tests.unit.ingest.world import World, counts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX names, links and pipes")


class Disk(World):
    """A world whose files and copies are on the disk."""

    def __init__(self, folder: Path, read_piece: Callable[[int, int], bytes] = os.read) -> None:
        super().__init__()
        self.root = folder / "kb"
        self.data = folder / "data"
        self.on_disk = WorkspaceFiles(self.root, read_piece=read_piece)

    def put(self, path: str, text: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        return target

    def run(self, *, summary_only: bool = False) -> IngestReport:
        ports = self.ports()
        assets = CopiedAssets(self.data, self.root, copy_threshold_bytes=1 << 20)
        kept = type(ports)(
            **{name: getattr(ports, name) for name in ports.__slots__} | {"files": self.on_disk, "assets": assets}
        )
        return IngestRun(kept, Scope(), IngestOptions(summary_only=summary_only)).run()


def reasons(report: IngestReport) -> dict[str, str | None]:
    assert report.items is not None
    return {item.doc_path: item.reason for item in report.items if item.reason}


def test_a_workspace_that_does_not_exist_changes_nothing(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.put("a.md", "Apples are red.")
    disk.run()
    (tmp_path / "kb").rename(tmp_path / "moved")
    with pytest.raises(NotFound):
        Disk(tmp_path).run()
    assert list(disk.library.visible()) == ["a.md"]


def test_an_empty_workspace_is_fine(tmp_path: Path) -> None:
    (tmp_path / "kb").mkdir()
    assert counts(Disk(tmp_path).run()) == {}


def test_odd_names_are_found_under_the_names_people_type(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    names = ["가" * 82 + ".txt", "🎉🏳️‍🌈.md", "카페.md", "a b#c%d.md"]
    for name in names:
        disk.put(unicodedata.normalize("NFD", name) if name == "카페.md" else name, f"The file {len(name)}.")
    assert counts(disk.run()) == {"scanned": 4, "new": 4, "embedded": 4}
    assert sorted(disk.library.visible()) == sorted(names)
    assert disk.library.item("카페.md").disk_name != "카페.md"
    assert counts(disk.run()) == {"scanned": 4, "skipped": 4}


def test_pipes_loops_and_links_out_are_listed_with_their_reasons(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.put("a.md", "Apples are red.")
    os.mkfifo(disk.root / "pipe.md")
    (disk.root / "loop").symlink_to(".")
    (tmp_path / "secret.md").write_text("secret")
    (disk.root / "out.md").symlink_to("../secret.md")
    report = disk.run()
    assert counts(report) == {"scanned": 4, "new": 1, "skipped": 3, "embedded": 1}
    assert reasons(report) == {"pipe.md": "special_file", "loop": "symlink_loop", "out.md": "outside_root"}
    assert disk.text_index.texts() == ["Apples are red."]


def test_a_file_that_vanishes_while_others_are_read_is_an_error_once(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.put("a.md", "Apples are red.")
    victim = disk.put("b.md", "Bananas are yellow.")

    def read(handle: int, size: int) -> bytes:
        victim.unlink(missing_ok=True)
        return os.read(handle, size)

    disk.on_disk = WorkspaceFiles(disk.root, read_piece=read)
    report = disk.run()
    assert counts(report) == {"scanned": 2, "new": 1, "errors": 1, "embedded": 1}
    assert reasons(report) == {"b.md": "vanished"}
    assert counts(disk.run()) == {"scanned": 1, "skipped": 1}


def test_a_file_that_keeps_changing_keeps_its_last_good_version(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    path = disk.put("a.md", "Apples are red.")
    disk.run()
    path.write_text("Apples are green.")
    times = iter(range(1, 100))

    def read(handle: int, size: int) -> bytes:
        os.utime(path, ns=(0, next(times)))
        return os.read(handle, size)

    disk.on_disk = WorkspaceFiles(disk.root, read_piece=read)
    assert reasons(disk.run()) == {"a.md": "changed"}
    assert disk.library.visible() == {"a.md": ["Apples are red."]}
    disk.on_disk = WorkspaceFiles(disk.root)
    disk.run()
    assert disk.library.visible() == {"a.md": ["Apples are green."]}
    assert disk.library.item("a.md").state is ItemState.READY


def test_a_moved_folder_keeps_its_items_and_costs_no_embedding(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    for number in range(5):
        disk.put(f"old/{number}.md", f"Note number {number}.")
    disk.run()
    before = {item.item_id for item in disk.library.live_items().values()}
    (disk.root / "old").rename(disk.root / "new")
    assert counts(disk.run()) == {"scanned": 5, "renamed": 5}
    assert {item.item_id for item in disk.library.live_items().values()} == before
    assert disk.embedded() == 5


class Sink:
    """Stands for a library and a text index that keep everything elsewhere: nothing stays in this process."""

    def live_items(self) -> dict[WorkspacePath, Item]:
        return {}

    gone_items = live_items

    def staged(self) -> tuple[()]:
        return ()

    def purge(self, keep_versions: int, keep_deleted_days: int = 0) -> tuple[()]:
        return ()

    def position(self) -> int:
        return 0

    def text_changes(self, after: int, limit: int) -> None:
        return None

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_args: None


@pytest.mark.slow
def test_what_a_run_holds_for_itself_hardly_grows_with_the_number_of_files(tmp_path: Path) -> None:
    def held(files: int) -> int:
        disk = Disk(tmp_path / str(files))
        disk.embedder = None
        old = 1_000_000_000  # an old time, so that no file waits for the clock to move on
        for number in range(files):
            path = disk.put(f"{number % 50}/{number}.md", "The same few words in every file of this test.")
            os.utime(path, ns=(old, old))
        sink = Sink()
        disk.library = disk.text_index = sink  # type: ignore[assignment]
        tracemalloc.start()
        try:
            disk.run(summary_only=True)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few, many = held(500), held(5000)
    assert many - few < 4500 * 700, "names and times of the files to read, nothing else"
