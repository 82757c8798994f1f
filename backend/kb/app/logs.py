"""The log: a file a day, two weeks of them, without anything a person wrote."""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import TimedRotatingFileHandler
from pathlib import Path

from kb.domain.errors import KebabError

_KEPT_DAYS = 14
_IDS = ("trace_id", "doc_id", "chunk_id")
_log = logging.getLogger(__name__)


@contextmanager
def logging_to(folder: Path, owner: str) -> Iterator[None]:
    """Write what `kb` logs into `folder` while the context lasts; one that cannot be written costs only the log."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handler = _PrivateFile(folder / "kb.log")
    except OSError:
        yield
        return
    ours = logging.getLogger("kb")
    before = ours.level
    ours.addHandler(handler)
    if ours.getEffectiveLevel() > logging.INFO:
        ours.setLevel(logging.INFO)
    try:
        _log.info("%s has the library", owner)
        yield
    except (KebabError, BrokenPipeError):
        # Told to the person, or nobody is left to be told.
        raise
    except Exception:
        _log.exception("%s ended with an error nobody foresaw", owner)
        raise
    finally:
        ours.removeHandler(handler)
        ours.setLevel(before)
        handler.close()


class LogFormatter(logging.Formatter):
    """Lines with the ids that are known, and tracebacks without paths of the disk, source lines or values."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, ids from its `extra` at the end."""
        text = super().format(record)
        ids = "".join(f" {name}={value}" for name in _IDS if (value := getattr(record, name, None)))
        first, newline, rest = text.partition("\n")
        return f"{first}{ids}{newline}{rest}"

    def formatException(self, ei: object) -> str:  # noqa: N802 - the name of the base class
        """Return the types and places of an exception and its causes; only our own messages, which hold no content."""
        error = ei[1] if isinstance(ei, tuple) else None
        lines = []
        seen: set[int] = set()
        while isinstance(error, BaseException) and id(error) not in seen:
            seen.add(id(error))
            message = f": {error.message}" if isinstance(error, KebabError) else ""
            lines.append(f"{type(error).__name__}{message}")
            frames = traceback.extract_tb(error.__traceback__)
            lines += [f"  {_place(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]
            error = error.__cause__ or error.__context__
        return "\n".join(lines)


class _PrivateFile(TimedRotatingFileHandler):
    def __init__(self, file: Path) -> None:
        super().__init__(file, when="midnight", backupCount=_KEPT_DAYS, encoding="utf-8")
        self.setFormatter(LogFormatter())

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name of the base class
        """Lose the record: a disk that is full must not cost a person a traceback on the terminal as well."""

    def _open(self):  # type: ignore[no-untyped-def] # noqa: ANN202 - as the base class has it
        stream = super()._open()
        if os.name == "posix":
            os.fchmod(stream.fileno(), 0o600)
        return stream


def _place(file: str) -> str:
    """Return a module's file without where it is installed."""
    parts = Path(file).parts
    for top in ("kb", "site-packages"):
        if top in parts:
            at = len(parts) - 1 - parts[::-1].index(top)
            return "/".join(parts[at + (top == "site-packages") :])
    return Path(file).name
