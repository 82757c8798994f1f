"""Faults at the n-th change a process makes to files: `faults.c`, compiled when a test wants it, and its controls."""

from __future__ import annotations

import ctypes
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("faults.c")
CONTROL_VARIABLE = "FAULT_CONTROL"
_NUMBERS = struct.Struct("<5q24x")
_UNDER, _TRACE = 1984, 2048

needs_shim = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="needs Linux and a C compiler"
)


class Mode(IntEnum):
    """What happens at the n-th call; numbers as in faults.c."""

    OFF = 0
    KILL_BEFORE = 1
    KILL_HALF = 2
    KILL_AFTER = 3
    FULL = 4
    BROKEN_ONCE = 5
    BROKEN = 6


@dataclass(frozen=True)
class Call:
    """One counted call, as the trace has it; `operation` is write, copy, fsync, rename, unlink, create, …"""

    number: int
    process: int
    at_ns: int
    operation: str
    bytes: int
    path: str


def build(folder: Path) -> Path:
    """Compile the shim into `folder`."""
    library = folder / "faults.so"
    made = subprocess.run(
        ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return library


class Control:
    """The control file of one run: made new, it counts; with `nth` it also strikes."""

    def __init__(self, file: Path, under: Sequence[Path], *, nth: int = 0, mode: Mode = Mode.OFF) -> None:
        self.file = file
        self.trace = file.with_suffix(".trace")
        self.trace.unlink(missing_ok=True)
        names = "".join(f"{folder}\n" for folder in under).encode()
        assert len(names) < _UNDER
        head = _NUMBERS.pack(0, nth, mode, 0, 0) + names.ljust(_UNDER, b"\0")
        file.write_bytes(head + str(self.trace).encode().ljust(_TRACE, b"\0"))

    @property
    def count(self) -> int:
        return self._numbers()[0]

    @property
    def fired(self) -> bool:
        return bool(self._numbers()[3])

    @property
    def bytes(self) -> int:
        """What was written, whether or not it got there."""
        return self._numbers()[4]

    def calls(self) -> list[Call]:
        """Return the calls in order of their numbers."""
        try:
            lines = self.trace.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            number, process, at, operation, size, path = line.split(" ", 5)
            found.append(Call(int(number), int(process), int(at), operation, int(size), path))
        return sorted(found, key=lambda call: call.number)

    def _numbers(self) -> tuple[int, ...]:
        return _NUMBERS.unpack_from(self.file.read_bytes())


def attach(control: Path) -> None:
    """Let the shim of this process, and of those it starts, follow a control file."""
    os.environ[CONTROL_VARIABLE] = str(control)
    shim = ctypes.CDLL(None)
    assert shim.fault_attach(str(control).encode()) == 0, "the shim is not loaded"
