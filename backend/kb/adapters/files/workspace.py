"""The workspace as a source of files, read only."""

# ruff: noqa: PTH112, PTH116, PTH118, PTH208
# Paths are strings as the system gives them: a Path for each of a hundred thousand names costs more than its stat.

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from kb.adapters.files.cache import TextCache
from kb.adapters.files.ignore import IGNORE_FILE, EntryFilter
from kb.adapters.files.media import media_type_of
from kb.adapters.files.reading import ContainedReader
from kb.adapters.files.walk import Place, Walk, identity_of
from kb.domain.errors import NotFound, Unreadable
from kb.domain.files import FileBytes, ScannedFile, ScanProblem, Scope
from kb.domain.items import MediaType
from kb.domain.paths import WorkspacePath

MAX_FILE_BYTES = 256 << 20
_RECORDINGS = {MediaType.AUDIO, MediaType.VIDEO}


class WorkspaceFiles:
    """One folder of the person's, scanned with `os.scandir` and never modified."""

    def __init__(
        self,
        root: Path,
        *,
        cache: TextCache | None = None,
        max_file_bytes: int = MAX_FILE_BYTES,
        max_recording_bytes: int = 0,
        read_piece: Callable[[int, int], bytes] = os.read,
    ) -> None:
        self._given = root
        self._cache = cache
        self._max_file_bytes = max_file_bytes
        self._max_recording_bytes = max_recording_bytes
        self._read_piece = read_piece
        self._reader: ContainedReader | None = None

    def scan(self, scope: Scope) -> Iterator[ScannedFile | ScanProblem]:
        """Yield every included file once, folder by folder in name order, without opening any.

        Raises:
            NotFound: the root or a path of the scope does not exist.
        """
        root = self._root()
        keeps = EntryFilter(self._ignore_text(root), scope.include, scope.exclude)
        if not scope.paths:
            yield from Walk.at(root, keeps).run([Place("", "")])
            return
        starts = _outermost(self._places(root, scope))
        folders: list[Place] = []
        for place in starts:
            try:
                found = os.stat(os.path.join(root, place.disk_name))
            except FileNotFoundError:
                if scope.may_be_gone:
                    continue
                raise _missing(place.path) from None
            if stat.S_ISDIR(found.st_mode) and keeps.enters(place.path):
                folders.append(place)
            elif stat.S_ISREG(found.st_mode) and keeps.keeps_path(place.path):
                yield ScannedFile(WorkspacePath(place.path), place.disk_name, identity_of(found))
            else:
                note = f"{IGNORE_FILE}, the include or exclude settings leave it out, or it is not an ordinary file"
                yield ScanProblem(place.path, "ignored", note)
        yield from Walk.at(root, keeps).run(folders)

    def keeps(self, scope: Scope) -> Callable[[str, bool | None], bool]:
        """Return what says of a path whether a scan would reach it, as a folder or as a file; None when unknown.

        Raises:
            NotFound: the root does not exist.
        """
        keeps = EntryFilter(self._ignore_text(self._root()), scope.include, scope.exclude)

        def reached(path: str, is_folder: bool | None) -> bool:  # noqa: FBT001 - as the event says it
            return (is_folder is not True and keeps.keeps_path(path)) or (is_folder is not False and keeps.enters(path))

        return reached

    def read(self, file: ScannedFile) -> FileBytes:
        """Read a whole file, hashing while reading.

        Raises:
            Unreadable: it vanished, changed while read, is too big or may not be read.
        """
        if self._reader is None:  # resolving the root costs more than reading a small file
            self._reader = ContainedReader(
                self._root(),
                self._max_file_bytes,
                read_piece=self._read_piece,
                is_recording=lambda path, head: media_type_of(path, head) in _RECORDINGS,
                max_recording_bytes=self._max_recording_bytes,
            )
        return self._reader.read(file)

    def media_type(self, path: WorkspacePath, data: bytes) -> MediaType:
        """Say what a file is, by content first, then by name."""
        return media_type_of(path, data)

    def _root(self) -> str:
        root = os.path.realpath(self._given)
        if not os.path.isdir(root):
            raise NotFound(
                f"the workspace folder {self._given.name!r} does not exist",
                hint="run `kb init` to make it, or set workspace.root in config.toml",
            )
        return root

    def _ignore_text(self, root: str) -> str:
        """Return `.kbignore`, from the cache while its `stat` is the same: then it is not even opened."""
        path = os.path.join(root, IGNORE_FILE)
        try:
            identity = identity_of(os.lstat(path))
        except FileNotFoundError:
            return ""
        key = f"{IGNORE_FILE}:{root}:{identity.size}:{identity.mtime_ns}:{identity.file_id}"
        kept = self._cache.get(key) if self._cache else None
        if kept is not None:
            return kept
        content = self.read(ScannedFile(WorkspacePath(IGNORE_FILE), IGNORE_FILE, identity))
        text = content.data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        if self._cache and content.identity == identity:
            self._cache.set(key, text)
        return text

    def _places(self, root: str, scope: Scope) -> Iterator[Place]:
        for path in scope.paths:
            try:
                yield self._place(root, path)
            except (NotFound, Unreadable):
                if not scope.may_be_gone:
                    raise

    def _place(self, root: str, path: WorkspacePath) -> Place:
        """Find `path` on the disk, whatever Unicode form its names have there; links give their target."""
        disk_parts: list[str] = []
        for part in path.split("/"):
            disk_parts.append(_spelled(os.path.join(root, *disk_parts), part, path))
        disk_name = "/".join(disk_parts)
        target = os.path.realpath(os.path.join(root, disk_name))
        start = root.rstrip(os.sep) + os.sep
        if target != root and not target.startswith(start):
            raise Unreadable(f"{path} leads out of the workspace and is not read", reason="outside_root")
        real = target[len(start) :].replace(os.sep, "/")
        return Place(unicodedata.normalize("NFC", real), real)


def _outermost(places: Iterable[Place]) -> list[Place]:
    """Drop doubles and what lies below another place; rising order."""
    kept: list[Place] = []
    for place in sorted(set(places), key=lambda place: place.path.split("/")):
        last = kept[-1].path if kept else None
        if last is None or not (last in {"", place.path} or place.path.startswith(last + "/")):
            kept.append(place)
    return kept


def _spelled(folder: str, name: str, path: str) -> str:
    if os.path.lexists(os.path.join(folder, name)):
        return name
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        names = []
    for disk_name in names:
        if unicodedata.normalize("NFC", disk_name) == name:
            return disk_name
    raise _missing(path)


def _missing(path: str) -> NotFound:
    return NotFound(f"{path} is not in the workspace", hint="give a path relative to the workspace folder")
