"""The first opening of a model file happens in a child process: a bad file may crash or hang whatever opens it.

llama.cpp trusts its files: a dimension of zero is a division by zero, a wrong array type a wild read. A file that
opened once, unchanged since by size and time, is opened in the process itself from then on.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from kb.adapters.models.language.chat_template import chat_parts, template_of

_MAGIC = b"GGUF"
_GOOD = 0
_BAD = 3
_LEAST_SECONDS = 30.0
_BYTES_A_SECOND = 20_000_000


class ModelTrial:
    """Remembers which model files opened.

    Args:
        record: a JSON file that keeps this between runs; None to forget with the process.
        seconds: how long a child may take; None for half a minute and what a slow disk needs for the file.
    """

    def __init__(self, record: Path | None = None, seconds: float | None = None) -> None:
        self._record = record
        self._seconds = seconds
        self._good: dict[str, list[int]] = {}
        self._hung: dict[str, list[int]] = {}

    def passes(self, path: Path, opening: Callable[[str], None] | None = None) -> bool:
        """Return whether the file opens, asking a child when it is not known.

        Args:
            path: the model file.
            opening: what the child does with it; None for opening it as a model.
        """
        try:
            stat = path.stat()
            with path.open("rb") as file:
                if file.read(len(_MAGIC)) != _MAGIC:
                    return False
        except OSError:
            return False
        mark = [stat.st_size, stat.st_mtime_ns]
        key = str(path.resolve())
        if self._known().get(key) == mark:
            return True
        # A file that hangs must not hold up each question anew.
        if self._hung.get(key) == mark:
            return False
        seconds = _LEAST_SECONDS + stat.st_size / _BYTES_A_SECOND if self._seconds is None else self._seconds
        code = _tried(path, opening or _open, seconds)
        if code is None:
            self._hung[key] = mark
        if code != _GOOD:
            return False
        self._good[key] = mark
        self._save()
        return True

    def _known(self) -> dict[str, list[int]]:
        if not self._good and self._record is not None:
            try:
                self._good = {str(k): list(v) for k, v in json.loads(self._record.read_text("utf-8")).items()}
            except (OSError, ValueError, AttributeError, TypeError):
                self._good = {}
        return self._good

    def _save(self) -> None:
        if self._record is None:
            return
        partial = self._record.with_suffix(f".{os.getpid()}.partial")
        try:
            self._record.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(self._good, sort_keys=True), encoding="utf-8")
            partial.replace(self._record)
        # Without the record the next process tries the file once more, and that is all.
        except OSError:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


def _tried(path: Path, opening: Callable[[str], None], seconds: float) -> int | None:
    """Return the exit code of a child that opened the file, None when it did not end in time."""
    context = multiprocessing.get_context("spawn")
    child = context.Process(target=_run, args=(opening, str(path)), daemon=True)
    child.start()
    child.join(seconds)
    hangs = child.is_alive()
    if hangs:
        child.kill()
        child.join()
    code = child.exitcode
    child.close()
    return None if hangs else code


def _run(opening: Callable[[str], None], path: str) -> None:
    """Run in the child: silent, and gone without clean-up, which may crash where opening did not."""
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        opening(path)
    # Any failure to open is the same answer.
    except BaseException:  # noqa: BLE001
        os._exit(_BAD)
    sys.stdout.flush()
    os._exit(_GOOD)


def _open(path: str) -> None:
    """Open the model, run one token through it, and render its template."""
    import llama_cpp

    model = llama_cpp.Llama(path, n_ctx=64, n_batch=16, n_threads=1, n_threads_batch=1, verbose=False)
    model.eval(model.tokenize(b"a", add_bos=False)[:4])
    chat_parts(template_of(model.metadata), "s", "u", bos="", eos="")
