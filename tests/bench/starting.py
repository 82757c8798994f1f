"""Start-up of the command against a bare typer program with the same commands, and memory of ingest."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.bench import material
from tests.bench.measure import Row, alternate

_CHILD = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.bench import material
with material.opened(Path(sys.argv[2]), Path(sys.argv[3]), vectors=False) as parts:
    material.ingest(parts, summary_only=True)
# Not ru_maxrss where it can be helped: that begins with the size of the parent.
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
peak = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
print(*peak or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss])
"""
_FILES = 500, 5_000, 10_000


def help_page(scratch: Path, rounds: int) -> list[Row]:
    """Compare `kb --help` with a program that has the same names and words and nothing else."""
    program = scratch / "bare_program.py"
    count = _write_program(program)
    times = 4

    def run(*arguments: str) -> None:
        for _ in range(times):
            subprocess.run([sys.executable, *arguments, "--help"], check=True, stdout=subprocess.DEVNULL)

    pair = alternate(lambda: run("-m", "kb.cli.main"), lambda: run(str(program)), rounds=rounds, clock=_cpu_of_children)
    what = f"`kb --help` ÷ a bare typer program with the same {count} commands and options, CPU"
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


def _write_program(file: Path) -> int:
    """Write a typer program with the commands, options and words of `kb` and nothing behind them; return how many."""
    from typer.main import get_command

    from kb.cli.main import app

    options = "add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None"
    lines = ["from typing import Annotated", "import typer", f"app = typer.Typer({options})"]
    count = 0
    commands: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    for name, command in commands.items():
        inner: dict[str, Any] = getattr(command, "commands", {})
        if inner:
            lines += [f"{name} = typer.Typer(help={command.help!r})", f"app.add_typer({name}, name={name!r})"]
        for own_name, own in (inner or {name: command}).items():
            count += 1
            lines.append(f"@{name if inner else 'app'}.command({own_name!r}, help={own.help!r})")
            lines.append(f"def _{count}({', '.join(map(_parameter, own.params))}) -> None: ...")
    file.write_text("\n".join([*lines, "app()"]) + "\n", encoding="utf-8")
    return count


def _parameter(parameter: Any) -> str:
    kind = "bool" if getattr(parameter, "is_flag", False) else "str"
    if parameter.param_type_name == "argument":
        return f"{parameter.name}: Annotated[str, typer.Argument()] = ''"
    default = "False" if kind == "bool" else "''"
    option = f"typer.Option({parameter.opts[-1]!r}, help={parameter.help!r})"
    return f"{parameter.name}: Annotated[{kind}, {option}] = {default}"
