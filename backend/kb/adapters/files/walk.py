"""The walk through the workspace: names and `stat` only, nothing is opened but folders.

First the tree without links, then the links in path order. A link is followed only to what the
first walk does not reach anyway, so every real file comes once, under its own path where it has one.
"""

# ruff: noqa: PTH116, PTH118, PTH120
# Paths are strings as the system gives them: a Path for each of a hundred thousand names costs more than its stat.

from __future__ import annotations

import errno
import os
import stat
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kb.adapters.files.ignore import EntryFilter
from kb.domain.files import FileIdentity, ScannedFile, ScanProblem
from kb.domain.paths import WorkspacePath

_RECALL_ON_ACCESS = 0x00400000 | 0x00040000  # FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS, _ON_OPEN
_DATALESS = 0x40000000  # macOS SF_DATALESS
_WINDOWS = os.name == "nt"
_CLOUDS = sys.platform in {"win32", "darwin"}


class Place(NamedTuple):
    """A folder or file below the root: its path as stored and as the disk spells it."""

    path: str
    disk_name: str


@dataclass(slots=True)
class Walk:
    """One pass over the workspace."""

    root: str
    keeps: EntryFilter
    links: list[Place]
    followed: set[str]

    @classmethod
    def at(cls, root: str, keeps: EntryFilter) -> Walk:
        """Begin a walk below `root`, a path without links."""
        return cls(root, keeps, [], set())

    def run(self, starts: list[Place]) -> Iterator[ScannedFile | ScanProblem]:
        """Yield what is below `starts` (folders), folder by folder in name order, then what only links reach."""
        for start in starts:
            yield from self._tree(start)
        while self.links:
            # A folder behind a link may hold links of its own.
            waiting, self.links = sorted(self.links), []
            for link in waiting:
                yield from self._follow(link)

    def _tree(self, start: Place) -> Iterator[ScannedFile | ScanProblem]:
        stack = [start]
        while stack:
            place = stack.pop()
            try:
                with os.scandir(self._disk(place.disk_name)) as entries:
                    listing = sorted(entries, key=_order)
            except OSError as error:
                yield _closed(place.path, error, is_folder=True)
                continue
            folders: list[Place] = []
            yield from self._listing(place, listing, folders)
            folders.reverse()
            stack.extend(folders)

    def _listing(
        self, place: Place, listing: list[os.DirEntry[str]], folders: list[Place]
    ) -> Iterator[ScannedFile | ScanProblem]:
        before = place.path + "/" if place.path else ""
        disk_before = place.disk_name + "/" if place.disk_name else ""
        keeps_file = self.keeps.keeps_file
        previous = ""
        for entry in listing:
            disk_name = name = entry.name
            if not name.isascii():
                name = unicodedata.normalize("NFC", name)
                if problem := _name_problem(before, name, previous):
                    yield problem
                    continue
                previous = name
            path = before + name
            if entry.is_file(follow_symlinks=False):
                if keeps_file(name, path):
                    yield _file(path, path if disk_before + disk_name == path else disk_before + disk_name, entry)
            elif entry.is_symlink():
                self.links.append(Place(path, disk_before + disk_name))
            elif entry.is_dir(follow_symlinks=False):
                if self.keeps.keeps_folder(name, path):
                    folders.append(Place(path, disk_before + disk_name))
            elif keeps_file(name, path):
                yield ScanProblem(path, "special_file", "a pipe, socket or device is not read")

    def _follow(self, link: Place) -> Iterator[ScannedFile | ScanProblem]:
        name = link.path.rsplit("/", 1)[-1]
        if not (self.keeps.keeps_file(name, link.path) or self.keeps.keeps_folder(name, link.path)):
            return
        source = self._disk(link.disk_name)
        target = os.path.realpath(source)
        inside = self._inside(target)
        try:
            found = os.stat(source)
        except OSError as error:
            yield _broken(link.path, error, inside=inside is not None)
            return
        if inside is None:
            yield ScanProblem(link.path, "outside_root", "the link leads out of the workspace and is not followed")
        elif stat.S_ISDIR(found.st_mode):
            yield from self._follow_folder(link, name, target, inside)
        elif not stat.S_ISREG(found.st_mode):
            yield ScanProblem(link.path, "special_file", "a pipe, socket or device is not read")
        elif self.keeps.keeps_file(name, link.path) and not self.keeps.keeps_path(_stored(inside)):
            yield from self._once(ScannedFile(WorkspacePath(link.path), link.disk_name, identity_of(found)))

    def _follow_folder(self, link: Place, name: str, target: str, inside: str) -> Iterator[ScannedFile | ScanProblem]:
        home = os.path.realpath(os.path.dirname(self._disk(link.disk_name)))
        if (home + os.sep).startswith(target + os.sep):
            yield ScanProblem(link.path, "symlink_loop", "the link leads back to a folder it is in", is_folder=True)
            return
        reached = target in self.followed or self.keeps.enters(_stored(inside))
        if self.keeps.keeps_folder(name, link.path) and not reached:
            self.followed.add(target)
            for found in self._tree(link):
                yield from self._once(found)

    def _once(self, found: ScannedFile | ScanProblem) -> Iterator[ScannedFile | ScanProblem]:
        """Yield what links reach unless another link has reached it."""
        if isinstance(found, ScannedFile):
            target = os.path.realpath(self._disk(found.disk_name))
            if target in self.followed:
                return
            self.followed.add(target)
        yield found

    def _inside(self, target: str) -> str | None:
        """Return the path of `target` below the root with `/`, `` for the root, None when outside."""
        if target == self.root:
            return ""
        start = self.root.rstrip(os.sep) + os.sep
        return target[len(start) :].replace(os.sep, "/") if target.startswith(start) else None

    def _disk(self, disk_name: str) -> str:
        return os.path.join(self.root, disk_name) if disk_name else self.root


