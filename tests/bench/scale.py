"""Libraries of 1,000, 10,000 and 100,000 small notes: what start, lists, counts and an idle rescan cost at each size.

Also by itself: `python3 tests/bench/scale.py [SIZE ...]`. The notes come in by a real ingest without vectors.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.bench import material  # noqa: E402 - found once the root is on the path
from tests.bench.following import write_notes  # noqa: E402
from tests.bench.measure import Row, table, wall_of  # noqa: E402
from tests.bench.scanning import opened_files, traced  # noqa: E402

SIZES = (1_000, 10_000, 100_000)
_IN_A_FOLDER = 200
_ROUNDS = 3
_LINEAR = 1.5
"""So many times the cost of each item may grow from one size to the next: caches that no longer hold all."""

_COMMANDS: dict[str, tuple[str, ...]] = {
    "start: `kb jobs`": ("jobs",),
    "`kb list docs --json`, all": ("list", "docs", "--json"),
    "idle rescan: `kb ingest`, nothing changed": ("ingest", "--summary-only"),
}
_MOST_RSS_KIB = {"start: `kb jobs`": 0.1, "`kb list docs --json`, all": 0.1}
_RESCAN_RSS_KIB = 4.0
# A process starts with the peak of the one it was forked from, and this one is large by then: a small one starts it.
_LAUNCHER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
print(process.returncode, usage.ru_maxrss)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Median wall seconds, and the largest resident set in MiB of a command, None inside this process."""

    seconds: float
    peak: float | None = None


def scale(scratch: Path, rounds: int, sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """Measure each size, then say how each cost grows."""
    del rounds
    costs: dict[int, dict[str, Cost]] = {}
    rows: list[Row] = []
    for size in sizes:
        workspace, home = scratch / f"notes-{size}", scratch / f"home-{size}"
        for part in range(-(-size // _IN_A_FOLDER)):
            count = min(_IN_A_FOLDER, size - part * _IN_A_FOLDER)
            write_notes(workspace, count, f"part-{part:04d}", seed=part)
        with material.opened(home, workspace, vectors=False) as parts:
            taken = wall_of(lambda: material.ingest(parts, summary_only=True))
            costs[size] = {"first ingest": Cost(taken), **_inside(parts, size)}
        costs[size] |= _of_commands(home, workspace)
        if size <= SIZES[1]:
            rows.append(_opened(home, workspace, size))
        print({name: f"{cost.seconds * 1e3:.0f} ms" for name, cost in costs[size].items()}, file=sys.stderr)
    return [*_rows(costs), *rows]


def _inside(parts: Any, size: int) -> dict[str, Cost]:
    """Measure what pages and searches ask of the library; each round on a change, so that nothing is remembered."""
    middle = f"part-{size // _IN_A_FOLDER // 2:04d}"
    work: dict[str, Callable[[], object]] = {
        "a page of 200 items from the middle": lambda: parts.catalogue.items(middle, 200),
        "a page of 200 documents from the middle": lambda: parts.catalogue.documents(middle, 200),
        "the library in numbers": lambda: parts.catalogue.summary(None),
        "counts that a search needs, after a change": lambda: _facts(parts),
    }
    return {name: Cost(statistics.median(wall_of(call) for _ in range(5))) for name, call in work.items()}


def _facts(parts: Any) -> object:
    from kb.adapters.sqlite.gate import SqliteGatedChunks

    return SqliteGatedChunks(parts.library).facts(None)


def _of_commands(home: Path, workspace: Path) -> dict[str, Cost]:
    environment = material.process_environment(home, workspace, vectors=False) | {"PYTHONPATH": str(ROOT / "backend")}
    found: dict[str, Cost] = {}
    for name, arguments in _COMMANDS.items():
        peaks: list[float] = []
        times = [wall_of(lambda: peaks.append(_peak(arguments, environment))) for _ in range(_ROUNDS)]  # noqa: B023
        found[name] = Cost(statistics.median(times), max(peaks))
    return found


def _peak(arguments: tuple[str, ...], environment: Mapping[str, str]) -> float:
    """Run a command and return the largest resident set of its process, in MiB."""
    command = [sys.executable, "-c", _LAUNCHER, sys.executable, "-m", "kb.cli.main", *arguments]
    found = subprocess.run(command, env=dict(environment), stdout=subprocess.PIPE, text=True, check=True)
    code, kilobytes = map(int, found.stdout.split())
    if code not in (0, 1):
        raise RuntimeError(f"kb {' '.join(arguments)} ended with {code}")
    return kilobytes / 1024


def _opened(home: Path, workspace: Path, size: int) -> Row:
    what = f"files of the workspace opened by an idle rescan of {size:,}"
    log = traced(material.process_environment(home, workspace, vectors=False), workspace)
    if log is None:
        return Row("scale", f"{what}: not measured, strace is not installed", 0.0, "")
    return Row("scale", what, float(len(opened_files(log, workspace))), "", "at most", 0)


def _rows(costs: dict[int, dict[str, Cost]]) -> Iterator[Row]:
    sizes = list(costs)
    least, most = sizes[-2:] if len(sizes) > 1 else (sizes[0], sizes[0])
    for name in costs[most]:
        every = " / ".join(f"{costs[size][name].seconds * 1e3:.0f}" for size in sizes)
        named = " / ".join(f"{size:,}" for size in sizes)
        growth = costs[most][name].seconds / costs[least][name].seconds
        detail = f"{every} ms at {named}"
        yield Row("scale", f"{name}: {most:,} ÷ {least:,}", growth, "×", "at most", _LINEAR * most / least, detail)
        low, high = costs[least][name].peak, costs[most][name].peak
        if low is not None and high is not None and most > least:
            each = (high - low) * 1024 / (most - least)
            peaks = " / ".join(f"{costs[size][name].peak:.0f}" for size in sizes)
            bound = _MOST_RSS_KIB.get(name, _RESCAN_RSS_KIB)
            yield Row("scale", f"{name}: memory a further item", each, "KiB", "at most", bound, f"{peaks} MB")


def main() -> int:
    """Print the rows of the sizes asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, metavar="SIZE", help=f"instead of {SIZES}")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kebab-scale-") as folder:
        rows = scale(Path(folder), 1, tuple(chosen.sizes) or SIZES)
    print(table(rows))
    return int(any(row.missed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
