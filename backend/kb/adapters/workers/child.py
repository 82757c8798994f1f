"""The child's side: takes one file at a time, reads it, sends the document back; ends with its parent."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from kb.adapters.workers.codec import encode_document
from kb.adapters.workers.confinement import confine, give_back_memory
from kb.adapters.workers.frames import LONGEST_REPLY, LONGEST_REQUEST, Facts, Frame, read_frame, write_frame
from kb.domain.errors import KebabError, Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.ingest.reading_ports import FormatParser, SourceFile

_GRACE_SECONDS = 2.0
_BETWEEN_NEWS = 0.1
_LATE_SECONDS = 30.0
"""How much later than its parent would a child end itself when it stands still: the parent may be gone."""
_LONG_SECONDS = 1.0
_LONGEST_MESSAGE = 300
_NOWHERE = 2
"""The stream for errors, which leads nowhere here."""

MakeParsers = Callable[[Sequence[Path]], Sequence[FormatParser]]
"""Takes the folders in which models may lie, and returns the parsers."""


def serve(make_parsers: MakeParsers) -> None:
    """Answer frames until stdin closes."""
    requests, answers = _own_streams()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then stops us
    hello = read_frame(requests, LONGEST_REQUEST)
    if hello is None:
        return
    limits = ReadingLimits(**_mapping(hello.facts["limits"]))
    confine(limits.memory_mb, int(str(hello.facts["parent"])))
    asked: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, asked), daemon=True).start()
    parsers = make_parsers([Path(str(place)) for place in _list(hello.facts["models"])])
    child = _Child(parsers, limits, answers)
    with contextlib.suppress(OSError):
        write_frame(answers, {"end": "ready"})
        while (frame := asked.get()) is not None:
            child.answer(frame)
            # Before the next request is waited for: its bytes may be many.
            del frame
            give_back_memory()


class _Child:
    """Reads files with its parsers and tells how far it is."""

    def __init__(self, parsers: Sequence[FormatParser], limits: ReadingLimits, answers: BinaryIO) -> None:
        self._parsers = {media_type: parser for parser in parsers for media_type in parser.media_types}
        self._limits = limits
        self._answers = answers
        self._told = 0.0
        self._writing = threading.Lock()

    def answer(self, frame: Frame) -> None:
        """Read one file and send what came of it.

        Raises:
            OSError: the parent is gone.
        """
        started = time.monotonic()
        self._alive()
        facts, tail = self._outcome(frame)
        faulthandler.cancel_dump_traceback_later()
        if time.monotonic() - started > _LONG_SECONDS:
            gc.collect()
        with self._writing:
            write_frame(self._answers, facts, tail)

    def _outcome(self, frame: Frame) -> tuple[Facts, list[bytes]]:
        try:
            source = _source(frame)
            parts = encode_document(self._parsers[source.media_type].read(source, self._limits, self._tell))
        except BaseException as error:  # noqa: BLE001 - whatever a parser raises, even an exit, costs this file only
            return _failed(error), []
        if sum(map(len, parts)) > LONGEST_REPLY:
            large = Unreadable(
                "more comes of it than can be kept", hint="split it into smaller files", reason="too_big"
            )
            return _failed(large), []
        return {"end": "document"}, parts

    def _tell(self, done: int, total: int, unit: str) -> None:
        now = time.monotonic()
        with self._writing:
            if now - self._told < _BETWEEN_NEWS:
                return
            self._told = now
            self._alive()
            write_frame(self._answers, {"end": "", "done": int(done), "total": int(total), "unit": str(unit)})

    def _alive(self) -> None:
        # A thread that needs no leave of the interpreter: it ends us even where a library never comes back.
        faulthandler.dump_traceback_later(self._limits.seconds + _LATE_SECONDS, exit=True, file=_NOWHERE)


def _source(frame: Frame) -> SourceFile:
    facts = frame.facts
    return SourceFile(
        WorkspacePath(str(facts["path"])),
        MediaType(str(facts["media_type"])),
        frame.tail,
        str(facts["checksum"]),
        _text_or_none(facts["disk_path"]),
        _text_or_none(facts["password"]),
        _text_or_none(facts["scratch"]),
    )


def _failed(error: BaseException) -> Facts:
    if isinstance(error, KebabError):
        message, hint = (words.partition("\n")[0][:_LONGEST_MESSAGE] for words in (error.message, error.hint))
        reason = error.reason if isinstance(error, Unreadable) else "crashed"
        return {"end": "unreadable", "reason": reason, "message": message, "hint": hint}
    if isinstance(error, MemoryError):
        return {"end": "memory"}
    if isinstance(error, RecursionError):
        fact, remedy = "it is nested deeper than can be followed", "it may be damaged, or made to do harm"
        return {"end": "unreadable", "reason": "nested_too_deep", "message": fact, "hint": remedy}
    # Its kind only: the words of an error may be words of the file.
    return {"end": "broke", "error": type(error).__name__}


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes for frames alone: libraries that print or ask write to, and read from, nothing."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.close(nowhere)
    return requests, answers


def _listen(requests: BinaryIO, asked: queue.SimpleQueue[Frame | None]) -> None:
    while (frame := read_frame(requests, LONGEST_REQUEST)) is not None:
        asked.put(frame)
        del frame
    asked.put(None)
    # The parent is gone or wants an end; work that hangs must not outlive it.
    time.sleep(_GRACE_SECONDS)
    os._exit(1)


def _text_or_none(value: Any) -> str | None:  # noqa: ANN401 - whatever JSON holds
    return None if value is None else str(value)


def _mapping(value: Any) -> dict[str, Any]:  # noqa: ANN401
    return dict(value)


def _list(value: Any) -> list[Any]:  # noqa: ANN401
    return list(value)
