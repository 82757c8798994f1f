"""The stamp of an index folder, and the check that its files are what was written.

Tantivy maps its files and trusts them, so a changed byte could end the process; every file is checked against
the CRC-32 of its own footer before Tantivy opens it.
"""

from __future__ import annotations

import contextlib
import json
import re
import struct
import zlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from kb.adapters.tantivy.analysis import ANALYZER_VERSION
from kb.adapters.tantivy.disk import replace_file
from kb.adapters.tantivy.meta import META, named_files, operations
from kb.adapters.tantivy.schema import SCHEMA_VERSION

STAMP = "stamp.json"
_FOOTER = struct.Struct("<II")
_MAGIC = 1337
_LARGEST_FOOTER = 4096
_CHUNK = 1 << 20
_SEGMENT_NAME = re.compile("[0-9a-f]{32}$")


@dataclass(frozen=True, slots=True)
class Stamp:
    """What an index folder holds.

    Attributes:
        position: the log position reached.
        meta_checksum: CRC-32 of Tantivy's `meta.json` at that position.
        writing: a commit may have happened since: then `meta.json` may be newer than the position.
        target: the position that commit leads to.
        before: Tantivy's number of operations ahead of that commit.
        replaced: about how many texts were deleted since the index was built: each moves the counts of BM25, and
            the lengths that a merge leaves without it are estimates.
    """

    library_id: str
    position: int
    meta_checksum: int
    writing: bool = False
    target: int = 0
    before: int = 0
    replaced: int = 0
    schema: str = SCHEMA_VERSION
    analyzer: str = ANALYZER_VERSION


def read_stamp(folder: Path) -> Stamp | None:
    """Return the stamp; None when it is missing, unreadable or of another make.

    Raises:
        PermissionError: it may not be read, which says nothing about what it holds.
    """
    try:
        made = Stamp(**json.loads((folder / STAMP).read_bytes()))
    except PermissionError:
        raise
    except (OSError, TypeError, ValueError):
        return None
    return made if (made.schema, made.analyzer) == (SCHEMA_VERSION, ANALYZER_VERSION) else None


def caught_up(folder: Path, stamp: Stamp) -> Stamp:
    """Return a stamp as it would be had nobody been killed: a commit that happened is not to happen again."""
    if not stamp.writing or operations(folder) <= stamp.before:
        return stamp
    return replace(stamp, position=max(stamp.position, stamp.target))


def write_stamp(folder: Path, stamp: Stamp, *, durable: bool = True) -> None:
    """Replace the stamp."""
    replace_file(folder / STAMP, json.dumps(asdict(stamp), sort_keys=True).encode(), durable=durable)


def meta_checksum(folder: Path) -> int:
    """Return the CRC-32 of `meta.json`."""
    return zlib.crc32((folder / META).read_bytes())


def is_sound(folder: Path, stamp: Stamp) -> bool:
    """Return whether every byte of the index is as Tantivy wrote it.

    Raises:
        PermissionError: a file may not be read.
    """
    try:
        data = (folder / META).read_bytes()
        if zlib.crc32(data) != stamp.meta_checksum and not stamp.writing:
            return False
        return all(_is_whole(folder / name) for name in named_files(json.loads(data)))
    except PermissionError:
        raise
    except (OSError, KeyError, TypeError, ValueError, AttributeError):
        return False


def remove_orphans(folder: Path) -> None:
    """Remove what a killed commit left: Tantivy numbers its next one the same and refuses to write over it."""
    segments = json.loads((folder / META).read_bytes())["segments"]
    known = {str(segment["segment_id"]).replace("-", "") for segment in segments}
    living = set(named_files({"segments": segments}))
    for path in folder.iterdir():
        name, _, part = path.name.partition(".")
        is_segment = _SEGMENT_NAME.match(name) is not None
        if is_segment and (name not in known or (part.endswith("del") and path.name not in living)):
            with contextlib.suppress(OSError):  # Windows keeps what is mapped
                path.unlink()


def _is_whole(path: Path) -> bool:
    """Check a file against its footer: data, JSON with its CRC-32, length of the JSON, magic number."""
    size = path.stat().st_size
    if size < _FOOTER.size:
        return False
    with path.open("rb") as file:
        file.seek(size - _FOOTER.size)
        length, magic = _FOOTER.unpack(file.read())
        if magic != _MAGIC or not 0 < length < min(size, _LARGEST_FOOTER):
            return False
        end = size - _FOOTER.size - length
        file.seek(end)
        expected = json.loads(file.read(length))["crc"]
        file.seek(0)
        checksum = 0
        for start in range(0, end, _CHUNK):
            checksum = zlib.crc32(file.read(min(_CHUNK, end - start)), checksum)
    return bool(checksum == expected)
