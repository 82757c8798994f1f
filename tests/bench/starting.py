"""Start-up of the command against a bare typer program with the same commands, and memory of ingest."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

from tests.bench import material
from tests.bench.measure import Row, alternate

_CHILD = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.bench import material
with material.opened(Path(sys.argv[2]), Path(sys.argv[3]), vectors=False) as parts:
    material.ingest(parts, summary_only=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
_FILES = 500, 5_000, 10_000
_COMMANDS = re.compile(r"^  ([a-z]+)  +(\S.*)$", re.MULTILINE)


def help_page(scratch: Path, rounds: int) -> list[Row]:
    """Compare `kb --help` with a program that has the same names and words and nothing else."""
    shown = subprocess.run([sys.executable, "-m", "kb.cli.main", "--help"], check=True, capture_output=True, text=True)
    commands = _COMMANDS.findall(shown.stdout)
    program = scratch / "bare_program.py"
    program.write_text(_program(commands), encoding="utf-8")
    times = 4

    def run(*arguments: str) -> None:
        for _ in range(times):
            subprocess.run([sys.executable, *arguments, "--help"], check=True, stdout=subprocess.DEVNULL)

    pair = alternate(lambda: run("-m", "kb.cli.main"), lambda: run(str(program)), rounds=rounds, clock=_cpu_of_children)
    what = f"`kb --help` ÷ a bare typer program with the same {len(commands)} commands, CPU"
    return [pair.row("start", what, 1.3, per=times)]


def memory(scratch: Path, rounds: int) -> list[Row]:
    """Compare the peak of an ingest of many files with that of few."""
    del rounds
    few, many, most = (_peak(scratch, count) for count in _FILES)
    filled = Row(
        "memory",
        f"peak memory of ingest with {_FILES[1]:,} files − with {_FILES[0]}: caches fill",
        (many - few) / 1024,
        "MB",
        "at most",
        96,
        f"{many / 1024:.0f} MB to {few / 1024:.0f} MB",
    )
    slope = Row(
        "memory",
        f"growth of the peak for each further file, {_FILES[1]:,} to {_FILES[2]:,} files: the list of what to read",
        (most - many) / (_FILES[2] - _FILES[1]),
        "KiB",
        "at most",
        4,
        f"{most / 1024:.0f} MB",
    )
    return [filled, slope]


def _peak(scratch: Path, count: int) -> int:
    workspace = scratch / f"files-{count}"
    material.made_notes(workspace, count, sections=1)
    home = scratch / f"home-{count}"
    command = [sys.executable, "-c", _CHILD, str(material.ROOT), str(home), str(workspace)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _cpu_of_children(work: object) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()  # type: ignore[operator]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _program(commands: list[tuple[str, str]]) -> str:
    options = "add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None"
    lines = ["import typer", f"app = typer.Typer({options})"]
    for name, words in commands:
        lines += [f"@app.command({name!r}, help={words!r})", f"def _{name}() -> None: ..."]
    return "\n".join([*lines, "app()"]) + "\n"
