"""A file that crashes, hangs, eats memory, chatters or reaches out costs itself alone."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from kb.adapters.workers.process import ChildSetup
from kb.adapters.workers.reader import ChildReader
from kb.adapters.workers.reading import ChildReading
from kb.adapters.workers.runner import ChildRules
from kb.domain.errors import Unreadable
from kb.domain.failures import Cancelled
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from tests.fakes.reader_child import COMMAND, VERSIONS
from tests.fakes.reading import content

LIMITS = ReadingLimits(seconds=2, total_seconds=60, memory_mb=256)
Made = Callable[..., ChildReader]

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    readers: list[ChildReader] = []

    def make(
        limits: ReadingLimits = LIMITS, width: int = 1, command: tuple[str, ...] = COMMAND, **rules: float
    ) -> ChildReader:
        setup = ChildSetup(command, limits, folder=tmp_path / "scratch")
        readers.append(ChildReader(VERSIONS, setup, width=width, rules=ChildRules(**rules)))  # type: ignore[arg-type]
        return readers[-1]

    yield make
    for reader in readers:
        reader.close()


def begin(reader: ChildReader, words: str) -> ChildReading:
    return reader.begin(content(words.encode()), WorkspacePath("a.html"), MediaType.HTML)


def said(reading: ChildReading) -> str:
    return reading.result().blocks[0].text


def reason(reading: ChildReading) -> str:
    with pytest.raises(Unreadable) as failure:
        reading.result()
    assert failure.value.message
    assert failure.value.hint
    return failure.value.reason


def until(condition: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


# one file's misfortune


@pytest.mark.parametrize(
    ("deed", "expected"),
    [
        pytest.param("crash SIGSEGV", "crashed", marks=posix),
        pytest.param("crash SIGKILL", "crashed", marks=posix),
        ("raise ValueError", "crashed"),
        ("raise SystemExit", "crashed"),
        ("raise KeyboardInterrupt", "crashed"),
        ("raise RecursionError", "nested_too_deep"),
        ("raise MemoryError", "too_much_memory"),
        ("sleep 30", "too_slow"),
        ("spin 30", "too_slow"),
        ("eat 1000", "too_much_memory"),
        pytest.param("gulp 8000", "too_much_memory", marks=linux),
        pytest.param("forge", "crashed", marks=posix),
    ],
)
def test_only_the_file_that_does_harm_fails(made: Made, deed: str, expected: str) -> None:
    reader = made()
    before, bad, after = (begin(reader, words) for words in ("say before", deed, "say after"))
    assert (said(before), reason(bad), said(after)) == ("before", expected, "after")


def test_the_others_are_read_while_one_hangs(made: Made) -> None:
    reader = made(ReadingLimits(seconds=30), width=2)
    hanging = begin(reader, "sleep 30")
    assert [said(begin(reader, f"say {number}")) for number in range(20)] == [f"{number}" for number in range(20)]
    assert not hanging.wait(0)


def test_what_libraries_print_or_ask_is_heard_by_nobody(made: Made) -> None:
    reader = made()
    assert said(begin(reader, "print")) == "stdin says b''"
    assert said(begin(reader, "say after")) == "after"


@posix
def test_a_child_killed_from_outside_costs_the_file_it_reads(made: Made, tmp_path: Path) -> None:
    reader = made(ReadingLimits(seconds=30))
    pid = int(said(begin(reader, "fact pid")))
    bad, after = begin(reader, "sleep 30 .05"), begin(reader, "fact pid")
    assert until(lambda: bad.progress() == (1, 2, "second"))
    os.kill(pid, signal.SIGKILL)
    assert reason(bad) == "crashed"
    assert int(said(after)) != pid


@posix
def test_a_child_that_is_stopped_is_too_slow_even_with_more_to_take_than_a_pipe_holds(made: Made) -> None:
    reader = made()
    os.kill(int(said(begin(reader, "fact pid"))), signal.SIGSTOP)
    bad = begin(reader, "say " + "x" * 1_000_000)
    assert reason(bad) == "too_slow"
    assert said(begin(reader, "say after")) == "after"


def test_progress_is_life(made: Made) -> None:
    assert said(begin(made(), "sleep 4 .2")) == "awake"


def test_progress_without_end_is_too_slow(made: Made) -> None:
    reader = made(ReadingLimits(seconds=60, total_seconds=2))
    assert reason(begin(reader, "sleep 30 .1")) == "too_slow"


def test_a_file_that_killed_its_child_is_not_tried_again(made: Made, tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    tries.write_text("", encoding="utf-8")
    reader = made()
    assert reason(begin(reader, f"count {tries}")) == "crashed"
    assert said(begin(reader, "say after")) == "after"
    assert tries.read_text(encoding="utf-8") == "."


def test_what_a_parser_raises_is_told_without_its_words(made: Made) -> None:
    with pytest.raises(Unreadable) as failure:
        begin(made(), "raise ValueError").result()
    assert "ValueError" in failure.value.message
    assert "words of the file" not in failure.value.message


def test_a_command_that_starts_nothing_fails_each_file_and_ends(made: Made) -> None:
    for command in ((sys.executable, "-c", "pass"), ("no-such-program",)):
        reader = made(command=command)
        assert reason(begin(reader, "say words")) == "crashed"


# order and width


def test_results_do_not_depend_on_which_child_is_faster(made: Made) -> None:
    reader = made(ReadingLimits(seconds=30), width=2)
    readings = [begin(reader, f"late {0.2 if number % 3 == 0 else 0} {number}") for number in range(12)]
    assert [said(reading) for reading in readings] == [f"{number}" for number in range(12)]


def test_files_are_read_by_as_many_children_as_there_is_width(made: Made) -> None:
    reader = made(ReadingLimits(seconds=30), width=3)
    assert reader.width == 3
    pids = {said(reading) for reading in [begin(reader, "latepid .5") for _ in range(6)]}
    assert len(pids) == 3


def test_without_a_width_there_is_a_child_for_each_core(made: Made) -> None:
    assert made(width=0).width == (os.cpu_count() or 1)


# giving up


def test_giving_up_a_file_in_work_takes_less_than_a_second_and_ends_its_child(made: Made) -> None:
    reader = made(ReadingLimits(seconds=60))
    pid = int(said(begin(reader, "fact pid")))
    reading = begin(reader, "sleep 60 .05")
    assert until(lambda: reading.progress() == (1, 2, "second"))
    reading.cancel()
    assert reading.wait(1)
    with pytest.raises(Cancelled):
        reading.result()
    assert until(lambda: gone(pid))
    assert said(begin(reader, "say after")) == "after"


def test_giving_up_a_file_that_waits_costs_nothing(made: Made) -> None:
    reader = made(ReadingLimits(seconds=60))
    pid = said(begin(reader, "fact pid"))
    first, waiting, last = begin(reader, "sleep .3"), begin(reader, "crash SIGKILL"), begin(reader, "fact pid")
    waiting.cancel()
    assert waiting.wait(0)
    with pytest.raises(Cancelled):
        waiting.result()
    assert (said(first), said(last)) == ("awake", pid)


def test_closing_ends_all_children_at_once_and_takes_no_more_files(made: Made, tmp_path: Path) -> None:
    reader = made(ReadingLimits(seconds=60), width=2)
    pids = {int(said(reading)) for reading in [begin(reader, "latepid .3"), begin(reader, "latepid .3")]}
    readings = [begin(reader, "sleep 60") for _ in range(4)]
    started = time.monotonic()
    reader.close()
    # Far less than the minute that any of them sleeps, however busy the machine.
    assert time.monotonic() - started < 30
    for reading in readings:
        with pytest.raises(Cancelled):
            reading.result()
    with pytest.raises(Cancelled):
        begin(reader, "say words")
    assert all(map(gone, pids))
    assert list((tmp_path / "scratch").iterdir()) == []


# comings and goings of children


def test_nothing_is_started_before_the_first_file(made: Made, tmp_path: Path) -> None:
    before = psutil.Process().children()
    reader = made()
    assert reader.version(MediaType.PDF) == "pages-v1"
    assert not (tmp_path / "scratch").exists()
    assert psutil.Process().children() == before


def test_a_child_without_work_ends_and_the_next_file_gets_another(made: Made) -> None:
    reader = made(idle_seconds=0.2)
    pid = int(said(begin(reader, "fact pid")))
    assert until(lambda: gone(pid))
    assert int(said(begin(reader, "fact pid"))) != pid


def test_a_child_is_replaced_after_so_many_files(made: Made) -> None:
    reader = made(files=2)
    pids = [said(begin(reader, "fact pid")) for _ in range(4)]
    assert pids[0] == pids[1] != pids[2] == pids[3]


def test_a_child_that_has_grown_is_replaced(made: Made) -> None:
    reader = made(kept_share=0.5)
    small, large = said(begin(reader, "keep 1")), said(begin(reader, "keep 150"))
    assert small == large != said(begin(reader, "fact pid"))


def test_memory_that_earlier_files_left_behind_is_not_the_fault_of_the_next(made: Made) -> None:
    reader = made(ReadingLimits(seconds=30, total_seconds=60, memory_mb=256), kept_share=1.0)
    first, second, third = (begin(reader, words) for words in ("keep 150", "keep 150 1.5", "eat 1000"))
    assert said(first) != said(second)
    assert reason(third) == "too_much_memory"


@posix
def test_a_child_ends_with_the_program_that_started_it(tmp_path: Path) -> None:
    import subprocess

    root = Path(__file__).resolve().parents[4]
    script = (
        "import sys; sys.path[:0] = sys.argv[1:3]\n"
        "from tests.unit.adapters.workers import test_reader as t\n"
        "setup = t.ChildSetup(t.COMMAND, t.ReadingLimits(seconds=60), folder=t.Path(sys.argv[3]))\n"
        "reader = t.ChildReader(t.VERSIONS, setup, width=1)\n"
        "print(t.said(t.begin(reader, 'fact pid')), flush=True)\n"
        "t.begin(reader, sys.argv[4]).result()\n"
    )
    # Its own thread spins without leave for others: it does not see that its stdin was closed.
    arguments = [sys.executable, "-c", script, str(root), str(root / "backend"), str(tmp_path), "spin 60"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        pid = int(program.stdout.readline())
        time.sleep(0.3)
        program.kill()
    if sys.platform == "linux":
        assert until(lambda: gone(pid), 5)
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


# surroundings


@posix
@pytest.mark.parametrize(
    ("name", "value"),
    [("umask", "77"), ("core", "0"), ("OMP_NUM_THREADS", "1"), ("OMP_THREAD_LIMIT", "1"), ("HF_HUB_OFFLINE", "1")],
)
def test_a_child_keeps_to_itself(made: Made, name: str, value: str) -> None:
    assert said(begin(made(), f"fact {name}")) == value


@posix
def test_a_child_gives_way_to_others(made: Made) -> None:
    assert int(said(begin(made(), "fact nice"))) >= min(os.nice(0) + 10, 19)


def test_keys_of_the_program_are_not_handed_to_a_child(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KB_MODELS_LLM_MODEL", "SOME_API_KEY", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "secret")
    reader = made()
    assert [said(begin(reader, f"fact {name}")) for name in ("KB_MODELS_LLM_MODEL", "SOME_API_KEY")] == ["unset"] * 2


def test_a_child_reaches_nobody_and_starts_nothing(made: Made) -> None:
    reader = made()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        assert said(begin(reader, f"connect 127.0.0.1 {port}")) == "PermissionError"
        assert said(begin(reader, "resolve localhost")) == "PermissionError"
        assert said(begin(reader, "run")) == "PermissionError"
        with pytest.raises(TimeoutError):
            server.accept()


@linux
def test_even_a_c_library_reaches_nobody(made: Made) -> None:
    reader = made()
    ours = Path("/proc/self/ns/net").readlink()
    if said(begin(reader, "network")) == str(ours):
        pytest.skip("this system lets no ordinary process have a network of its own")
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert said(begin(reader, f"raw 127.0.0.1 {server.getsockname()[1]}")) != "connected"


def test_what_a_child_writes_aside_goes_with_it_even_when_it_is_killed(made: Made, tmp_path: Path) -> None:
    reader = made()
    folder = Path(said(begin(reader, "temporary")))
    assert folder.parent == tmp_path / "scratch"
    assert folder.is_dir()
    assert reason(begin(reader, "temporary die")) == "crashed"
    assert not folder.exists()


def test_what_children_of_a_killed_program_wrote_aside_goes_with_the_next_file(made: Made, tmp_path: Path) -> None:
    left = tmp_path / "scratch" / "child-left"
    left.mkdir(parents=True)
    (left / "half").write_bytes(b"half")
    assert said(begin(made(), "say words")) == "words"
    assert not left.exists()


def test_unfinished_work_waits_for_the_next_try_and_goes_with_success(made: Made, tmp_path: Path) -> None:
    reader = made()
    first = begin(reader, "resume")
    assert reason(first) == "crashed"
    kept = tmp_path / "scratch" / content(b"resume").checksum
    assert (kept / "tries").read_text(encoding="utf-8") == "1"
    assert said(begin(reader, "resume")) == "try 2"
    assert not kept.exists()


def test_a_parser_gets_path_password_and_disk_path(made: Made) -> None:
    from dataclasses import replace

    file = replace(content(b"path"), disk_path="/recordings/long.wav")
    reading = made().begin(file, WorkspacePath("rec/long.html"), MediaType.HTML, "open sesame")
    assert said(reading) == "rec/long.html open sesame /recordings/long.wav"
