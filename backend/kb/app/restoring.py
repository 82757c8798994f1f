"""Backups without a library: looked at, and put back with the settings that came with them."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from kb.app.config_file import Configuration, load_configuration
from kb.app.settings import Settings
from kb.app.wire.backup import counts_to_wire
from kb.app.workspace_setup import config_text
from kb.contract.backup import BackupRequest, Backups, BackupVerify, RestoreReport
from kb.contract.base import Empty
from kb.domain.errors import InvalidInput, InvalidSettings, NotFound
from kb.domain.failures import StorageFailed

_ROOT = re.compile(r"(?m)^[ \t]*root[ \t]*=.*$")
_SECTION = re.compile(r"(?m)^[ \t]*\[workspace\][ \t]*(?:#.*)?$")
_NEXT = re.compile(r"(?m)^[ \t]*\[")


class LooksAtBackups(Protocol):
    """The part of the group `backup` that needs no library."""

    def list(self, request: Empty) -> Backups:
        """Return the backups in the library's own folder."""

    def verify(self, request: BackupRequest) -> BackupVerify:
        """Check that everything in a backup is whole."""


def restore_library(
    configuration: Configuration,
    file: str,
    *,
    agreed: bool,
    workspace: Path | None = None,
    heed: Callable[[int], object] = lambda _count: None,
    on_step: Callable[[str], object] = lambda _step: None,
) -> RestoreReport:
    """Put a backup in place of this configuration's library, which nobody may hold.

    Settings come from the backup only where this computer has none; its folders are never taken over, but for a
    workspace that is here, too.

    Args:
        configuration: says which library.
        file: the backup, by its path, or by its name in the library's own folder.
        agreed: the person knows that what is here now will be put aside.
        workspace: where the files are on this computer; as the settings say when None.
        heed: called for every piece; what it raises ends the work, and the library stays as it is.
        on_step: told the name of each step of the swap before it is done.

    Returns:
        What was put in place; its indexes are not built yet.

    Raises:
        Busy: another process holds the library; the message names it.
        NewerWork: the library here is newer or another one, and `agreed` is false.
        KebabError: as `kb.app.backup.restoring.restore` says.
    """
    from kb.app.backup.restoring import restore
    from kb.app.bootstrap import library_lock, now
    from kb.app.bootstrap.backup import restore_parts

    started = now()
    if workspace is not None and not workspace.is_dir():
        raise InvalidInput("the folder given for the workspace does not exist", hint="make it, or give another one")
    before = os.umask(0o077)
    try:
        with library_lock(configuration, "kb backup restore", 0):
            parts = restore_parts(configuration, on_step)
            restored = restore(parts, parts.places.find(file), agreed=agreed, heed=heed)
            settle_configuration(configuration, restored.config, workspace)
    finally:
        os.umask(before)
    return RestoreReport(
        file=parts.places.shown(restored.file),
        library_id=restored.facts.library_id,
        counts=counts_to_wire(restored.facts.counts),
        kept_as=restored.kept_as,
        embedded=0,
        duration_ms=round((now() - started).total_seconds() * 1000),
    )


@contextmanager
def backups_of(
    configuration: Configuration, *, owner: str, on_wait: Callable[[str], object] = lambda _text: None
) -> Iterator[LooksAtBackups]:
    """Give what lists and checks backups: through the library, or without it where there is none that opens.

    Raises:
        Busy: another command holds the library for longer than ten seconds.
    """
    from kb.app.bootstrap import library_lock
    from kb.app.bootstrap.backup import backup_places, backup_shelf
    from kb.app.facade.backup import BackupLook
    from kb.app.gateway import open_library

    with ExitStack() as stack:
        group: LooksAtBackups
        try:
            group = stack.enter_context(open_library(configuration, owner=owner, on_wait=on_wait)).backup
        except (NotFound, StorageFailed):
            stack.enter_context(library_lock(configuration, owner, 0))
            group = BackupLook(backup_shelf(backup_places(configuration)))
        yield group


def settle_configuration(configuration: Configuration, theirs: str | None, workspace: Path | None) -> None:
    """Write the settings file where there is none, and the workspace into it where one was given.

    Raises:
        StorageFailed: it cannot be written.
    """
    target = configuration.locations.config_file
    try:
        if not target.exists():
            settings = _settings_here(configuration, theirs)
            if settings is None and workspace is None:
                return
            text = config_text(settings or configuration.settings)
        elif workspace is None:
            return
        else:
            text = target.read_text(encoding="utf-8")
        if workspace is not None:
            text = with_root(text, workspace)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(target.name + ".new")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, target)  # noqa: PTH105 - atomic, overwrites
    except (OSError, UnicodeDecodeError) as error:
        raise StorageFailed(
            "the library is in place, but the settings file could not be written",
            hint="set workspace.root in it to the folder of your files",
        ) from error


def with_root(text: str, workspace: Path) -> str:
    """Return a settings file whose workspace is this one; everything else in it stays."""
    escaped = str(workspace.absolute()).replace("\\", "\\\\").replace('"', '\\"')
    line = f'root = "{escaped}"'
    section = _SECTION.search(text)
    if section is None:
        return f"{text.rstrip()}\n\n[workspace]\n{line}\n"
    end = _NEXT.search(text, section.end())
    until = end.start() if end else len(text)
    body = text[section.end() : until]
    changed = _ROOT.sub(lambda _match: line, body, count=1) if _ROOT.search(body) else f"\n{line}{body}"
    return text[: section.end()] + changed + text[until:]


def _settings_here(configuration: Configuration, theirs: str | None) -> Settings | None:
    """Return the settings of a backup as far as they hold on this computer; None when there are none."""
    if theirs is None:
        return None
    try:
        found = Settings.model_validate(tomllib.loads(theirs))
    except (tomllib.TOMLDecodeError, ValidationError):
        return None
    storage = found.storage.model_copy(update={"data_dir": configuration.settings.storage.data_dir})
    own = configuration.settings.workspace.root
    root = found.workspace.root if _is_here(found.workspace.root) else own
    return found.model_copy(update={"storage": storage, "workspace": found.workspace.model_copy(update={"root": root})})


def _is_here(root: str) -> bool:
    try:
        return load_configuration({**os.environ, "KB_WORKSPACE_ROOT": root}, tolerant=True).workspace.is_dir()
    except InvalidSettings:
        return False
