"""A second ingest of a folder in which nothing changed."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from tests.bench import material
from tests.bench.bare import files_below
from tests.bench.measure import Row, alternate, wall_of

_FILES = 2000


def unchanged(scratch: Path, rounds: int) -> list[Row]:
    """Measure the scanner in process, the whole command, and the files it opens."""
    workspace, home = scratch / "two-thousand", scratch / "home-rescan"
    material.made_notes(workspace, _FILES, sections=1)
    with material.opened(home, workspace, vectors=False) as parts:
        material.ingest(parts)
        rows = [_scanner(parts, workspace, rounds)]
    env = material.process_environment(home, workspace, vectors=False)
    empty = scratch / "empty"
    empty.mkdir()
    other = material.process_environment(scratch / "home-empty", empty, vectors=False)
    subprocess.run([sys.executable, "-m", "kb.cli.main", "init"], env=other, check=True, stdout=subprocess.DEVNULL)
    rows += _command(env, other, rounds)
    rows.append(_opened(env, workspace))
    return rows


def _scanner(parts: object, workspace: Path, rounds: int) -> Row:
    from kb.adapters.files.workspace import WorkspaceFiles
    from kb.domain.files import Scope

    settings = parts.settings.workspace  # type: ignore[attr-defined]
    scope = Scope(settings.include, settings.exclude, ())
    pair = alternate(
        lambda: [sum(1 for _ in WorkspaceFiles(workspace).scan(scope)) for _ in range(5)],
        lambda: [files_below(workspace) for _ in range(5)],
        rounds=rounds,
    )
    what = f"scanner over {_FILES:,} unchanged files ÷ bare os.scandir walk with stat, CPU"
    return pair.row("unchanged folder", what, 3.0, per=5)


def _command(env: dict[str, str], empty: dict[str, str], rounds: int) -> list[Row]:
    """Compare `kb ingest` with itself on an empty folder, and with a command that only opens the library."""

    def kb(env: dict[str, str], *arguments: str) -> float:
        command = [sys.executable, "-m", "kb.cli.main", *arguments]
        return wall_of(lambda: subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL))

    ingest = "ingest", "--summary-only"
    turns = [(kb(env, *ingest), kb(empty, *ingest), kb(env, "jobs")) for _ in range(max(rounds, 5) + 1)][1:]
    ours, start, jobs = (statistics.median(side) * 1000 for side in zip(*turns, strict=True))
    files = statistics.median(one - other for one, other, _ in turns) * 1000
    work = statistics.median(one - other for one, _, other in turns) * 1000
    what = f"`kb ingest` of {_FILES:,} unchanged files − `kb ingest` of an empty folder, wall"
    return [
        Row("unchanged folder", what, files, "ms", "at most", 100, f"{ours:.0f} ms to {start:.0f} ms"),
        Row("unchanged folder", "the same − `kb jobs`, wall", work, "ms", "at most", 100, f"to {jobs:.0f} ms"),
    ]


def _opened(env: dict[str, str], workspace: Path) -> Row:
    what = "files of the workspace opened by it (strace)"
    log = traced(env, workspace)
    if log is None:
        return Row("unchanged folder", f"{what}: not measured, strace is not installed", 0.0, "")
    return Row("unchanged folder", what, float(len(opened_files(log, workspace))), "", "at most", 0)


def traced(env: dict[str, str], workspace: Path) -> Path | None:
    """Run `kb ingest` under strace and return its log of opened files; None where strace is not installed."""
    strace = shutil.which("strace")
    if strace is None:
        return None
    log = workspace.parent / "strace.txt"
    command = [strace, "-f", "-y", "-qq", "-e", "trace=open,openat,openat2", "-o", str(log)]
    command += [sys.executable, "-m", "kb.cli.main", "ingest", "--summary-only"]
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    return log


def opened_files(log: Path, workspace: Path) -> list[str]:
    """Return the files (not folders) below `workspace` that a `strace -y` log shows as opened."""
    files = [
        line
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines()
        if str(workspace) in line and "O_DIRECTORY" not in line and " = -1 " not in line
    ]
    return [line for line in files if f"<{workspace}/" in line.rpartition(" = ")[2]]
