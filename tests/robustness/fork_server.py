"""A process that has imported everything and started no thread: a fork of it is a fresh `kb` in a few milliseconds.

Fakes in it: an embedder of letter pairs that notes every passage, and PDF pages read in the same process. All else is
the real program, started by its command line.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tests.homes import ROOT
from tests.robustness.fault_shim import Control, attach

EMBEDS_VARIABLE = "FAULT_EMBEDS"
_HEAVY = (
    "kb.app.bootstrap",
    "kb.app.facade.root",
    "kb.app.gateway",
    "kb.app.handlers",
    "kb.app.remote",
    "kb.app.work",
    "kb.cli.main",
    "kb.adapters.chroma.index",
    "kb.adapters.encoding.decoder",
    "kb.adapters.encoding.legacy",
    "kb.adapters.langid.chinese",
    "kb.adapters.langid.detector",
    "kb.adapters.models.embedding.fastembed_embedder",
    "kb.adapters.models.embedding.tokenizer",
    "kb.adapters.tantivy.index",
    "kb.adapters.vectorscan.index",
    "kb.app.readers",
    "kb.governance.masking",
    "pydantic",
    "rich.console",
    "tests.fakes.reading",
    "tests.logical_state",
    "tests.robustness.observing",
)


@dataclass(frozen=True)
class Ended:
    """How a forked process ended: the exit code, negative for a signal; None when it took too long and was killed."""

    code: int | None
    out: str
    err: str


class ForkServer:
    """The parent's side. `start` and `wait` go together; `kb` and `observe` do both."""

    def __init__(self, folder: Path, shim: Path | None) -> None:
        self._folder = folder
        self._number = 0
        self._outs: dict[int, Path] = {}
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KB_")}
        environment.update(PYTHONPATH=os.pathsep.join([str(ROOT / "backend"), str(ROOT)]), PYTHONUTF8="1")
        environment["OPENBLAS_NUM_THREADS"] = "1"  # else importing numpy starts threads, which a fork would lose
        if shim is not None:
            environment["LD_PRELOAD"] = str(shim)
        command = [sys.executable, "-m", "tests.robustness.fork_server"]
        self._process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._answer() == {"ready": True, "threads": 1}

    def start(
        self,
        what: Sequence[str],
        environment: Mapping[str, str],
        *,
        control: Control | None = None,
        at_ns: int = 0,
    ) -> int:
        """Fork a process that runs `kb` with the arguments `what`, or observes; return its number of the system."""
        self._number += 1
        out = self._folder / f"out-{self._number}"
        asked = {
            "do": "start",
            "what": list(what),
            "environment": dict(environment),
            "control": str(control.file) if control else "",
            "out": str(out),
            "at_ns": at_ns,
        }
        process = int(self._ask(asked)["process"])
        self._outs[process] = out
        return process

    def wait(self, process: int, seconds: float = 60.0) -> Ended:
        """Wait for a process; its whole group is killed when it takes longer."""
        reply = self._ask({"do": "wait", "process": process, "seconds": seconds})
        out = self._outs.pop(process)
        err = out.with_name(out.name + ".err")
        ended = Ended(reply["code"], out.read_text(errors="replace"), err.read_text(errors="replace"))
        out.unlink()
        err.unlink()
        return ended

    def kb(
        self, *arguments: str, environment: Mapping[str, str], control: Control | None = None, seconds: float = 60.0
    ) -> Ended:
        """Run `kb` in a fork."""
        return self.wait(self.start(arguments, environment, control=control), seconds)

    def observe(self, environment: Mapping[str, str], *, whole: bool = True) -> dict[str, Any]:
        """Return what a library says, looked at from a fork; with less when not `whole`."""
        ended = self.wait(self.start(["", "whole" if whole else "visible"], environment))
        assert ended.code == 0, ended
        return cast("dict[str, Any]", json.loads(ended.out))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the fork server has died"
        return cast("dict[str, Any]", json.loads(line))


def _serve() -> None:
    for name in _HEAVY:
        importlib.import_module(name)
    _put_fakes_in_place()
    _say({"ready": True, "threads": len(list(Path("/proc/self/task").iterdir()))})
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "wait":
            _say({"code": _waited(request["process"], request["seconds"])})
            continue
        process = os.fork()
        if process == 0:
            _child(request)
        _say({"process": process})


def _say(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _waited(process: int, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            # What it started must be gone too before the next look at its files.
            _end_group(process)
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            _end_group(process)
            os.waitpid(process, 0)
            return None
        time.sleep(0.002)


def _end_group(process: int) -> None:
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def _child(request: dict[str, Any]) -> None:
    """Become the process that was asked for; never returns."""
    code = 70
    try:
        os.setsid()
        for name, stream in ((request["out"], 1), (request["out"] + ".err", 2)):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(request["environment"])
        if request["control"]:
            attach(Path(request["control"]))
        while time.monotonic_ns() < request["at_ns"]:
            pass
        code = _run(request["what"])
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _run(what: Sequence[str]) -> int:
    if what[0] == "":
        from tests.robustness.observing import observation

        print(json.dumps(observation(whole=what[1] == "whole")))
        return 0
    from kb.cli.main import main

    sys.argv = ["kb", *what]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0


def _put_fakes_in_place() -> None:
    import kb.adapters.models.embedding.fastembed_embedder as embedding
    import kb.adapters.models.embedding.tokenizer as tokens
    from kb.app import readers
    from tests.fakes.models import FakeEmbedder, FakeTokenizer
    from tests.fakes.reading import FakeFormatReader

    class Embedder(FakeEmbedder):
        def __init__(self, _folder: Path, **_options: Any) -> None:
            super().__init__(dimensions=64)

        def embed_passage(self, text: str) -> Any:
            file = os.environ.get(EMBEDS_VARIABLE)
            if file:
                handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                os.write(handle, b".")
                os.close(handle)
            return super().embed_passage(text)

    fakes: tuple[tuple[Any, str, Any], ...] = (
        (embedding, "FastembedEmbedder", Embedder),
        (tokens, "EmbedderTokenizer", lambda _folder: FakeTokenizer()),
        (readers, "child_reader", lambda *_arguments, **_options: FakeFormatReader()),
    )
    for module, name, fake in fakes:
        assert hasattr(module, name)
        setattr(module, name, fake)


if __name__ == "__main__":
    _serve()
