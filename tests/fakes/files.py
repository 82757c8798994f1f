"""A workspace and copies of originals in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kb.domain.errors import NotFound, Unreadable
from kb.domain.files import FileBytes, FileIdentity, ScannedFile, ScanProblem, Scope
from kb.domain.ids import content_hash
from kb.domain.items import MediaType, RawAsset
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import asset_id

SUFFIXES = {
    "md": MediaType.MARKDOWN,
    "txt": MediaType.TEXT,
    "pdf": MediaType.PDF,
    "png": MediaType.IMAGE,
    "zip": MediaType.ARCHIVE,
}


@dataclass
class MemoryFiles:
    """Files by path; every write gets a new time, as on a disk."""

    contents: dict[str, bytes] = field(default_factory=dict)
    problems: list[ScanProblem] = field(default_factory=list)
    errors: dict[str, Unreadable] = field(default_factory=dict)
    before_read: Callable[[str], None] = lambda _path: None
    reads: list[str] = field(default_factory=list)
    missing: bool = False
    _identities: dict[str, FileIdentity] = field(default_factory=dict)
    _clock: int = 1_000

    def write(self, path: str, text: str | bytes) -> None:
        self._clock += 1
        data = text.encode() if isinstance(text, str) else text
        self.contents[path] = data
        before = self._identities.get(path)
        self._identities[path] = FileIdentity(len(data), self._clock, before.file_id if before else f"{self._clock:x}")

    def touch(self, path: str) -> None:
        self.write(path, self.contents[path])

    def move(self, old: str, new: str) -> None:
        self.contents[new] = self.contents.pop(old)
        self._identities[new] = self._identities.pop(old)

    def remove(self, path: str) -> None:
        del self.contents[path], self._identities[path]

    def scan(self, scope: Scope) -> Iterator[ScannedFile | ScanProblem]:
        if self.missing:
            raise NotFound("the workspace folder 'kb' does not exist", hint="run `kb init` to make it")
        yield from self.problems
        for path in sorted(self.contents):
            wanted = not scope.paths or any(path == part or path.startswith(f"{part}/") for part in scope.paths)
            if wanted and path in self._identities:  # it may go away while the scan is at work
                yield ScannedFile(WorkspacePath(path), path, self._identities[path])

    def read(self, file: ScannedFile) -> FileBytes:
        self.reads.append(file.path)
        self.before_read(file.path)
        if file.path in self.errors:
            raise self.errors[file.path]
        if file.path not in self.contents:
            raise Unreadable(f"{file.path} is gone", reason="vanished")
        data = self.contents[file.path]
        return FileBytes(data, content_hash(data), self._identities[file.path])

    def media_type(self, path: WorkspacePath, data: bytes) -> MediaType:
        return SUFFIXES.get(path.rsplit(".", 1)[-1], MediaType.OTHER)


@dataclass
class MemoryAssets:
    """Copies by their storage path; files of more than `copied_up_to` bytes are only referenced."""

    copies: dict[str, bytes] = field(default_factory=dict)
    discarded: list[str] = field(default_factory=list)
    settled: set[str] = field(default_factory=set)
    copied_up_to: int = 1 << 40

    def needs_bytes(self, file: ScannedFile, content: FileBytes) -> bool:
        del file
        return content.size <= self.copied_up_to

    def keep(self, file: ScannedFile, content: FileBytes, media_type: MediaType) -> RawAsset:
        name = asset_id(content.checksum)
        found = datetime(2026, 4, 27, tzinfo=UTC)
        if not self.needs_bytes(file, content):
            return RawAsset(name, content.checksum, content.size, media_type, "reference", file.path, found)
        where = f"assets/{name[:2]}/{name}"
        self.copies[where] = content.data
        return RawAsset(name, content.checksum, len(content.data), media_type, "copied", where, found)

    def settle(self) -> None:
        self.settled = set(self.copies)

    def discard(self, storage_paths: Iterable[str]) -> None:
        for path in storage_paths:
            self.discarded.append(path)
            self.copies.pop(path, None)
