"""What a child gives up before it looks at the first file: the network, other programs, most memory, its place."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

_NICENESS = 10
_MEGABYTE = 1 << 20
_LARGEST_FILE = 4 << 30
_ROOM = 512 * _MEGABYTE
"""Data reserved but not resident (stacks of threads, arenas), and what is taken between two looks of the parent.

Measured with the engines for pictures, speech and PDF: data stay within 60 MB of resident memory.
"""
_NEW_USER, _NEW_NET = 0x1000_0000, 0x4000_0000
_DEATH_SIGNAL = 1

_REFUSED = frozenset(
    {
        "socket.bind",
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostbyaddr",
        "socket.gethostbyname",
        "socket.getnameinfo",
        "socket.sendmsg",
        "socket.sendto",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.system",
        "pty.spawn",
        "subprocess.Popen",
    }
)
"""Audit events (PEP 578) of reaching out and of starting programs."""


def confine(memory_mb: int, parent: int) -> None:
    """Give up everything that reading a file does not take; to be called before the first thread is started.

    Args:
        memory_mb: resident memory that the parent allows; on Linux the system itself stops far more than that.
        parent: its process id; on Linux the child ends with it.
    """
    _end_with(parent)
    os.umask(0o077)
    _limit(memory_mb)
    _leave_network()
    sys.addaudithook(_refuse)


def give_back_memory() -> None:
    """Return freed memory to the system, so that one large file does not count against the next (glibc only)."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    del arguments
    if event in _REFUSED:
        raise PermissionError("a program that reads files neither reaches out nor starts others")


def _end_with(parent: int) -> None:
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # it died before we asked to be told


def _limit(memory_mb: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: _LARGEST_FILE}
    if sys.platform == "linux":
        # Not the address space, of which engines reserve far more than they use. macOS does not keep either limit.
        limits[resource.RLIMIT_DATA] = memory_mb * _MEGABYTE + _ROOM
    for kind, most in limits.items():
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, most))


def _leave_network() -> None:
    """Move into a network of our own that has no way out, where the system lets an ordinary process do so."""
    if sys.platform != "linux":
        return
    system = ctypes.CDLL(None, use_errno=True)
    if system.unshare(_NEW_NET) == 0:
        return
    user, group = os.getuid(), os.getgid()
    if system.unshare(_NEW_USER | _NEW_NET) != 0:
        return
    # The same person as before, in the new realm too: else the system calls us nobody.
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with contextlib.suppress(OSError):
            Path("/proc/self", name).write_text(line, encoding="ascii")