def identity_of(found: os.stat_result) -> FileIdentity:
    """Return what makes a file the same without opening it.

    The device number is left out (it changes when a disk is mounted anew); so is the file id on
    Windows, where a folder listing does not have it.
    """
    file_id = "" if _WINDOWS else f"{found.st_ino:x}"
    return FileIdentity(found.st_size, found.st_mtime_ns, file_id)


def _file(path: str, disk_name: str, entry: os.DirEntry[str]) -> ScannedFile | ScanProblem:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError as error:
        return _closed(path, error, is_folder=False)
    if _CLOUDS and is_placeholder(found):
        return ScanProblem(path, "placeholder", "only in the cloud: its bytes are not on this computer")
    return ScannedFile(WorkspacePath(path), disk_name, identity_of(found))


def is_placeholder(found: os.stat_result, platform: str = sys.platform) -> bool:
    """Return whether opening the file would first fetch it from a cloud service."""
    if platform == "win32":
        return bool(getattr(found, "st_file_attributes", 0) & _RECALL_ON_ACCESS)
    return platform == "darwin" and bool(getattr(found, "st_flags", 0) & _DATALESS)


def _order(entry: os.DirEntry[str]) -> tuple[str, bool, str]:
    name = entry.name
    if name.isascii():
        return name, False, name
    stored = unicodedata.normalize("NFC", name)
    return stored, stored != name, name


def _name_problem(before: str, name: str, previous: str) -> ScanProblem | None:
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = before + name.encode("utf-8", "replace").decode()
        return ScanProblem(shown, "undecodable_name", "the name is not valid UTF-8; rename the file")
    if name == previous:
        note = "another file here has the same name in a different Unicode form; rename one of them"
        return ScanProblem(before + name, "duplicate_name", note)
    return None


def _closed(path: str, error: OSError, *, is_folder: bool) -> ScanProblem:
    what = "folder" if is_folder else "file"
    if isinstance(error, PermissionError):
        return ScanProblem(path, "permission", f"no permission to look into the {what}", is_folder)
    return ScanProblem(path, "unreadable", f"the {what} could not be looked into ({error.strerror})", is_folder)


def _broken(path: str, error: OSError, *, inside: bool) -> ScanProblem:
    if error.errno == errno.ELOOP:
        return ScanProblem(path, "symlink_loop", "the link leads back to itself")
    if not inside:
        return ScanProblem(path, "outside_root", "the link leads out of the workspace and is not followed")
    if isinstance(error, PermissionError):
        return ScanProblem(path, "permission", "no permission to follow the link")
    return ScanProblem(path, "broken_link", "the link leads to nothing")


def _stored(disk_name: str) -> str:
    return unicodedata.normalize("NFC", disk_name)
