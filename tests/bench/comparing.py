"""Comparing a question with 10,000, 100,000 and a million vectors: the exact scan, Chroma, and what memory allows.

By itself: `python3 tests/bench/comparing.py [SIZE ...] [--chroma-up-to N]`. The vectors are those of real passages and
questions (e5, 384 numbers) where the model and the data are there, with a little noise added until there are enough and
made of length one again; else random ones around a thousand centres.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.bench import material  # noqa: E402 - found once the root is on the path
from tests.bench.measure import Row, table  # noqa: E402

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

SIZES = (10_000, 100_000, 1_000_000)
SHARES = (0.001, 0.01, 0.1, 0.5)
_DIMENSIONS, _TOP, _QUERIES = 384, 10, 100
_SEEDS = 2_000
_NOISE = 0.35
"""Length of the noise beside a vector of length one: neighbours of a passage stay nearer than other passages are."""
_SETS = ("xquad-en", "xquad-zh", "korquad")
_CHROMA_UP_TO = 100_000
_READY_S = 900.0


@dataclass(frozen=True, slots=True)
class _Vectors:
    rows: Matrix
    queries: Matrix
    are_real: bool


def comparing(scratch: Path, rounds: int) -> list[Row]:
    """Measure the two smaller sizes; the largest takes minutes and is asked for by name."""
    del rounds
    return [row for size in SIZES[:2] for row in of_size(scratch, size, _CHROMA_UP_TO)]


def of_size(scratch: Path, size: int, chroma_up_to: int) -> list[Row]:
    """Return the rows of one size."""
    vectors = _made(scratch, size)
    nearest = _nearest(vectors)
    kind = "real vectors with noise" if vectors.are_real else "made vectors"
    rows = _scan(scratch / f"scan-{size}", vectors, nearest, kind)
    if size <= chroma_up_to:
        rows += _chroma(scratch / f"chroma-{size}", vectors, nearest)
    return rows


def _scan(folder: Path, vectors: _Vectors, nearest: Sequence[frozenset[int]], kind: str) -> list[Row]:
    from kb.adapters.vectorscan.index import ScanVectors

    size = len(vectors.rows)
    index = ScanVectors(folder, "bench")
    index.rebuild(_model(), _snapshot(vectors.rows))
    before = _resident()
    asked = [query.tobytes() for query in vectors.queries]

    def search(query: bytes, allowed: Any = None) -> list[int]:
        return [key for key, _ in index.search(_model(), query, _TOP, allowed).candidates]  # type: ignore[arg-type]

    found = [search(query) for query in asked]
    memory = _resident() - before
    floor = _reading(size)
    times = _times(search, asked)
    detail = (
        f"p50 {times.p50:.2f} ms, p95 {times.p95:.2f} ms; {floor:.2f} ms to read {size * _DIMENSIONS >> 20} MB; {kind}"
    )
    where = f"{size:,} vectors: "
    rows = [
        Row("comparing", f"{where}exact scan ÷ reading its bytes", times.p50 / floor, "×", "at most", 2.5, detail),
        Row("comparing", f"{where}exact scan, recall@10", _recall(found, nearest), "", "at least", 0.99),
        Row("comparing", f"{where}exact scan, memory of its own beside the mapped file", memory, "MB"),
    ]
    for share in SHARES:
        allowed = list(range(1, size + 1, round(1 / share)))
        chosen = _times(partial(search, allowed=allowed), asked[:30])
        said = f"p50 {chosen.p50:.2f} ms, p95 {chosen.p95:.2f} ms"
        rows.append(
            Row("comparing", f"{where}filter that leaves {share:.1%} ÷ no filter", chosen.p50 / times.p50, detail=said)
        )
    index.close()
    return rows


def _chroma(folder: Path, vectors: _Vectors, nearest: Sequence[frozenset[int]]) -> list[Row]:
    from kb.adapters.chroma.index import ChromaVectors

    size = len(vectors.rows)
    index = ChromaVectors(folder, "bench")
    started = time.perf_counter()
    index.rebuild(_model(), _snapshot(vectors.rows))
    built = time.perf_counter() - started
    until = time.monotonic() + _READY_S
    while not index.ready(_model(), 1) and time.monotonic() < until:
        time.sleep(0.2)
    asked = [query.tobytes() for query in vectors.queries]

    def search(query: bytes) -> list[int]:
        return [key for key, _ in index.search(_model(), query, _TOP, None).candidates]  # type: ignore[arg-type]

    found = [search(query) for query in asked]
    times = _times(search, asked)
    index.close()
    detail = f"p50 {times.p50:.2f} ms, p95 {times.p95:.2f} ms, built in {built:.0f} s"
    return [
        Row("comparing", f"{size:,} vectors: Chroma, recall@10", _recall(found, nearest), "", "at least", 0.98, detail)
    ]


@dataclass(frozen=True, slots=True)
class _Times:
    p50: float
    p95: float


def _times(search: Callable[[bytes], object], asked: Sequence[bytes]) -> _Times:
    taken = []
    for query in asked:
        started = time.perf_counter()
        search(query)
        taken.append((time.perf_counter() - started) * 1e3)
    return _Times(statistics.median(taken), statistics.quantiles(taken, n=20)[-1])


def _reading(size: int) -> float:
    """Return the milliseconds that reading `size` x 384 bytes takes: the fastest of some sums over them."""
    import numpy as np

    content = np.ones(size * _DIMENSIONS // 8, np.int64)
    taken = []
    for _ in range(15):
        started = time.perf_counter()
        content.sum()
        taken.append((time.perf_counter() - started) * 1e3)
    return min(taken)


def _recall(found: Sequence[Sequence[int]], nearest: Sequence[frozenset[int]]) -> float:
    return statistics.fmean(len(best & set(keys)) / _TOP for keys, best in zip(found, nearest, strict=True))


def _nearest(vectors: _Vectors) -> list[frozenset[int]]:
    """Return the keys of the ten nearest by float32, page by page."""
    import numpy as np

    page = 100_000
    scores = np.empty((len(vectors.queries), 0), np.float32)
    keys = np.empty((len(vectors.queries), 0), np.int64)
    for start in range(0, len(vectors.rows), page):
        part = vectors.queries @ vectors.rows[start : start + page].T
        best = np.argpartition(-part, _TOP, axis=1)[:, :_TOP]
        scores = np.hstack((scores, np.take_along_axis(part, best, axis=1)))
        keys = np.hstack((keys, best + start + 1))
    order = np.argsort(-scores, axis=1)[:, :_TOP]
    return [frozenset(row.tolist()) for row in np.take_along_axis(keys, order, axis=1)]


def _made(scratch: Path, size: int) -> _Vectors:
    import numpy as np

    chance = np.random.default_rng(11)
    embedded = _embedded(scratch)
    if embedded is None:
        seeds, queries = _unit(chance.standard_normal((_SEEDS // 2, _DIMENSIONS))), None
    else:
        seeds, queries = embedded
    rows = np.empty((size, _DIMENSIONS), np.float32)
    for start in range(0, size, len(seeds)):
        part = seeds[: min(len(seeds), size - start)]
        noise = 0 if start == 0 else _NOISE * _unit(chance.standard_normal(part.shape))
        rows[start : start + len(part)] = _unit(part + noise)
    if queries is None:
        queries = _unit(seeds[:_QUERIES] + _NOISE * _unit(chance.standard_normal((_QUERIES, _DIMENSIONS))))
    return _Vectors(rows, queries, embedded is not None)


def _embedded(scratch: Path) -> tuple[Matrix, Matrix] | None:
    """Return vectors of real passages and questions, None without the model or the data; made once a run."""
    import numpy as np

    file = scratch / "embedded.npz"
    if not file.is_file():
        data = material.shared_data()
        sets = [material.questions_of(data, name) for name in _SETS] if data else []
        with material.opened(scratch / "home-vectors", scratch, vectors=True) as parts:
            embedder = parts.embedder
            if not sets or embedder is None:
                return None
            texts = [text for one in sets for text in one.passages][:_SEEDS]
            asked = [question for one in sets for question, _ in one.questions[: _QUERIES // len(sets) + 1]]
            passages = [np.frombuffer(embedder.embed_passage(text), "<f4") for text in texts]
            questions = [np.frombuffer(embedder.embed_query(text), "<f4") for text in asked[:_QUERIES]]
        np.savez(file, passages=np.stack(passages), questions=np.stack(questions))
    kept = np.load(file)
    return kept["passages"], kept["questions"]


def _unit(rows: Any) -> Matrix:
    import numpy as np

    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _snapshot(rows: Matrix) -> Any:
    from kb.domain.embeddings import ChunkKey, Vector
    from kb.domain.index import VectorRow, VectorSnapshot

    def given() -> Iterator[VectorRow]:
        for number, row in enumerate(rows, start=1):
            yield VectorRow(ChunkKey(number), Vector(row.tobytes()))

    return VectorSnapshot(1, len(rows), given())


def _model() -> Any:
    from kb.domain.embeddings import EmbeddingModel

    return EmbeddingModel("bench", "1", "bench", _DIMENSIONS, "mean", "", "", 512)


def _resident() -> float:
    """Return the anonymous memory of this process in MB; pages of mapped files can be given back and do not count."""
    import psutil

    facts = psutil.Process().memory_info()
    return float(facts.rss - getattr(facts, "shared", 0)) / (1 << 20)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, metavar="SIZE")
    parser.add_argument("--chroma-up-to", type=int, default=_CHROMA_UP_TO, metavar="N", help="its graph takes minutes")
    chosen = parser.parse_args(arguments)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="kebab-bench-") as folder:
        for size in chosen.sizes or SIZES:
            rows += of_size(Path(folder), size, chosen.chroma_up_to)
            print(table(rows[-9:]), file=sys.stderr)
    print(table(rows))
    return int(any(row.missed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
