"""The walk: every real file once, nothing from outside, no file opened."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import pytest

from kb.adapters.files.cache import FileTextCache
from kb.adapters.files.walk import is_placeholder
from kb.adapters.files.workspace import WorkspaceFiles
from kb.domain.errors import NotFound, Unreadable
from kb.domain.files import ScannedFile, Scope
from kb.domain.paths import WorkspacePath
from tests.unit.adapters.files.helpers import lay_out, only_file, put, scan

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs POSIX names, links and pipes")


def scope(*paths: str) -> Scope:
    return Scope(paths=tuple(map(WorkspacePath, paths)))


def test_an_empty_workspace_has_no_files(tmp_path: Path) -> None:
    assert scan(WorkspaceFiles(tmp_path)) == ([], {})


def test_a_workspace_that_does_not_exist_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        list(WorkspaceFiles(tmp_path / "kb").scan(Scope()))
    assert "'kb' does not exist" in caught.value.message
    assert "kb init" in caught.value.hint
    assert str(tmp_path) not in caught.value.message


def test_files_come_folder_by_folder_in_name_order(tmp_path: Path) -> None:
    lay_out(tmp_path, b="", a="", z__b="", z__a="", m__x__y="", m__a="")
    assert scan(WorkspaceFiles(tmp_path))[0] == ["a.md", "b.md", "m/a.md", "m/x/y.md", "z/a.md", "z/b.md"]


def test_a_file_is_known_by_size_time_and_id(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", "four")
    identity = only_file(WorkspaceFiles(tmp_path)).identity
    assert identity[:2] == (4, path.stat().st_mtime_ns)
    assert identity == WorkspaceFiles(tmp_path).read(only_file(WorkspaceFiles(tmp_path))).identity


def test_what_programs_leave_behind_is_skipped(tmp_path: Path) -> None:
    for name in (".git/a.md", "node_modules/p/a.md", "sub/.obsidian/a.md", ".DS_Store", "Thumbs.db", ".kbignore"):
        put(tmp_path, name, "")
    for name in ("~$report.docx", ".#a.md", "a.md~", ".a.md.swp", "b.tmp", "4913", ".~lock.a.odt#"):
        put(tmp_path, name)
    put(tmp_path, "sub/a.md")
    assert scan(WorkspaceFiles(tmp_path)) == (["sub/a.md"], {})


def test_kbignore_is_followed_and_ignored_folders_are_not_entered(tmp_path: Path) -> None:
    lay_out(tmp_path, keep="", drafts__a="", private__b="", log="", sub__drafts__c="")
    put(tmp_path, ".kbignore", "# what we leave out\r\ndrafts/\nprivate/**\nl?g.md\n\n!private/b.md\n[\n")
    assert scan(WorkspaceFiles(tmp_path))[0] == ["keep.md", "private/b.md"]


def test_include_and_exclude_globs_hold_beside_kbignore(tmp_path: Path) -> None:
    for name in ("a.md", "b.TXT", "c.pdf", "build/d.md", "deep/build/e.md", "notes/f.md"):
        put(tmp_path, name)
    globs = Scope(include=("**/*.md", "**/*.txt"), exclude=("build/**", "notes/f.md"))
    assert scan(WorkspaceFiles(tmp_path), globs)[0] == ["a.md", "b.TXT", "deep/build/e.md"]
    assert scan(WorkspaceFiles(tmp_path), Scope(include=("notes/*.md",)))[0] == ["notes/f.md"]


def test_a_scope_is_scanned_alone(tmp_path: Path) -> None:
    lay_out(tmp_path, a="", b__c="", b__d__e="", bb__f="")
    files = WorkspaceFiles(tmp_path)
    assert scan(files, scope("b", "b/c.md", "b/d")) == (["b/c.md", "b/d/e.md"], {})
    assert scan(files, scope("a.md")) == (["a.md"], {})
    with pytest.raises(NotFound, match="nowhere"):
        scan(files, scope("nowhere"))


def test_a_named_file_that_is_ignored_is_said_to_be(tmp_path: Path) -> None:
    lay_out(tmp_path, drafts__a="")
    put(tmp_path, ".kbignore", "drafts/")
    assert scan(WorkspaceFiles(tmp_path), scope("drafts/a.md")) == ([], {"drafts/a.md": "ignored"})
    assert scan(WorkspaceFiles(tmp_path), scope("drafts")) == ([], {"drafts": "ignored"})


@posix_only
def test_an_nfd_name_is_stored_in_nfc_and_still_opens(tmp_path: Path) -> None:
    on_disk = unicodedata.normalize("NFD", "메모/카페.md")
    put(tmp_path, on_disk, "커피")
    files = WorkspaceFiles(tmp_path)
    file = only_file(files)
    assert (file.path, file.disk_name) == ("메모/카페.md", on_disk)
    assert files.read(file).data.decode() == "커피"
    assert scan(files, scope("메모/카페.md"))[0] == ["메모/카페.md"]


@posix_only
def test_two_names_that_differ_in_unicode_form_only_are_one_file_and_one_problem(tmp_path: Path) -> None:
    put(tmp_path, "Café.md", "nfc")
    put(tmp_path, unicodedata.normalize("NFD", "Café.md"), "nfd")
    files = WorkspaceFiles(tmp_path)
    assert scan(files) == (["Café.md"], {"Café.md": "duplicate_name"})
    (file,) = (entry for entry in files.scan(Scope()) if isinstance(entry, ScannedFile))
    assert files.read(file).data == b"nfc"


@posix_only
def test_a_name_that_is_not_utf8_is_a_problem_and_not_a_crash(tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md"))).write_text("x")
    paths, problems = scan(WorkspaceFiles(tmp_path))
    assert paths == ["a.md"]
    assert list(problems.values()) == ["undecodable_name"]
    assert all(path.encode() for path in problems)


@posix_only
def test_long_hangul_names_emoji_and_letter_case_are_kept(tmp_path: Path) -> None:
    names = ["가" * 82 + ".txt", "🎉🏳️‍🌈.md", "README.md", "Readme.md"]
    assert len(names[0].encode()) == 250
    for name in names:
        put(tmp_path, name, name)
    files = WorkspaceFiles(tmp_path)
    found = [entry for entry in files.scan(Scope()) if isinstance(entry, ScannedFile)]
    assert sorted(file.path for file in found) == sorted(names)
    assert all(files.read(file).data.decode() == file.path for file in found)


@posix_only
def test_loops_and_links_out_of_the_workspace_are_named_and_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "kb"
    put(root, "a/x.md")
    put(tmp_path, "outside/secret.md")
    for link, target in {
        "a/man": ".",
        "a/up": "../..",
        "a/root": "..",
        "foo": "bar",
        "bar": "foo",
        "out": "../outside",
        "one.md": "../outside/secret.md",
        "gone.md": "nowhere.md",
    }.items():
        (root / link).symlink_to(target)
    paths, problems = scan(WorkspaceFiles(root))
    assert paths == ["a/x.md"]
    assert problems == {
        "a/man": "symlink_loop",
        "a/up": "outside_root",
        "a/root": "symlink_loop",
        "foo": "symlink_loop",
        "bar": "symlink_loop",
        "out": "outside_root",
        "one.md": "outside_root",
        "gone.md": "broken_link",
    }


@posix_only
def test_every_real_file_comes_once_under_the_path_without_a_link(tmp_path: Path) -> None:
    put(tmp_path, "z/x.md")
    (tmp_path / "a").symlink_to("z")
    (tmp_path / "b.md").symlink_to("z/x.md")
    assert scan(WorkspaceFiles(tmp_path)) == (["z/x.md"], {})
    assert scan(WorkspaceFiles(tmp_path), scope("a", "b.md")) == (["z/x.md"], {})


@posix_only
def test_a_file_that_only_links_reach_comes_once_under_its_link(tmp_path: Path) -> None:
    put(tmp_path, ".git/annex/k1", "one")
    put(tmp_path, ".git/annex/k2", "two")
    (tmp_path / "a.md").symlink_to(".git/annex/k1")
    (tmp_path / "b.md").symlink_to(".git/annex/k1")
    (tmp_path / "store").symlink_to(".git/annex")
    files = WorkspaceFiles(tmp_path)
    found = [entry for entry in files.scan(Scope()) if isinstance(entry, ScannedFile)]
    assert [file.path for file in found] == ["a.md", "store/k2"]
    assert [files.read(file).data for file in found] == [b"one", b"two"]


@posix_only
def test_two_hidden_folders_that_link_to_each_other_end(tmp_path: Path) -> None:
    put(tmp_path, ".git/p/a.md")
    put(tmp_path, ".git/q/b.md")
    (tmp_path / ".git/p/to_q").symlink_to("../q")
    (tmp_path / ".git/q/to_p").symlink_to("../p")
    (tmp_path / "in").symlink_to(".git/p")
    assert sorted(scan(WorkspaceFiles(tmp_path))[0]) == ["in/a.md", "in/to_q/b.md"]


@posix_only
def test_pipes_and_sockets_are_named_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "link.md").symlink_to("pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(tmp_path)  # the path of a socket may be no longer than 107 bytes
        try:
            server.bind("s.md")
        finally:
            os.chdir(here)
        paths, problems = scan(WorkspaceFiles(tmp_path))
    assert paths == []
    assert problems == {"pipe.md": "special_file", "s.md": "special_file", "link.md": "special_file"}


def test_a_folder_that_may_not_be_read_is_named_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(tmp_path, a="", closed__b="", odd__c="", z__d="")
    real = os.scandir

    def scandir(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied")
        if path.endswith("odd"):
            raise OSError(5, "Input/output error")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    met = list(WorkspaceFiles(tmp_path).scan(Scope()))
    assert [entry.path for entry in met] == ["a.md", "closed", "odd", "z/d.md"]
    assert [(entry.reason, entry.is_folder) for entry in met if not isinstance(entry, ScannedFile)] == [
        ("permission", True),
        ("unreadable", True),
    ]


def test_a_tree_deeper_than_the_system_can_name_ends_with_a_problem(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 100, dir_fd=folder)
        inner = os.open("d" * 100, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    try:
        paths, problems = scan(WorkspaceFiles(tmp_path))
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / ("d" * 100))], check=True)
    assert paths == []
    assert list(problems.values()) == ["unreadable"]


def test_a_scope_that_leads_out_through_a_link_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "kb"
    root.mkdir()
    put(tmp_path, "outside/secret.md")
    (root / "out").symlink_to("../outside")
    with pytest.raises(Unreadable, match="leads out"):
        scan(WorkspaceFiles(root), scope("out/secret.md"))


def test_a_file_in_the_cloud_only_is_seen_by_its_flags() -> None:
    far = SimpleNamespace(st_file_attributes=0x00400000, st_flags=0x40000000)
    near = SimpleNamespace(st_file_attributes=0x20, st_flags=0)
    assert is_placeholder(far, "win32")  # type: ignore[arg-type]
    assert is_placeholder(far, "darwin")  # type: ignore[arg-type]
    assert not is_placeholder(near, "win32")  # type: ignore[arg-type]
    assert not is_placeholder(far, "linux")  # type: ignore[arg-type]


OPENS = """
import sys
from pathlib import Path
from kb.adapters.files.cache import FileTextCache
from kb.adapters.files.workspace import WorkspaceFiles
from kb.domain.files import Scope
root, data = map(Path, sys.argv[1:])
print("MARK", len(list(WorkspaceFiles(root, cache=FileTextCache(data / "kbignore.json")).scan(Scope()))), flush=True)
"""


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_an_unchanged_workspace_is_scanned_without_opening_a_file(tmp_path: Path) -> None:
    root, data = tmp_path / "kb", tmp_path / "data"
    lay_out(root, a="", b__c="", drafts__d="")
    put(root, ".kbignore", "drafts/\n")
    assert len(list(WorkspaceFiles(root, cache=FileTextCache(data / "kbignore.json")).scan(Scope()))) == 2
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    traced = subprocess.run(
        ["strace", "-f", "-e", "trace=open,openat,openat2", sys.executable, "-c", OPENS, str(root), str(data)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if "MARK" not in traced.stdout:
        pytest.skip("strace may not trace here")
    assert traced.stdout.strip() == "MARK 2"
    opened = re.findall(rf'"({re.escape(str(root))}[^"]*)", ([A-Z_|]+)', traced.stderr)
    assert opened, "the folders themselves are opened"
    assert [path for path, flags in opened if "O_DIRECTORY" not in flags] == []


def test_a_changed_kbignore_is_read_again_whatever_is_cached(tmp_path: Path) -> None:
    root = tmp_path / "kb"
    lay_out(root, a="", b="")
    cache = FileTextCache(tmp_path / "data/kbignore.json")
    put(root, ".kbignore", "a.md")
    assert scan(WorkspaceFiles(root, cache=cache))[0] == ["b.md"]
    put(root, ".kbignore", "b.md")
    os.utime(root / ".kbignore", ns=(1, 1))
    assert scan(WorkspaceFiles(root, cache=cache))[0] == ["a.md"]
    (root / ".kbignore").unlink()
    assert scan(WorkspaceFiles(root, cache=cache))[0] == ["a.md", "b.md"]


def test_a_damaged_cache_costs_a_read_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    cache = FileTextCache(path)
    cache.set("k", "text")
    assert cache.get("k") == "text"
    path.write_text("{")
    assert cache.get("k") is None
    assert FileTextCache(tmp_path / "cache.json/below").get("k") is None
    FileTextCache(tmp_path / "cache.json/below").set("k", "v")


@pytest.mark.slow
def test_the_scan_costs_less_than_three_times_a_bare_walk(tmp_path: Path) -> None:
    for folder in range(20):
        for note in range(100):
            put(tmp_path, f"folder-{folder}/note-{note}.md", "")
    files = WorkspaceFiles(tmp_path)
    globs = Scope(include=("**/*.md", "**/*.txt"), exclude=(".git/**", "node_modules/**", ".obsidian/**"))

    def bare(folder: str) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    bare(entry.path)
                else:
                    entry.stat(follow_symlinks=False)

    def best(*works: object) -> list[float]:
        times = [float("inf")] * len(works)
        for _ in range(15):
            for number, work in enumerate(works):
                start = time.process_time()
                work()  # type: ignore[operator]
                times[number] = min(times[number], time.process_time() - start)
        return times

    bare_s, ours_s = best(lambda: bare(str(tmp_path)), lambda: sum(1 for _ in files.scan(globs)))
    assert ours_s < 3 * bare_s
