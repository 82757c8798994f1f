"""Opus renditions of recordings, made once in a child process and kept in the cache."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kb.domain.errors import Unreadable
from kb.domain.failures import StorageFailed

_SECONDS = 600.0
_KEPT_BYTES = 4 << 30
_HEX = frozenset("0123456789abcdef")
_HINT = "play the original in another program"


def rendition_command(source: Path, target: Path) -> Sequence[str]:
    """Return what makes the rendition `target` of a recording."""
    return [sys.executable, "-m", "kb.app.rendition_child", str(source), str(target)]


def _is_there(target: Path) -> bool:
    """Say whether a rendition is kept, and that it was asked for now."""
    try:
        os.utime(target)
    except FileNotFoundError:
        return False
    return True


class CachedRenditions:
    """`renditions/<checksum>.opus` below the cache folder; the oldest go when there are more than 4 GB.

    Args:
        folder: made when missing.
        environment: the child's, asked for when it is started.
        command: starts the child.
        seconds: how long it may take.
    """

    def __init__(
        self,
        folder: Path,
        environment: Callable[[], Mapping[str, str]],
        *,
        command: Callable[[Path, Path], Sequence[str]] = rendition_command,
        seconds: float = _SECONDS,
        kept_bytes: int = _KEPT_BYTES,
    ) -> None:
        self._folder = folder
        self._environment = environment
        self._command = command
        self._seconds = seconds
        self._kept_bytes = kept_bytes
        # One at a time: the same recording is asked for again while its rendition is being made, and cores are few.
        self._making = threading.Lock()

    def __call__(self, source: Path, checksum: str) -> Path:
        """Return the rendition of a recording.

        Raises:
            Unreadable: it has no sound that can be decoded, or it takes too long.
            StorageFailed: the cache cannot be written.
        """
        if not checksum or not _HEX.issuperset(checksum):
            raise Unreadable("the recording has no checksum yet", hint="run `kb ingest`", reason="not_read_yet")
        target = self._folder / f"{checksum}.opus"
        try:
            # What is there already does not wait for one that is being made.
            if not _is_there(target):
                with self._making:
                    if not _is_there(target):
                        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                        self._make(source, target)
                        self._prune(target)
        except OSError as error:
            hint = "check the disk and the cache folder"
            raise StorageFailed(f"the rendition could not be kept ({error.strerror})", hint=hint) from error
        return target.resolve()

    def _make(self, source: Path, target: Path) -> None:
        new = target.with_suffix(".new.opus")
        try:
            new.unlink(missing_ok=True)
            try:
                done = subprocess.run(
                    self._command(source, new),
                    check=False,
                    capture_output=True,
                    stdin=subprocess.DEVNULL,
                    timeout=self._seconds,
                    env=self._environment(),
                    cwd=self._folder,
                )
            except subprocess.TimeoutExpired as error:
                raise Unreadable("making a rendition took too long", hint=_HINT, reason="too_slow") from error
            if done.returncode or not new.is_file() or not new.stat().st_size:
                raise Unreadable("no rendition can be made of this recording", hint=_HINT, reason="damaged")
            new.chmod(0o600)
            new.replace(target)
        finally:
            new.unlink(missing_ok=True)

    def _prune(self, newest: Path) -> None:
        """Remove the renditions that were not asked for longest."""
        found = [(path.stat(), path) for path in self._folder.glob("*.opus") if path != newest]
        size = newest.stat().st_size
        for stat, path in sorted(found, key=lambda pair: pair[0].st_mtime, reverse=True):
            size += stat.st_size
            if size > self._kept_bytes:
                with contextlib.suppress(OSError):
                    path.unlink()
