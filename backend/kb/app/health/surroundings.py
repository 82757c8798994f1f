"""Checks that need no opened library: the configuration, the data folder, the disk below it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from kb.app.bootstrap.health import file_system, free_bytes, taken_bytes
from kb.app.config_file import Configuration
from kb.app.locations import readable
from kb.contract.system import Doctor, DoctorCheck

_MB = 1 << 20
_OTHERS = 0o077


def report_of(checks: list[DoctorCheck]) -> Doctor:
    """Return the report: healthy when every check is."""
    return Doctor(ok=all(check.ok for check in checks), checks=tuple(checks))


def failed(name: str, detail: str, hint: str) -> DoctorCheck:
    """Return a check that failed, with what to do."""
    return DoctorCheck(name=name, ok=False, detail=detail, hint=hint or None)


def surrounding_checks(configuration: Configuration) -> Iterator[DoctorCheck]:
    """Look at everything below the library."""
    yield _config_check(configuration)
    yield _data_dir_check(configuration)
    if configuration.data_dir.is_dir():
        yield from _private_check(configuration)
        yield _disk_check(configuration)
        yield _file_system_check(configuration)


def make_private(configuration: Configuration) -> int:
    """Take the rights of others away from the data folder and the files in it; return from how many."""
    changed = 0
    for path in _open_to_others(configuration):
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)
        changed += 1
    return changed


def _config_check(configuration: Configuration) -> DoctorCheck:
    file = configuration.locations.config_file
    detail = readable(file) if file.exists() else "built-in defaults"
    unknown = len(configuration.warnings)
    if unknown:
        return failed("config_loaded", f"{detail}, {unknown} unknown keys", configuration.warnings[0])
    return DoctorCheck(name="config_loaded", ok=True, detail=detail)


def _data_dir_check(configuration: Configuration) -> DoctorCheck:
    folder = configuration.data_dir
    detail = readable(folder)
    if not folder.is_dir():
        return failed("data_dir_writable", f"{detail} does not exist", "run `kb init`")
    if not os.access(folder, os.W_OK | os.X_OK):
        return failed("data_dir_writable", f"{detail} may not be written", "check the owner and mode of the folder")
    return DoctorCheck(name="data_dir_writable", ok=True, detail=detail)


def _private_check(configuration: Configuration) -> Iterator[DoctorCheck]:
    found = len(_open_to_others(configuration))
    if found:
        detail = f"{found} of the library's files can be read by others on this computer"
        yield failed("data_dir_private", detail, "`kb doctor --fix` takes these rights away")


def _open_to_others(configuration: Configuration) -> list[Path]:
    """Return the data folder and what lies directly in it, as far as others may use it."""
    if os.name != "posix":
        return []
    folder = configuration.data_dir
    looked_at = [folder, *(path for path in folder.iterdir() if not path.is_symlink())]
    return [path for path in looked_at if path.exists() and path.stat().st_mode & _OTHERS]


def _disk_check(configuration: Configuration) -> DoctorCheck:
    folder = configuration.data_dir
    free, taken = free_bytes(folder), taken_bytes(folder)
    floor = configuration.settings.storage.min_free_mb
    if free is None:
        return DoctorCheck(name="disk_space", ok=True, detail=f"the library takes {taken // _MB:,} MB")
    detail = f"{free // _MB:,} MB free, the library takes {taken // _MB:,} MB"
    if free < floor * _MB:
        return failed("disk_space", detail, f"free some space: nothing is begun below {floor} MB (storage.min_free_mb)")
    if free < taken // 2:
        hint = "an index built anew, or a backup, may need more than is free"
        return DoctorCheck(name="disk_space", ok=True, detail=detail, hint=hint)
    return DoctorCheck(name="disk_space", ok=True, detail=detail)


def _file_system_check(configuration: Configuration) -> DoctorCheck:
    found = file_system(configuration.data_dir)
    if found.is_safe_for_wal:
        return DoctorCheck(name="file_system", ok=True, detail=found.name)
    hint = "locks and shared memory may not hold there: Kebab works, more slowly, with a rollback journal; a local disk"
    return DoctorCheck(name="file_system", ok=True, detail=found.name, hint=f"{hint} is safer (storage.data_dir)")
