"""Following a workspace over HTTP: many changes at once, a note saved while a large ingest runs, searches meanwhile.

Also by itself: `python3 tests/bench/following.py [burst] [meanwhile] [deleting] [--entries N]`. The server has to watch
the workspace; one that does not is told of each change instead, and the row says so.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.bench import material  # noqa: E402 - found once the root is on the path
from tests.bench.measure import Row, table  # noqa: E402

_BURST = 2000
_KNOWN = 200
_LARGE = 2500
_SAVES = 8
_SEARCHES = 150
_PATIENCE_S = 30.0
_ADJECTIVES = (
    "amber",
    "brisk",
    "calm",
    "dusty",
    "early",
    "faint",
    "giant",
    "hollow",
    "inner",
    "jolly",
    "keen",
    "lunar",
)
_NOUNS = (
    "anchor",
    "beacon",
    "candle",
    "drummer",
    "engine",
    "falcon",
    "glacier",
    "hammock",
    "island",
    "jacket",
    "kettle",
)


@dataclass(slots=True)
class Server:
    """`kb serve` of one library; each thread asks over a connection of its own."""

    place: str
    token: str
    _local: threading.local = field(default_factory=threading.local)

    def ask(self, method: str, **request: Any) -> dict[str, Any]:
        """Return the reply of a facade method such as `search/find`."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = http.client.HTTPConnection(self.place, timeout=120)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request("POST", f"/api/v1/{method}", json.dumps(request), headers)
        reply = connection.getresponse()
        body = json.loads(reply.read())
        if reply.status != 200:
            raise LookupError(f"{method}: {reply.status} {body.get('title')} {body.get('detail', '')}")
        return dict(body)

    def ingest(self, paths: list[str] | None = None) -> str:
        """Start a run and return its job."""
        return str(self.ask("library/ingest", paths=paths, summary_only=True)["id"])

    def is_live(self, job: str) -> bool:
        return self.ask("jobs/get", job_id=job)["status"] in {"pending", "running"}

    def settle(self) -> None:
        """Wait until no job is left."""
        while any(job["status"] in {"pending", "running"} for job in self.ask("jobs/recent")["jobs"]):
            time.sleep(0.1)

    @property
    def watches(self) -> bool:
        try:
            return bool(self.ask("library/watching")["watching"])
        except LookupError:
            return False


@contextmanager
def serving(home: Path, workspace: Path, *, vectors: bool) -> Iterator[Server]:
    """Run `kb serve` of a library of its own."""
    environment = material.process_environment(home, workspace, vectors=vectors)
    environment |= {"PYTHONPATH": str(ROOT / "backend"), "KB_INDEXING_WATCH_FILESYSTEM": "true"}
    command = [sys.executable, "-m", "kb.cli.main", "serve", "--port", "0", "--json"]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                errors.seek(0)
                raise RuntimeError(errors.read().decode(errors="replace")[-2000:])
            ready = json.loads(line)
            yield Server(urlsplit(ready["url"]).netloc, ready["token"])
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()


def burst(scratch: Path, rounds: int) -> list[Row]:
    """Change 2,000 files of one folder at once and count those whose new text is found."""
    del rounds
    workspace = scratch / "burst-files"
    write_notes(workspace, _BURST, "part")
    with serving(scratch / "burst-home", workspace, vectors=False) as server:
        server.ingest()
        server.settle()
        watched = server.watches
        started = time.monotonic()
        for number in range(_BURST):
            file = _file(workspace, "part", number)
            file.write_text(f"# Changed {number}\n\nThe second text names marker{number}changed.\n", encoding="utf-8")
        written = time.monotonic()
        if not watched:
            server.ingest(["part"])
        wanted = [f"marker{number}changed" for number in (0, 499, 500, 501, 1000, 1499, _BURST - 1)]
        _until(lambda: all(_finds(server, word, "lexical") for word in wanted), 2 * _PATIENCE_S)
        taken = time.monotonic() - written
        server.settle()
        found = sum(_finds(server, f"marker{number}changed", "lexical") for number in range(_BURST))
    how = "by watching" if watched else "told of the folder: the server does not watch"
    detail = f"{how}; written in {written - started:.1f} s, found {taken:.1f} s later"
    what = f"of {_BURST:,} files changed in one folder, those whose new text is found"
    return [Row("following", what, float(found), "files", "at least", _BURST, detail)]


def meanwhile(scratch: Path, rounds: int) -> list[Row]:
    """Save notes while thousands are read and embedded, and search all the while."""
    del rounds
    workspace = scratch / "meanwhile-files"
    write_notes(workspace, _KNOWN, "known")
    with serving(scratch / "meanwhile-home", workspace, vectors=True) as server:
        server.ingest()
        server.settle()
        _latencies(server, lambda: True, 30)
        idle = _latencies(server, lambda: True, _SEARCHES)
        write_notes(workspace, _LARGE, "large", seed=5)
        watched = server.watches
        job = server.ingest(["large"])
        _until(lambda: server.ask("jobs/get", job_id=job)["status"] == "running", _PATIENCE_S)
        busy: list[float] = []
        asking = threading.Thread(
            target=lambda: busy.extend(_latencies(server, lambda: server.is_live(job), 100_000)), daemon=True
        )
        asking.start()
        seen = [_save_one(server, workspace, number, tell=not watched) for number in range(_SAVES)]
        still = server.is_live(job)
        if still:
            server.ask("jobs/cancel", job_id=job)
        asking.join()
        last = _latencies(server, lambda: True, _SEARCHES)
    return list(_meanwhile_rows(idle + last, busy, seen, watched=watched, still=still))


