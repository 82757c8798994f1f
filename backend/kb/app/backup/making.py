"""Writing a backup of a library in use: a snapshot first, then the files that very snapshot refers to."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import kb
from kb.app.backup.manifest import manifest_bytes
from kb.app.backup.places import BackupPlaces, working_folder
from kb.app.backup.ports import ArtifactFiles, BackupWriter, LibraryLook, Snapshots, WritesBackup
from kb.domain.backups import CONFIG, LIBRARY, BackupMember, KeptFile, Manifest, is_member
from kb.domain.errors import InvalidInput
from kb.domain.failures import Cancelled, StorageFailed
from kb.domain.jobs import Progress
from kb.domain.recipes import DocumentId

_SPARE_BYTES = 64 << 20
_GIB = 1 << 30
_REPORT_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class BackupParts:
    """What making a backup works with; `holding` keeps files of the data folder from being removed meanwhile."""

    places: BackupPlaces
    snapshots: Snapshots
    look: LibraryLook
    artifacts: ArtifactFiles
    writes: WritesBackup
    holding: Callable[[], AbstractContextManager[object]]
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was written."""

    file: Path
    size: int
    manifest: Manifest


def make_backup(
    parts: BackupParts,
    target: Path,
    *,
    originals: bool,
    report: Callable[[Progress], object],
    should_stop: Callable[[], bool],
    rest: Callable[[], object] = lambda: None,
) -> Made:
    """Write everything a library is into one new file.

    Args:
        parts: what this works with.
        target: where, a file that does not exist.
        originals: whether the kept copies of files go in.
        report: told how far it is.
        should_stop: asked often.
        rest: called often once the moment of the backup is fixed; others may write meanwhile.

    Raises:
        InvalidInput: the file exists, or lies where none may.
        Cancelled: it was asked to stop; nothing is left of it.
        StorageFailed: there is no room, or something cannot be read or written.
    """
    parts.places.require_writable(target)
    data = parts.places.data_dir
    with parts.holding(), working_folder(data) as folder:
        snapshot = folder / LIBRARY
        report(Progress("copying the library"))
        require_room(folder, _size(data / LIBRARY) + _size(data / f"{LIBRARY}-wal"))
        created = parts.now()
        parts.snapshots.take(snapshot, should_stop)
        facts = parts.look.facts(snapshot)
        wanted = [*_wanted(parts, snapshot, originals=originals)]
        total = _size(snapshot) + sum(_size(data / file.name) for file in wanted)
        require_room(target.parent, total)
        meter = _Meter(total, report, should_stop, rest)
        with parts.writes(target, meter) as writer:
            members = [writer.add(LIBRARY, snapshot, packs=True)]
            members += _config(parts.places.config_file, writer)
            missing = _put(data, wanted, writer, members)
            manifest = Manifest(created, kb.__version__, facts, tuple(members), tuple(missing))
            size = writer.finish(manifest_bytes(manifest))
    return Made(target, size, manifest)


def _wanted(parts: BackupParts, snapshot: Path, *, originals: bool) -> Iterator[KeptFile]:
    if originals:
        yield from (file for file in parts.look.kept_files(snapshot) if is_member(file.name))
    documents = parts.look.documents(snapshot)
    for name in parts.artifacts.files(DocumentId(doc_id) for doc_id in sorted(documents)):
        if is_member(name):
            yield KeptFile(name, None, packs=False)


def _config(file: Path, writer: BackupWriter) -> list[BackupMember]:
    try:
        return [writer.add(CONFIG, file, packs=True)]
    except FileNotFoundError:
        return []


def _put(data: Path, wanted: list[KeptFile], writer: BackupWriter, members: list[BackupMember]) -> list[str]:
    """Copy files in; return those that are gone, or not what the library knows them to be."""
    missing = []
    for file in wanted:
        try:
            member = writer.add(file.name, data / file.name, packs=file.packs)
        except FileNotFoundError:
            missing.append(file.name)
            continue
        members.append(member)
        if file.checksum is not None and file.checksum != member.checksum:
            missing.append(file.name)
    return missing


class _Meter:
    """Tells how much is copied, and stops when asked to."""

    def __init__(
        self,
        total: int,
        report: Callable[[Progress], object],
        should_stop: Callable[[], bool],
        rest: Callable[[], object],
    ) -> None:
        self._total = max(total, 1)
        self._report = report
        self._should_stop = should_stop
        self._rest = rest
        self._done = 0
        self._told = 0

    def __call__(self, count: int) -> None:
        self._rest()
        if self._should_stop():
            raise Cancelled("stopped; no backup was made")
        self._done += count
        if self._done - self._told >= _REPORT_BYTES:
            self._told = self._done
            done, total = self._done >> 20, self._total >> 20
            self._report(Progress("writing the backup", done, total, min(99, 100 * self._done // self._total), "MB"))


def _size(file: Path) -> int:
    try:
        return os.stat(file).st_size  # noqa: PTH116 - one call a file, of which there may be many
    except OSError:
        return 0


def require_room(folder: Path, size: int) -> None:
    """Stop before work that a full disk would end.

    Raises:
        InvalidInput: the folder cannot be used.
        StorageFailed: the disk of a folder has less room than `size` bytes and some to spare.
    """
    there = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
    try:
        free = shutil.disk_usage(there).free
    except OSError as error:
        raise InvalidInput("the folder for the backup cannot be used", hint="choose another folder") from error
    if free < size + _SPARE_BYTES:
        raise StorageFailed(
            f"the disk has {free / _GIB:.1f} GB free, and {(size + _SPARE_BYTES) / _GIB:.1f} GB are needed",
            hint="free some space, or write the backup to another disk",
        )
