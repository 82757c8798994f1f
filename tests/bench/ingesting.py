"""Ingest against its bare steps, and the share of the model in an ingest with vectors."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench import material
from tests.bench.bare import BareIngest
from tests.bench.measure import Row, alternate, cpu_of_family

_FILES = 16


def without_vectors(scratch: Path, rounds: int) -> list[Row]:
    """Compare a run over the vaults with the bare loop."""
    corpus = material.vaults(scratch)
    home = scratch / "home"
    chunks = 0

    maker: Any = None

    def ours() -> None:
        nonlocal chunks, maker
        shutil.rmtree(home, ignore_errors=True)
        with material.opened(home, corpus.folder, vectors=False) as parts:
            if maker is not None:
                parts.maker = maker
            material.ingest(parts)
            chunks, maker = parts.chunks.facts(None).chunks, parts.maker

    def first() -> None:
        nonlocal maker
        maker = None
        ours()

    ours()
    bare = BareIngest(corpus.folder, scratch / "bare")
    made = bare.fit(chunks)
    note = f"{corpus.name}, {chunks} chunks to {made}"
    warm = alternate(ours, bare.run, rounds=rounds)
    cold = alternate(first, bare.run, rounds=max(3, rounds // 2))
    return [
        warm.row("ingest", "ingest without vectors ÷ its bare steps, CPU", 1.5, note=note),
        cold.row("ingest", "the same, the first of a process, which loads the tables of the language detector", 1.5),
    ]


def with_vectors(scratch: Path, rounds: int) -> list[Row]:
    """Measure how much of the CPU of an ingest is the model itself, once everything is loaded."""
    del rounds
    corpus = material.vaults(scratch)
    files = sorted(corpus.folder.rglob("*.md"))
    workspace = scratch / "few"
    _copy(files[:1], workspace)
    with material.opened(scratch / "home-vectors", workspace, vectors=True) as parts:
        if parts.embedder is None:
            return [Row("ingest", "share of the model: not measured, no embedding model is installed", 0.0, unit="")]
        # Models, tokenizer and Chroma's process are loaded by a first file: their start is not a matter of texts.
        material.ingest(parts)
        _copy(files[7 :: len(files) // _FILES], workspace)
        before = cpu_of_family()
        with _model_runs() as runs:
            material.ingest(parts)
        total = cpu_of_family() - before
    detail = f"{len(runs)} passages of {corpus.name}, {total:.1f} CPU-s in all, Chroma's process included"
    what = "share of the CPU inside the model's run, ingest with vectors"
    return [Row("ingest", what, sum(runs) / total, "", "at least", 0.85, detail)]


def _copy(files: list[Path], workspace: Path) -> None:
    workspace.mkdir(exist_ok=True)
    for number, file in enumerate(files):
        shutil.copy2(file, workspace / f"{number:03d}-{file.name}")


@contextmanager
def _model_runs() -> Iterator[list[float]]:
    """Collect the CPU seconds of each `InferenceSession.run`, of the calling thread: sessions have one."""
    import onnxruntime

    runs: list[float] = []
    original = onnxruntime.InferenceSession.run

    def timed(session: Any, *arguments: Any, **options: Any) -> Any:
        started = time.thread_time()
        try:
            return original(session, *arguments, **options)
        finally:
            runs.append(time.thread_time() - started)

    onnxruntime.InferenceSession.run = timed
    try:
        yield runs
    finally:
        onnxruntime.InferenceSession.run = original
