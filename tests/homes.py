"""A home and a workspace of their own for the real command `kb`, run as a person runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "assets" / "sample"
MODELS = Path(sys.prefix) / "share" / "kb" / "models"
EMBEDDER = MODELS / "multilingual-e5-small"

needs_embedder = pytest.mark.skipif(not EMBEDDER.is_dir(), reason="the embedding model is made by `dev.py setup`")


@dataclass(frozen=True)
class Ran:
    """What one command did."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Home:
    """Keyword search alone unless told otherwise: most tests are about something else than vectors."""

    folder: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def workspace(self) -> Path:
        return self.folder / "KnowledgeBase"

    @property
    def data(self) -> Path:
        return self.folder / "home" / "data"

    @property
    def config_file(self) -> Path:
        return self.folder / "home" / "config" / "config.toml"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KB_")}
        mine = {
            "KB_HOME": str(self.folder / "home"),
            "KB_WORKSPACE_ROOT": str(self.workspace),
            "KB_SEARCH_VECTOR_ENGINE": "scan",
            "KB_MODELS_EMBEDDING_PROVIDER": "none",
            # A server would else read by itself what a test puts there.
            "KB_INDEXING_WATCH_FILESYSTEM": "false",
            "PYTHONPATH": str(ROOT / "backend"),
            "PYTHONUTF8": "1",
            "COLUMNS": "80",
        }
        return {**kept, **mine, **self.extra}

    def put(self, path: str, text: str | bytes) -> Path:
        """Write a file of the workspace."""
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def kb(self, *arguments: str, before: Sequence[str] = (), cwd: Path | None = None, **extra: str) -> Ran:
        """Run `kb` in a pipe and wait; `before` is a program that starts it, `extra` more variables."""
        done = subprocess.run(
            [*before, *command(*arguments)],
            env={**self.environment, **extra},
            cwd=cwd or self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=150,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def ok(self, *arguments: str) -> str:
        """Run `kb`, which must exit 0; return what it printed."""
        ran = self.kb(*arguments)
        assert ran.code == 0, (arguments, ran)
        return ran.out

    @contextmanager
    def serving(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run `kb serve` until the end; its ready line has been read."""
        server = subprocess.Popen(
            command("serve", "--json"), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            assert server.stdout is not None
            assert server.stdout.readline().startswith(b'{"schema_version":"server.v1"')
            yield server
        finally:
            server.terminate()
            try:
                server.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.communicate()
                raise

    def copied_to(self, folder: Path) -> Home:
        """Return a copy of everything, to be spoilt."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Home(folder, self.extra)


def command(*arguments: str) -> list[str]:
    """Return the command line of `kb` from this checkout."""
    return [sys.executable, "-m", "kb.cli.main", *arguments]


def sample_home(folder: Path) -> Home:
    """Return a home whose workspace is the sample, read with vectors."""
    home = Home(folder, {"KB_MODELS_EMBEDDING_PROVIDER": "fastembed"})
    shutil.copytree(SAMPLE, home.workspace, ignore=shutil.ignore_patterns("questions.toml"))
    home.ok("init")
    home.ok("ingest")
    return home


def sample_questions() -> list[dict[str, str]]:
    """Return the questions of the sample, with their language, answer and path."""
    questions = tomllib.loads((SAMPLE / "questions.toml").read_text(encoding="utf-8"))["question"]
    return list(questions)
