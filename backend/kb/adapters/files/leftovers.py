"""What kills and changed settings leave in the data folder: temporary files, indexes moved aside, copies."""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

_SETTLED_SECONDS = 600
_ASSET_ID_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Leftover:
    """One file or folder that nothing needs; `bytes` is its size, of a folder that of its files."""

    path: Path
    kind: str
    bytes: int


class FileLeftovers:
    """The data folder of a library.

    Args:
        data_dir: the folder.
        settled_seconds: temporary files younger than this may be in use, and are left alone.
    """

    def __init__(self, data_dir: Path, *, settled_seconds: float = _SETTLED_SECONDS) -> None:
        self._data_dir = data_dir
        self._settled = settled_seconds

    def find(self, known_assets: Collection[str]) -> list[Leftover]:
        """Return what nothing needs.

        Args:
            known_assets: the storage paths of all copies the library names, such as `assets/ab/abcd…`.
        """
        found = [*self._temporary(), *self._scans(), *self._assets(known_assets)]
        return [Leftover(path, kind, _size(path)) for path, kind in dict(found).items()]

    def remove(self, leftovers: Collection[Leftover]) -> int:
        """Remove them, never anything a link leads to; return how many are gone."""
        gone = 0
        for leftover in leftovers:
            path = leftover.path
            if not _is_inside(path, self._data_dir):
                continue
            try:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
            except OSError:
                continue
            gone += 1
        return gone

    def _temporary(self) -> Iterator[tuple[Path, str]]:
        aside = ("tantivy.new-*", "tantivy.old-*", "chroma/*/old-*", "migration-*", "snapshot-*")
        for pattern in (*aside, *(f"generations/*/{one}" for one in aside[:3])):
            yield from self._settled_of(pattern, "an index or copy moved aside")
        for pattern in ("*.new", ".new-*", "vectors/*.new", "assets/.new/*", "artifacts/.new/*", "chroma/*/*.new"):
            yield from self._settled_of(pattern, "a temporary file")

    def _settled_of(self, pattern: str, kind: str) -> Iterator[tuple[Path, str]]:
        for path in self._data_dir.glob(pattern):
            try:
                age = time.time() - path.lstat().st_mtime
            except OSError:
                continue
            if age >= self._settled:
                yield path, kind

    def _scans(self) -> Iterator[tuple[Path, str]]:
        """Yield vector files that no stamp names: `<fingerprint>.<generation>.scan` beside `<fingerprint>.stamp`."""
        for path, kind in self._settled_of("vectors/*.scan", "a vector file no stamp names"):
            fingerprint, _, rest = path.name.partition(".")
            generation = rest.partition(".")[0]
            try:
                named = generation.encode() in path.with_name(f"{fingerprint}.stamp").read_bytes()
            except OSError:
                named = False
            if not named:
                yield path, kind

    def _assets(self, known: Collection[str]) -> Iterator[tuple[Path, str]]:
        names = known if isinstance(known, (set, frozenset)) else frozenset(known)
        for path, kind in self._settled_of("assets/[0-9a-f][0-9a-f]/*", "a copy of an original nothing refers to"):
            is_ours = len(path.name) == _ASSET_ID_LENGTH and path.name.startswith(path.parent.name)
            if is_ours and f"assets/{path.parent.name}/{path.name}" not in names:
                yield path, kind


def _is_inside(path: Path, folder: Path) -> bool:
    """Return whether the folder a name stands in lies, links resolved, inside `folder`."""
    return path.parent.resolve().is_relative_to(folder.resolve())


def _size(path: Path) -> int:
    try:
        if path.is_dir() and not path.is_symlink():
            return sum(part.lstat().st_size for part in path.rglob("*") if part.is_file())
        return path.lstat().st_size
    except OSError:
        return 0
