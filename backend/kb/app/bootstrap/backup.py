"""Backups: snapshot, library files and the archive put together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime

from kb.adapters.files.archive import ZipBackup, ZipBackupWriter
from kb.adapters.files.artifacts import FileArtifacts
from kb.adapters.files.placing import DataFolder
from kb.adapters.files.swap import LibrarySwap
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.merging import SqliteMerge
from kb.adapters.sqlite.snapshot import LibraryFiles, SqliteSnapshots
from kb.app.backup.making import BackupParts
from kb.app.backup.merging import MergeParts
from kb.app.backup.places import BackupPlaces
from kb.app.backup.restoring import RestoreParts
from kb.app.backup.shelf import BackupShelf
from kb.app.config_file import Configuration


def backup_places(configuration: Configuration) -> BackupPlaces:
    """Return the folders that matter to backups."""
    return BackupPlaces(configuration.data_dir, configuration.workspace, configuration.locations.config_file)


def backup_shelf(places: BackupPlaces) -> BackupShelf:
    """Return what lists and checks backups; it needs no library."""
    return BackupShelf(places, ZipBackup, LibraryFiles())


def backup_parts(
    configuration: Configuration,
    library: Library,
    artifacts: FileArtifacts,
    holding: Callable[[], AbstractContextManager[object]],
) -> BackupParts:
    """Return what writes backups of an opened library."""
    return BackupParts(
        places=backup_places(configuration),
        snapshots=SqliteSnapshots(library),
        look=LibraryFiles(),
        artifacts=artifacts,
        writes=ZipBackupWriter,
        holding=holding,
        now=lambda: datetime.now().astimezone(),
    )


def restore_parts(configuration: Configuration, on_step: Callable[[str], object] = lambda _step: None) -> RestoreParts:
    """Return what puts backups back; who uses it holds the lock."""
    return RestoreParts(
        places=backup_places(configuration),
        reads=ZipBackup,
        look=LibraryFiles(),
        swap=library_swap(configuration, on_step),
        now=lambda: datetime.now().astimezone(),
    )


def library_swap(configuration: Configuration, on_step: Callable[[str], object] = lambda _step: None) -> LibrarySwap:
    """Return what puts one library in place of another, and ends what a kill has cut off."""
    return LibrarySwap(configuration.data_dir, on_step)


def merge_parts(
    configuration: Configuration, library: Library, holding: Callable[[], AbstractContextManager[object]]
) -> MergeParts:
    """Return what takes backups into an opened library."""
    return MergeParts(
        places=backup_places(configuration),
        reads=ZipBackup,
        look=LibraryFiles(),
        merge=SqliteMerge(library),
        folder=DataFolder(configuration.data_dir),
        holding=holding,
    )
