"""How a command reaches the library: through a running server, or by opening it here."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from kb.app.assembly import facade_of
from kb.app.config_file import Configuration, load_configuration
from kb.app.facade.events import Events
from kb.app.logs import logging_to
from kb.app.quiet import keep_libraries_quiet
from kb.domain.errors import KebabError, NotFound
from kb.domain.failures import Busy

if TYPE_CHECKING:
    from kb.contract.facade import Facade
    from kb.contract.system import Doctor

_WAIT_S = 10.0
_LOOK_AGAIN_S = 0.5
_REPAIR_S = 60.0
_REMOVALS = 2_000
"""Files that an opening removes; more would keep a command waiting, and the next ingest removes them."""
_SERVER_FILE = "server.json"
_SERVER_ATTEMPTS = 5


@contextmanager
def open_library(
    configuration: Configuration,
    *,
    owner: str,
    creates: bool = False,
    on_wait: Callable[[str], object] = lambda _text: None,
) -> Iterator[Facade]:
    """Give the facade of a running server of this library, else of the library opened here.

    Args:
        configuration: says which library.
        owner: the command, as others see it while it holds the library.
        creates: a library that is not there yet is made.
        on_wait: told in a sentence when another command has to end first.

    Raises:
        NotFound: there is no library yet, and none is to be made.
        Busy: another command holds the library for longer than ten seconds.
        StorageFailed: the library cannot be opened.
    """
    with ExitStack() as stack:
        facade = _running_server(configuration, stack)
        if facade is None and not creates and not _has_library(configuration):
            raise NotFound("there is no library yet", hint="run `kb init` first")
        deadline = time.monotonic() + _WAIT_S
        told = False
        while facade is None:
            try:
                facade = stack.enter_context(open_own_library(configuration, owner=owner, wait_s=_LOOK_AGAIN_S))
            except Busy as error:
                if time.monotonic() >= deadline:
                    raise
                if not told:
                    on_wait(f"waiting: {error.message}")
                    told = True
                # The holder may be a server that has just become ready.
                facade = _running_server(configuration, stack)
        yield facade


@contextmanager
def open_own_library(
    configuration: Configuration, *, owner: str, serving: bool = False, wait_s: float = 0.0
) -> Iterator[Facade]:
    """Take the lock, open the library here, give its facade, close everything.

    Raises:
        Busy: another process holds the library.
        StorageFailed: the library cannot be opened.
    """
    keep_libraries_quiet()
    from kb.app.bootstrap import Parts, library_lock
    from kb.app.bootstrap.backup import library_swap
    from kb.app.bootstrap.watching import following_of
    from kb.app.health.healing import Healing
    from kb.app.health.projections import index_checks
    from kb.app.work import JobDesk

    with ExitStack() as stack:
        # The libraries below write files of their own, and what they hold is as private as the rest.
        stack.callback(os.umask, os.umask(0o077))
        stack.enter_context(library_lock(configuration, owner, wait_s))
        # Only who holds the library writes the log: two processes could not roll one file.
        stack.enter_context(logging_to(configuration.locations.log_dir, owner))
        library_swap(configuration).heal()
        parts = Parts(configuration)
        stack.callback(parts.close)
        with suppress(KebabError):  # whatever it is, doctor says it
            # Before any job runs: whoever writes a copy must not meet its removal.
            parts.work_off_removals(_REMOVALS)
        events = Events()
        desk = JobDesk(parts, events, most_attempts=_SERVER_ATTEMPTS if serving else 1)
        stack.callback(desk.close)
        healing = Healing(lambda: list(index_checks(parts)), desk, parts.job_control)
        # A command waits for what it started; a server goes on with it at the next start.
        stack.callback(healing.close, 0.0 if serving else _REPAIR_S)
        parts.damage_noticed = healing.notice
        following = None
        if serving:
            stack.callback(_server_file(configuration).unlink, missing_ok=True)
            desk.begin()
            following = following_of(parts, desk)
            threading.Thread(target=parts.warm, name="warm", daemon=True).start()
            healing.notice()
        if following is not None:
            stack.callback(following.stop)
            following.begin()
        yield cast("Facade", facade_of(parts, desk, events, following))


def announce(configuration: Configuration, url: str, token: str) -> None:
    """Leave word where the server is; only the owner may read it."""
    file = _server_file(configuration)
    temporary = file.with_name(file.name + ".new")
    # One that is left from a crash could be readable for others.
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
        json.dump({"url": url, "token": token}, out)
    os.replace(temporary, file)  # noqa: PTH105 - atomic, overwrites


def examine(*, fix: bool = False, deep: bool = False) -> Doctor:
    """Check everything, even when the configuration or the library cannot be opened; mend as `DoctorRequest` says."""
    from kb.app.health.surroundings import failed, report_of, surrounding_checks
    from kb.contract.system import DoctorRequest

    try:
        configuration = load_configuration()
    except KebabError as error:
        return report_of([failed("config_loaded", error.message, error.hint)])
    try:
        with open_library(configuration, owner="kb doctor") as facade:
            return facade.system.doctor(DoctorRequest(fix=fix, deep=deep))
    except KebabError as error:
        return report_of([*surrounding_checks(configuration), failed("sqlite_open", error.message, error.hint)])


def _has_library(configuration: Configuration) -> bool:
    """Return whether there is a library, or one that a restore has not yet put in its place."""
    return any((configuration.data_dir / name).exists() for name in ("kb.sqlite", "restore.json"))


def _server_file(configuration: Configuration) -> Path:
    return configuration.data_dir / _SERVER_FILE


def _running_server(configuration: Configuration, stack: ExitStack) -> Facade | None:
    """Return the facade of the server that announced itself, if it still answers and knows us; `stack` closes it."""
    try:
        known = json.loads(_server_file(configuration).read_bytes())
        url, token = str(known["url"]), str(known["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    from kb.app.remote import RemoteFacade
    from kb.contract.base import Empty

    remote = RemoteFacade(url, token)
    try:
        # With the token: another server may have got the port of one that was killed.
        remote.system.health(Empty())
    except KebabError:
        remote.close()
        return None
    stack.callback(remote.close)
    return cast("Facade", remote)