def _meanwhile_rows(
    idle: list[float], busy: list[float], seen: list[tuple[float, float]], *, watched: bool, still: bool
) -> Iterator[Row]:
    how = ("watched" if watched else "told of each file: not watched") + ("" if still else "; the ingest ended before")
    by_words, by_vectors = ([one[side] for one in seen] for side in (0, 1))
    for name, times, most in (("words", by_words, 1.0), ("vectors", by_vectors, 3.0)):
        detail = f"{len(times)} notes, median {statistics.median(times):.2f} s; {how}"
        what = f"a note saved while {_LARGE:,} are read and embedded, slowest to be found by {name}"
        yield Row("following", what, max(times), "s", "at most", most, detail)
    quiet, loaded = _p95(idle), _p95(busy)
    detail = f"{loaded * 1e3:.0f} ms of {len(busy)} to {quiet * 1e3:.0f} ms of {len(idle)}, hybrid, over HTTP"
    medians = f"medians {statistics.median(busy) * 1e3:.0f} ms to {statistics.median(idle) * 1e3:.0f} ms"
    what = "p95 of a search while a large ingest runs ÷ p95 idle before and after"
    yield Row("following", what, loaded / quiet, bound="at most", target=2.0, detail=f"{detail}; {medians}")


def _save_one(server: Server, workspace: Path, number: int, *, tell: bool) -> tuple[float, float]:
    """Save a note; return the seconds until its words and until its vector are found."""
    chance = random.Random(number)
    subject = f"{chance.choice(_ADJECTIVES)} {_NOUNS[number % len(_NOUNS)]}"
    sentence = f"The {subject} of the lighthouse keeper was repaired on a Tuesday by sailor{number}unheard."
    time.sleep(1.0)
    file = workspace / f"saved-{number}.md"
    file.write_text(f"# Saved {number}\n\n{sentence}\n", encoding="utf-8")
    started = time.monotonic()
    if tell:
        server.ingest([file.name])
    by_words = by_vectors = _PATIENCE_S
    while time.monotonic() - started < _PATIENCE_S and by_vectors == _PATIENCE_S:
        if by_words == _PATIENCE_S and _finds(server, f"sailor{number}unheard", "lexical"):
            by_words = time.monotonic() - started
        if by_words < _PATIENCE_S and _finds(server, sentence, "vector", file.name):
            by_vectors = time.monotonic() - started
        time.sleep(0.05)
    return by_words, by_vectors


def _finds(server: Server, query: str, mode: str, path: str = "") -> bool:
    """Return whether the first hits hold the word, or are of the file."""
    hits = server.ask("search/find", query=query, mode=mode, top_k=3)["results"]
    if path:
        return any(hit["doc_path"] == path for hit in hits)
    return any(query in hit["snippet"] for hit in hits)


def _latencies(server: Server, go_on: Callable[[], bool], most: int) -> list[float]:
    """Search with other words each time, a moment apart as people do; return the seconds of each."""
    chance = random.Random(3)
    taken: list[float] = []
    while len(taken) < most and (len(taken) % 10 or go_on()):
        query = " ".join(chance.sample(material.WORDS, 4))
        started = time.perf_counter()
        server.ask("search/find", query=query, mode="hybrid")
        taken.append(time.perf_counter() - started)
        time.sleep(0.05)
    return taken


def _p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)] if values else float("nan")


def write_notes(workspace: Path, count: int, folder: str, *, seed: int = 7) -> None:
    """Write small notes, the same ones at every call: a heading and one paragraph."""
    chance = random.Random(seed)
    for number in range(count):
        file = _file(workspace, folder, number)
        file.parent.mkdir(parents=True, exist_ok=True)
        words = " ".join(chance.choices(material.WORDS, k=45)).capitalize()
        file.write_text(f"# Note {number}\n\n{words} {folder}{number}.\n", encoding="utf-8")
        os.utime(file, (1_700_000_000, 1_700_000_000))


def _file(workspace: Path, folder: str, number: int) -> Path:
    return workspace / folder / f"note-{number:06d}.md"


def _until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


PARTS: dict[str, Callable[[Path, int], list[Row]]] = {"burst": burst, "meanwhile": meanwhile}


def following(scratch: Path, rounds: int) -> list[Row]:
    """Measure every part."""
    return [row for part in PARTS.values() for row in part(scratch, rounds)]


def main() -> int:
    """Print the rows of the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"among {', '.join(PARTS)}; all without any")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kebab-following-") as folder:
        rows = [row for name in chosen.parts or PARTS for row in PARTS[name](Path(folder), 1)]
    print(table(rows))
    return int(any(row.missed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
