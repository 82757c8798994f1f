"""Hundreds of files of which many crash, hang, eat memory or are killed from outside: each gets its own end."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from kb.adapters.workers.process import ChildSetup
from kb.adapters.workers.reader import ChildReader
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.failures import Cancelled
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from tests.fakes.reader_child import COMMAND, VERSIONS
from tests.fakes.reading import content

pytestmark = [
    pytest.mark.torture,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals"),
]

LIMITS = ReadingLimits(seconds=3, total_seconds=60, memory_mb=256)
HARM = {
    "crash SIGSEGV": "crashed",
    "crash SIGABRT": "crashed",
    "raise ValueError": "crashed",
    "raise SystemExit": "crashed",
    "forge": "crashed",
    "sleep 60": "too_slow",
    "spin 60": "too_slow",
    "eat 1000": "too_much_memory",
}


def end_of(reader: ChildReader, words: str) -> str:
    try:
        parsed: ParsedDocument = reader.begin(content(words.encode()), WorkspacePath("a.html"), MediaType.HTML).result()
    except (Unreadable, Cancelled) as error:
        return getattr(error, "reason", "cancelled")
    return parsed.blocks[0].text


@pytest.mark.parametrize("seed", range(3))
def test_of_many_files_only_those_that_do_harm_fail(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    wanted: list[tuple[str, str]] = []
    for number in range(200):
        if chance.random() < 0.2:
            wanted.append(chance.choice(list(HARM.items())))
        else:
            words = "x" * chance.choice([1, 1_000, 1_000_000])
            wanted.append((f"say {number}{words}", f"{number}{words}"))
    reader = ChildReader(VERSIONS, ChildSetup(COMMAND, LIMITS, folder=tmp_path), width=2)
    readings = [reader.begin(content(w.encode()), WorkspacePath("a.html"), MediaType.HTML) for w, _ in wanted]
    for reading, (words, expected) in zip(readings, wanted, strict=True):
        try:
            found = reading.result().blocks[0].text
        except Unreadable as error:
            found = error.reason
        assert found == expected, words[:20]
    reader.close()
    assert list(tmp_path.iterdir()) == []


def test_children_killed_at_random_moments_cost_at_most_a_file_each(tmp_path: Path) -> None:
    chance = random.Random(7)
    reader = ChildReader(VERSIONS, ChildSetup(COMMAND, LIMITS, folder=tmp_path), width=2)
    ended = threading.Event()
    kills = 0

    def kill_some() -> None:
        nonlocal kills
        while not ended.wait(chance.uniform(0.02, 0.3)):
            children = [child for child in psutil.Process().children() if "reader_child" in " ".join(command(child))]
            if children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(chance.choice(children).pid, chance.choice([signal.SIGKILL, signal.SIGSEGV]))
                    kills += 1

    killer = threading.Thread(target=kill_some)
    killer.start()
    files = [f"late .01 {number}" for number in range(300)]
    readings = [reader.begin(content(words.encode()), WorkspacePath("a.html"), MediaType.HTML) for words in files]
    reasons: list[str] = []
    for number, reading in enumerate(readings):
        try:
            assert reading.result().blocks[0].text == str(number)
        except Unreadable as error:
            reasons.append(error.reason)
    ended.set()
    killer.join()
    # A child that is killed while it starts or waits costs none.
    assert 0 < len(reasons) <= kills
    assert set(reasons) == {"crashed"}
    assert end_of(reader, "say after") == "after"
    reader.close()


def test_giving_up_at_random_moments_never_costs_another_file(tmp_path: Path) -> None:
    chance = random.Random(11)
    reader = ChildReader(VERSIONS, ChildSetup(COMMAND, LIMITS, folder=tmp_path), width=2)
    for round_number in range(40):
        readings = [
            reader.begin(content(f"late .02 {number}".encode()), WorkspacePath("a.html"), MediaType.HTML)
            for number in range(8)
        ]
        given_up = set(chance.sample(range(8), 3))
        time.sleep(chance.uniform(0, 0.1))
        for number in given_up:
            readings[number].cancel()
        for number, reading in enumerate(readings):
            try:
                assert reading.result().blocks[0].text == str(number)
            except Cancelled:
                assert number in given_up, round_number
    reader.close()


def command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []
