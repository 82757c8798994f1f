"""Files of different kinds read in child processes: are all cores busy, and what does the way through a child cost?"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kb.domain.paths import WorkspacePath
from tests.bench import material
from tests.bench.measure import Row, cpu_of_family, pair_of

_LARGEST = 8 << 20
_FILES = 60
_SPIN_SECONDS = 3.0
_CORES = 2


_SPIN = "import os, time\nos.nice(10)\nend = time.time() + {seconds}\nwhile time.time() < end: pass"


class _File(NamedTuple):
    path: WorkspacePath
    media_type: Any
    content: Any


def reading(scratch: Path, rounds: int) -> list[Row]:
    """Measure how busy two children are, and the CPU of reading through them against the same parsers in process."""
    from kb.app.readers import child_reader, format_parsers
    from kb.domain.limits import ReadingLimits

    decoder, limits = _decoder(), ReadingLimits()
    parsers = {media: parser for parser in format_parsers(decoder, []) for media in parser.media_types}
    files, name = _files(scratch, parsers.keys())
    reader = child_reader(decoder, [], limits, scratch / "children", _CORES)
    busy: list[float] = []
    costs: list[tuple[float, float]] = []

    def through_children() -> None:
        for one in [reader.begin(file.content, file.path, file.media_type) for file in files]:
            _ended(one.result)

    def in_process() -> None:
        for file in files:
            parser = parsers[file.media_type]
            _ended(lambda parser=parser, file=file: parser.read(_source(file), limits, lambda *_: None))

    # The first time each side loads its libraries.
    through_children()
    in_process()
    for _ in range(rounds):
        used, own, seconds = _used(through_children)
        # Without this process, which hands out files and takes documents. What others leave of a busy machine counts
        # as all there is: loops that do nothing but count get no more.
        busy.append(_CORES * ((used - own) / seconds) / _spun())
        costs.append((used, _used(in_process)[0]))
    reader.close()
    pair = pair_of(costs)
    load = f"; load of the machine {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    note = f"{len(files)} files: {name}"
    cores = Row(
        "reading",
        f"CPU of {_CORES} children ÷ wall, against {_CORES} empty loops, files of different kinds ({note}{load})",
        statistics.median(busy),
        "cores",
        "at least",
        0.8 * _CORES,
    )
    way = Row(
        "reading",
        "reading in children ÷ the same parsers in process, CPU of all processes",
        pair.ratio,
        detail=f"{pair.ours:.2f} s to {pair.bare:.2f} s",
    )
    return [cores, way]


def _used(work: Callable[[], None]) -> tuple[float, float, float]:
    """Return CPU seconds of all processes and of this one, and wall seconds."""
    own, family, started = time.process_time(), cpu_of_family(), time.perf_counter()
    work()
    return cpu_of_family() - family, time.process_time() - own, time.perf_counter() - started


def _spun() -> float:
    """Return how many cores as many empty loops as there are children get."""
    script = _SPIN.format(seconds=_SPIN_SECONDS)
    if not hasattr(os, "nice"):
        script = script.replace("os.nice(10)", "pass")

    def loops() -> None:
        for loop in [subprocess.Popen([sys.executable, "-c", script]) for _ in range(_CORES)]:
            loop.wait()

    used, own, seconds = _used(loops)
    return (used - own) / seconds


def _ended(read: Any) -> None:
    from kb.domain.errors import Unreadable

    try:
        read()
    except (Unreadable, RecursionError, MemoryError):
        return


def _decoder() -> Any:
    from kb.adapters.encoding.decoder import CharsetNormalizerDecoder

    return CharsetNormalizerDecoder()


def _source(file: _File) -> Any:
    from kb.ingest.reading_ports import SourceFile

    return SourceFile(file.path, file.media_type, file.content.data, file.content.checksum)


def _files(scratch: Path, readable: Any) -> tuple[list[_File], str]:
    """Return files of several kinds, mixed: PDF and office files of the shared data, else pages and notebooks."""
    from blake3 import blake3

    from kb.adapters.files.workspace import WorkspaceFiles
    from kb.domain.files import FileBytes, FileIdentity
    from kb.domain.items import MediaType

    data = material.shared_data()
    folders = [data / kind for kind in ("pdf", "office")] if data else [_made(scratch)]
    names = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    kinds = WorkspaceFiles(scratch)
    files: list[_File] = []
    # Sound and pictures would measure their engines alone.
    left_out = {MediaType.AUDIO, MediaType.VIDEO, MediaType.IMAGE}
    for path in _spread(names, _FILES):
        if path.stat().st_size > _LARGEST:
            continue
        bytes_ = path.read_bytes()
        media_type = kinds.media_type(WorkspacePath(path.name), bytes_)
        if media_type in readable and media_type not in left_out:
            content = FileBytes(bytes_, blake3(bytes_).hexdigest(), FileIdentity(len(bytes_), 0, path.name))
            files.append(_File(WorkspacePath(path.name), media_type, content))
    return files, "PDF and office files of the shared data" if data else "made here"


def _spread(names: Sequence[Path], count: int) -> Sequence[Path]:
    return names[:: max(1, len(names) // count)]


def _made(scratch: Path) -> Path:
    folder = scratch / "made"
    folder.mkdir()
    for number in range(_FILES):
        words = " ".join(f"word{number * place % 977}" for place in range(4_000))
        if number % 2:
            page = "".join(f"<h2>Part {part}</h2><p>{words}</p>" for part in range(6))
            (folder / f"{number:03d}.html").write_text(f"<html><body>{page}</body></html>", encoding="utf-8")
        else:
            cells = [{"cell_type": "markdown", "id": f"c{part}", "metadata": {}, "source": words} for part in range(6)]
            book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
            (folder / f"{number:03d}.ipynb").write_text(json.dumps(book), encoding="utf-8")
    return folder
