"""Checking a backup: every byte against its hash, and the library in it against all its rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kb.app.backup.manifest import OTHER_BACKUP, manifest_of
from kb.app.backup.places import working_folder
from kb.app.backup.ports import BackupReader, LibraryLook, ReadsBackup
from kb.domain.backups import LIBRARY, BackupMember, Manifest
from kb.domain.errors import KebabError, Unreadable


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `hint` says what to do."""

    name: str
    ok: bool
    detail: str
    hint: str | None = None


def contents_of(reader: BackupReader) -> Manifest:
    """Return the manifest of an opened backup that names exactly what is in it.

    Raises:
        Unreadable: it does not, or is damaged.
    """
    manifest = manifest_of(reader.manifest())
    named = {member.name for member in manifest.members}
    if named != reader.names or LIBRARY not in named:
        raise Unreadable(
            "the backup cannot be used: it does not hold what its list of contents says",
            hint=OTHER_BACKUP,
            reason="damaged",
        )
    return manifest


def library_of(manifest: Manifest) -> BackupMember:
    """Return the library file among the members."""
    return next(member for member in manifest.members if member.name == LIBRARY)


def check_backup(file: Path, reads: ReadsBackup, look: LibraryLook, data_dir: Path) -> list[Finding]:
    """Return what was looked at in a backup; the library in it is unpacked and opened, nothing else is written.

    Raises:
        NotFound: there is no such file.
    """
    found: list[Finding] = []
    try:
        with reads(file) as reader, working_folder(data_dir) as folder:
            found += _checks(reader, look, folder)
    except Unreadable as error:
        found.append(Finding("archive", ok=False, detail=error.message, hint=error.hint))
    return found


def _checks(reader: BackupReader, look: LibraryLook, folder: Path) -> Iterator[Finding]:
    manifest = contents_of(reader)
    made = f"made {manifest.created_at.astimezone():%Y-%m-%d %H:%M} by Kebab {manifest.version}"
    yield Finding("archive", ok=True, detail=made)
    yield _guarded("library", lambda: _library(reader, manifest, look, folder))
    rest = [member for member in manifest.members if member.name != LIBRARY]
    for name, prefix in (("originals", "assets/"), ("artifacts", "artifacts/"), ("config", "config")):
        part = [member for member in rest if member.name.startswith(prefix)]
        if part or name == "originals":
            yield _guarded(name, lambda part=part: _files(reader, part, manifest))  # type: ignore[misc]


def _guarded(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        found = check()
    except KebabError as error:
        return Finding(name, ok=False, detail=error.message, hint=error.hint)
    return Finding(name, found.ok, found.detail, found.hint)


def _library(reader: BackupReader, manifest: Manifest, look: LibraryLook, folder: Path) -> Finding:
    reader.copy(library_of(manifest), folder / LIBRARY, lambda _count: None)
    facts = look.facts(folder / LIBRARY)
    if facts != manifest.facts:
        return Finding("library", ok=False, detail="it is another library than its list of contents says")
    report = look.brought_up(folder)
    if report.problems:
        return Finding("library", ok=False, detail=report.problems[0], hint=OTHER_BACKUP)
    counts = facts.counts
    detail = f"schema v{facts.schema}, {counts.items:,} items, {counts.passages:,} passages, {counts.answers:,} answers"
    return Finding("library", ok=True, detail=detail)


def _files(reader: BackupReader, part: list[BackupMember], manifest: Manifest) -> Finding:
    for member in part:
        reader.copy(member, None, lambda _count: None)
    size = sum(member.size for member in part)
    prefix = part[0].name.partition("/")[0] if part else "assets"
    gone = sum(name.startswith(prefix) for name in manifest.missing)
    detail = f"{len(part):,} {'file' if len(part) == 1 else 'files'}, {size / 1e6:,.1f} MB, all as written"
    if gone:
        detail += f"; {gone:,} were missing or damaged when the backup was made"
    return Finding("", ok=True, detail=detail)
