"""A child that reads the small format of `PagesParser` (PDF), and does harm when a text file says so (HTML).

`python tests/fakes/reader_child.py`, spoken to in frames as the real one.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "backend")]

from kb.adapters.workers.child import serve  # noqa: E402 - a script finds its modules itself
from kb.domain.blocks import BlockKind, Prose  # noqa: E402
from kb.domain.documents import ParsedBlock, ParsedDocument  # noqa: E402
from kb.domain.items import MediaType  # noqa: E402
from kb.domain.limits import ReadingLimits  # noqa: E402
from kb.domain.spans import PartSpan  # noqa: E402
from kb.ingest.reading_ports import FormatParser, SourceFile, Tell  # noqa: E402
from tests.fakes.reading import PagesParser  # noqa: E402

COMMAND = (sys.executable, __file__)
VERSIONS = {MediaType.PDF: "pages-v1", MediaType.HTML: "harm-v1"}


def said(words: str) -> ParsedDocument:
    """A document of one paragraph."""
    return ParsedDocument((ParsedBlock(BlockKind.PARAGRAPH, words, PartSpan("section", 1), (), Prose(), ()),))


class HarmfulParser:
    """Does what the first word of the file says; the others are its arguments, separated by spaces."""

    media_types = frozenset({MediaType.HTML})
    version = VERSIONS[MediaType.HTML]

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        deed, *arguments = source.data.decode().split(" ")
        return said(_DEEDS[deed](arguments, source, tell))


def _sleep(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Sleep for so many seconds; with a second number, telling progress every so many."""
    end = time.monotonic() + float(arguments[0])
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, float(arguments[1])) if len(arguments) > 1 else left)
        if len(arguments) > 1:
            tell(1, 2, "second")
    return "awake"


def _spin(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Hold the interpreter: no other thread of this process runs, as in a library that never comes back."""
    sys.setswitchinterval(1000)
    end = time.monotonic() + float(arguments[0])
    while time.monotonic() < end:
        pass
    return "done"


def _eat(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Take so many megabytes, a few at a time, and touch them; told, so that a busy machine is not taken for a halt."""
    eaten = []
    for number in range(int(arguments[0]) // 4):
        tell(number, int(arguments[0]) // 4, "page")
        eaten.append(b"x" * (4 << 20))
        time.sleep(0.004)
    return f"{len(eaten)}"


def _gulp(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Ask for so many megabytes at once."""
    return str(len(bytearray(int(arguments[0]) << 20)))


def _keep(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Keep so many megabytes after the file; with a second number, hold them so many seconds before it ends."""
    _KEPT.append(b"x" * (int(arguments[0]) << 20))
    time.sleep(float(arguments[1]) if len(arguments) > 1 else 0)
    return str(os.getpid())


def _print(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Write to stdout and stderr, as C libraries do, and ask stdin."""
    for stream in (1, 2):
        os.write(stream, b"\x00garbage" * 10_000)
    print("words of a library", flush=True)
    return f"stdin says {os.read(0, 10)!r}"


def _forge(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Write to every open stream what is no frame."""
    for stream in range(3, 20):
        try:
            os.write(stream, b"\xff" * 1000)
        except OSError:
            continue
    time.sleep(30)
    return "unheard"


def _crash(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    os.kill(os.getpid(), getattr(signal, arguments[0]))
    time.sleep(30)
    return "still here"


def _raise(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    kinds: Mapping[str, type[BaseException]] = {
        "ValueError": ValueError,
        "SystemExit": SystemExit,
        "KeyboardInterrupt": KeyboardInterrupt,
        "MemoryError": MemoryError,
        "RecursionError": RecursionError,
    }
    raise kinds[arguments[0]]("words of the file")


def _connect(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Try to reach a port of this computer; say how it ended."""
    try:
        socket.create_connection((arguments[0], int(arguments[1])), timeout=5).close()
    except OSError as error:
        return type(error).__name__
    return "connected"


def _resolve(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Try to look a name up."""
    try:
        socket.getaddrinfo(arguments[0], 80)
    except OSError as error:
        return type(error).__name__
    return "resolved"


def _raw(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Try to reach a port as a C library would, unseen by Python."""
    import ctypes
    import struct

    system = ctypes.CDLL(None, use_errno=True)
    address = struct.pack("<H", socket.AF_INET) + struct.pack(">H", int(arguments[1])) + socket.inet_aton(arguments[0])
    opened = system.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    reached = system.connect(opened, address + bytes(8), 16)
    system.close(opened)
    return "connected" if reached == 0 else os.strerror(ctypes.get_errno())


def _run(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Try to start a program."""
    try:
        subprocess.run([sys.executable, "-c", ""], check=False)
    except OSError as error:
        return type(error).__name__
    return "ran"


def _facts(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Say what the child's surroundings are."""
    name = arguments[0]
    if name == "umask":
        mask = os.umask(0)
        os.umask(mask)
        return f"{mask:o}"
    if name == "nice":
        return str(os.nice(0))
    if name == "core":
        import resource

        return str(resource.getrlimit(resource.RLIMIT_CORE)[0])
    if name == "pid":
        return str(os.getpid())
    return os.environ.get(name, "unset")


def _temporary(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Leave a file in the temporary folder and say where that is; with `die`, die after it was told."""
    import tempfile

    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(b"left behind")
    if arguments[:1] == ["die"]:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(30)
    return str(Path(file.name).parent)


def _resume(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Count the tries in the scratch folder; die at the first."""
    assert source.scratch is not None
    tries = Path(source.scratch, "tries")
    count = int(tries.read_text()) + 1 if tries.exists() else 1
    tries.write_text(str(count))
    if count == 1:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(30)
    return f"try {count}"


def _count(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Leave a dot in a file, then die."""
    with Path(arguments[0]).open("a", encoding="utf-8") as file:
        file.write(".")
    os._exit(3)


def _late(arguments: list[str], source: SourceFile, tell: Tell) -> str:
    """Say the second word after so many seconds."""
    time.sleep(float(arguments[0]))
    return arguments[1] if len(arguments) > 1 else str(os.getpid())


_KEPT: list[bytes] = []
_DEEDS: Mapping[str, Callable[[list[str], SourceFile, Tell], str]] = {
    "sleep": _sleep,
    "spin": _spin,
    "eat": _eat,
    "gulp": _gulp,
    "keep": _keep,
    "print": _print,
    "forge": _forge,
    "crash": _crash,
    "raise": _raise,
    "connect": _connect,
    "resolve": _resolve,
    "raw": _raw,
    "run": _run,
    "fact": _facts,
    "temporary": _temporary,
    "resume": _resume,
    "count": _count,
    "late": _late,
    "latepid": _late,
    "network": lambda arguments, source, tell: str(Path("/proc/self/ns/net").readlink()),
    "say": lambda arguments, source, tell: " ".join(arguments),
    "path": lambda arguments, source, tell: f"{source.path} {source.password} {source.disk_path}",
}


def parsers(model_places: Sequence[Path]) -> list[FormatParser]:
    """The parsers of this child."""
    return [PagesParser(), HarmfulParser()]


if __name__ == "__main__":
    threading.current_thread().name = "child"
    serve(parsers)
