"""Putting a backup in place of the library: unpacked and checked beside it, then swapped."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from kb.app.backup.checking import contents_of
from kb.app.backup.making import require_room
from kb.app.backup.manifest import OTHER_BACKUP
from kb.app.backup.places import BackupPlaces
from kb.app.backup.ports import BackupReader, LibraryLook, ReadsBackup
from kb.domain.backups import CONFIG, LIBRARY, LibraryFacts, Manifest
from kb.domain.errors import InvalidInput, KebabError, Unreadable


class Swap(Protocol):
    """The data folder of a library that nobody has opened."""

    def swap(self, staged: Path, kept: str) -> str | None:
        """Put what was staged in place; return where the earlier library is kept."""

    def heal(self) -> bool:
        """Bring a swap that was cut off to its end."""


class NewerWork(InvalidInput):
    """A restore would put aside what no backup at hand has; a person has to agree."""


@dataclass(frozen=True, slots=True)
class RestoreParts:
    """What restoring works with; the lock of the library is held."""

    places: BackupPlaces
    reads: ReadsBackup
    look: LibraryLook
    swap: Swap
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put in place.

    Attributes:
        kept_as: where the earlier library is, below the data folder.
        config: the settings file of the backup.
    """

    file: Path
    facts: LibraryFacts
    kept_as: str | None
    config: str | None


def restore(
    parts: RestoreParts, file: Path, *, agreed: bool, heed: Callable[[int], object] = lambda _count: None
) -> Restored:
    """Put the library of a backup in place; what was there is kept beside it.

    Args:
        parts: what this works with.
        file: the backup.
        agreed: the person knows that what is here now will be put aside.
        heed: called for every piece; what it raises ends the work, and the library stays as it is.

    Raises:
        NotFound: there is no such file.
        Unreadable: it is damaged, spoilt or no backup; nothing was touched.
        NewerWork: the library here is newer or another one, and `agreed` is false; nothing was touched.
        StorageFailed: the backup is of a newer program, or the disk refuses.
    """
    parts.swap.heal()
    data = parts.places.data_dir
    with parts.reads(file) as reader:
        manifest = contents_of(reader)
        if not agreed:
            require_agreement(parts.look, data / LIBRARY, manifest)
        require_room(data, manifest.size)
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=".restored-", dir=data))
        try:
            config = _unpack(reader, manifest, staged, heed)
            _check(parts.look, manifest, staged)
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
    kept = parts.swap.swap(staged, f"{parts.now():%Y%m%d-%H%M%S-%f}")
    return Restored(file, manifest.facts, kept, config)


def require_agreement(look: LibraryLook, file: Path, manifest: Manifest) -> None:
    """Stop when more would be put aside than an earlier state of the backup itself.

    Raises:
        NewerWork: the library here is another one, newer than the backup, or cannot be read.
    """
    if not file.exists() or not file.stat().st_size:
        return
    hint = "say `--yes` to go on: the library that is here now is moved aside and kept"
    try:
        library = look.facts(file)
    except KebabError as error:
        raise NewerWork("a library is here that this program cannot read", hint=hint) from error
    if library.counts.is_empty:
        return
    made = f"{manifest.created_at.astimezone():%Y-%m-%d %H:%M}"
    held = f"{library.counts.items:,} items and {library.counts.answers:,} answers"
    if library.library_id != manifest.facts.library_id:
        message = f"another library is here, with {held}; the backup is not of it"
        raise NewerWork(message, hint=hint)
    theirs = manifest.facts.changed_at
    if library.changed_at is not None and (theirs is None or library.changed_at > theirs):
        changed = f"{library.changed_at.astimezone():%Y-%m-%d %H:%M}"
        message = f"the library here is newer: changed {changed}, with {held}; the backup was made {made}"
        raise NewerWork(message, hint=hint)


def _unpack(reader: BackupReader, manifest: Manifest, staged: Path, heed: Callable[[int], object]) -> str | None:
    """Write all members below a folder, the settings aside, which are returned."""
    for member in manifest.members:
        reader.copy(member, staged / member.name, heed)
    config = staged / CONFIG
    if not config.exists():
        return None
    text = config.read_text(encoding="utf-8", errors="replace")
    config.unlink()
    return text


def _check(look: LibraryLook, manifest: Manifest, staged: Path) -> None:
    """Bring the unpacked library up to this program, and hold it to all rules.

    Raises:
        Unreadable: it is not the one the manifest tells of, or not whole.
    """
    problem = "it holds another library than it says"
    if look.facts(staged / LIBRARY) == manifest.facts:
        problem = next(iter(look.brought_up(staged).problems), "")
    if problem:
        raise Unreadable(f"the backup cannot be used: {problem}", hint=OTHER_BACKUP, reason="damaged")
