"""One place at which files are read, one after the other, by a child that is replaced when it fails or grows."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from dataclasses import dataclass

from kb.adapters.workers.endings import TOO_MUCH_MEMORY, crashed, ending, not_started, too_much_memory, too_slow
from kb.adapters.workers.frames import Facts, Frame
from kb.adapters.workers.patience import Patience
from kb.adapters.workers.process import Child, ChildSetup
from kb.adapters.workers.reading import ChildReading
from kb.adapters.workers.scratch import Scratch
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.ingest.reading_ports import SourceFile

_MEGABYTE = 1 << 20
_NEARLY = 0.85
"""A child that dies with this share of the memory it may have was ended by its hunger."""
_TRIES = 2
_WELL = frozenset({"document", "unreadable"})


@dataclass(frozen=True, slots=True)
class ChildRules:
    """When a child comes and goes.

    Attributes:
        idle_seconds: a child without work ends after them.
        files: after so many a child is replaced.
        kept_share: of the memory a file may take; a child that holds more after a file is replaced.
        start_seconds: for starting.
        look_seconds: between looks at clock and memory.
    """

    idle_seconds: float = 30.0
    files: int = 500
    kept_share: float = 0.6
    start_seconds: float = 60.0
    look_seconds: float = 0.05


class Runner:
    """Takes readings from `following` until there are none; `run` is the body of a thread.

    Args:
        setup: how children are started.
        rules: when they come and go.
        scratch: where unfinished work is kept.
        following: waits up to some seconds for the next reading; None when none came.
        closing: whether to stop.
    """

    def __init__(
        self,
        setup: ChildSetup,
        rules: ChildRules,
        scratch: Scratch,
        following: Callable[[float], ChildReading | None],
        closing: Callable[[], bool],
    ) -> None:
        self._setup = setup
        self._limits = setup.limits
        self._rules = rules
        self._scratch = scratch
        self._following = following
        self._closing = closing
        self._child: Child | None = None

    def run(self) -> None:
        """Read until nothing follows for a while."""
        try:
            while (reading := self._following(self._rules.idle_seconds if self._child else 0.0)) is not None:
                try:
                    end = self._read(reading)
                except Exception:  # noqa: BLE001 - an error of ours costs one file too, never this place in the row
                    end = crashed()
                    self._dismiss()
                reading.finish(end)
                if reading.cancelled:
                    # The stop may have come after the child's last word: it dies any moment.
                    self._dismiss()
                # It may be large, and nothing may come for long.
                del reading, end
        finally:
            self._dismiss()

    def _read(self, reading: ChildReading) -> ParsedDocument | Unreadable:
        """Return what becomes of a file, whatever its child read before: memory may be the fault of earlier files."""
        child = self._ready_child()
        fresh = child is not None and not child.files
        end = self._attempt(reading, child)
        if not fresh and isinstance(end, Unreadable) and end.reason == TOO_MUCH_MEMORY:
            end = self._attempt(reading, self._ready_child())
        return end

    def _attempt(self, reading: ChildReading, child: Child | None) -> ParsedDocument | Unreadable:
        if child is None:
            return not_started()
        source = reading.begun(child)
        if source is None:
            return crashed()  # given up meanwhile: nobody sees this
        checksum, scratch = source.checksum, self._scratch.take(source.checksum)
        well = False
        try:
            child.send(_request(source, scratch), [source.data])
            del source
            end, well = self._watched(child, reading)
        finally:
            if scratch is not None:
                self._scratch.give_back(checksum, finished=well)
            if not well or self._has_grown(child):
                self._dismiss()
        return end

    def _watched(self, child: Child, reading: ChildReading) -> tuple[ParsedDocument | Unreadable, bool]:
        """Return what became of the file, and whether the child is as good as before."""
        patience = Patience(self._limits.seconds, self._limits.total_seconds, time.monotonic())
        most = self._limits.memory_mb * _MEGABYTE
        memory = 0
        while True:
            try:
                frame = child.heard.get(timeout=self._rules.look_seconds)
            except queue.Empty:
                pass
            else:
                if frame is None:
                    return (too_much_memory(self._limits) if memory > _NEARLY * most else crashed()), False
                if frame.facts.get("end") != "":
                    child.files += 1
                    return ending(frame, self._limits), frame.facts.get("end") in _WELL
                patience.encouraged()
                reading.told(*_progress(frame))
            memory = child.memory() or memory
            if memory > most:
                return too_much_memory(self._limits), False
            if exceeded := patience.verdict(time.monotonic()):
                return too_slow(exceeded, self._limits), False

    def _ready_child(self) -> Child | None:
        for _ in range(_TRIES):
            if self._child is not None and self._child.alive:
                return self._child
            self._dismiss()
            try:
                self._child = Child(self._setup)
            except OSError:
                continue
            if self._is_ready(self._child):
                return self._child
            self._dismiss()
        return None

    def _is_ready(self, child: Child) -> bool:
        patience = Patience(self._rules.start_seconds, self._rules.start_seconds, time.monotonic())
        while not self._closing() and not patience.verdict(time.monotonic()):
            try:
                frame = child.heard.get(timeout=self._rules.look_seconds)
            except queue.Empty:
                continue
            return frame is not None and frame.facts.get("end") == "ready"
        return False

    def _has_grown(self, child: Child) -> bool:
        held = self._rules.kept_share * self._limits.memory_mb * _MEGABYTE
        return child.files >= self._rules.files or child.memory() > held

    def _dismiss(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


def _request(source: SourceFile, scratch: str | None) -> Facts:
    return {
        "path": source.path,
        "media_type": source.media_type.value,
        "checksum": source.checksum,
        "disk_path": source.disk_path,
        "password": source.password,
        "scratch": scratch,
    }


def _progress(frame: Frame) -> tuple[int, int, str]:
    done, total, unit = (frame.facts.get(name) for name in ("done", "total", "unit"))
    if isinstance(done, int) and isinstance(total, int) and isinstance(unit, str):
        return done, total, unit
    return 0, 0, ""
