"""ZIP containers opened within limits: every byte is counted as it is unpacked, whatever the headers claim."""

from __future__ import annotations

import bz2
import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from kb.adapters.parsers.shared.names import clean_name, numbered
from kb.adapters.parsers.shared.old_names import zip_names
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits

_MIB = 1 << 20
_CHUNK = 1 << 16
_ENCRYPTED = 0x1
_LOCAL = struct.Struct("<4s22xHH")
_DIRECTORY = struct.Struct("<4s24xHHH12x")
_END = struct.Struct("<4s4xHHLLH")
_END_64 = struct.Struct("<4sQ20xQQQ")


class Budget:
    """Bytes that unpacking one file may still give.

    Args:
        limits: of the file; `expanded_mb` counts, and `expansion_ratio` from the second megabyte on.
        packed: bytes of the file itself.
    """

    def __init__(self, limits: ReadingLimits, packed: int) -> None:
        self.left = min(limits.expanded_mb * _MIB, max(limits.expansion_ratio * packed, _MIB))

    def spend(self, count: int) -> None:
        """Take `count` unpacked bytes into account.

        Raises:
            Unreadable: `expands_too_much`.
        """
        self.left -= count
        if self.left < 0:
            raise Unreadable(
                "unpacking it gives far more than a file of its size should",
                hint="unpack it yourself if you trust it, or raise limits.expanded_mb",
                reason="expands_too_much",
            )


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """A file in a ZIP container.

    Attributes:
        name: cleaned (`clean_name`), no two alike.
        stored_name: as the container spells it.
        size: unpacked bytes, as counted.
        modified_ns: nanoseconds since 1970 as if the container's clock were UTC, None when it has no date.
    """

    name: str
    stored_name: str
    size: int
    modified_ns: int | None


class Zip:
    """A ZIP container whose entries have all been unpacked once, and counted."""

    def __init__(self, data: bytes, file: zipfile.ZipFile, entries: Iterable[tuple[ZipEntry, zipfile.ZipInfo]]) -> None:
        self._data = data
        self._file = file
        self._infos: dict[str, zipfile.ZipInfo] = {}
        found: list[ZipEntry] = []
        for entry, info in entries:
            found.append(entry)
            self._infos[entry.name] = info
        self.entries = tuple(found)

    def __contains__(self, name: object) -> bool:
        return name in self._infos

    @property
    def names(self) -> tuple[str, ...]:
        """Return the cleaned names, in the container's order."""
        return tuple(self._infos)

    def read(self, name: str) -> bytes:
        """Return the content of the entry with that cleaned name.

        Raises:
            KeyError: there is none.
            Unreadable: it is damaged or locked.
        """
        info = self._infos[name]
        return b"".join(_content(self._data, self._file, info, _NoBudget()))


def open_zip(data: bytes, limits: ReadingLimits, *, password: str | None = None, distinct: bool = False) -> Zip:
    """Open a ZIP container, unpacking each entry once to count what it really holds.

    Args:
        data: the whole container.
        limits: `entries`, `expanded_mb` and `expansion_ratio` count.
        password: for encrypted entries.
        distinct: refuse two entries of one name (letter case aside), as office packages must; else they are numbered.

    Raises:
        Unreadable: `damaged`, `locked`, `unsupported`, `too_many_entries` or `expands_too_much`.
    """
    file, infos = _directory(data, limits, password)
    if distinct and len({info.filename.lower() for info in infos}) < len(infos):
        raise damaged("two of its parts have one name")
    budget = Budget(limits, len(data))
    names = numbered(clean_name(name) for name in zip_names(infos))
    entries: list[tuple[ZipEntry, zipfile.ZipInfo]] = []
    for info, name in zip(infos, names, strict=True):
        size = sum(map(len, _content(data, file, info, budget)))
        entries.append((ZipEntry(name, info.filename, size, _modified(info)), info))
    return Zip(data, file, entries)


@dataclass(frozen=True, slots=True)
class ZipFile:
    """What became of one file in a ZIP container: its bytes, or the reason why there are none.

    Attributes:
        name: as spelt in the container, in letters; not cleaned.
        modified_ns: as `ZipEntry.modified_ns`.
        is_link: the content is a path that it leads to.
        reason: empty, `damaged` or `unsupported`.
    """

    name: str
    data: bytes
    modified_ns: int | None
    is_link: bool
    reason: str = ""


def files_in_zip(
    data: bytes, limits: ReadingLimits, password: str | None, tell: Callable[[int, int], object]
) -> Iterator[ZipFile]:
    """Yield the files in a ZIP container; one that is damaged costs itself only.

    Args:
        data: the whole container.
        limits: as `open_zip`.
        password: likewise.
        tell: takes how many of how many files are done.

    Raises:
        Unreadable: `damaged`, `locked`, `too_many_entries` or `expands_too_much`.
    """
    file, infos = _directory(data, limits, password)
    budget = Budget(limits, len(data))
    for number, (info, name) in enumerate(zip(infos, zip_names(infos), strict=True)):
        tell(number, len(infos))
        content, reason = b"", ""
        try:
            content = b"".join(_content(data, file, info, budget))
        except Unreadable as error:
            if error.reason not in {"damaged", "unsupported"}:
                raise
            reason = error.reason
        yield ZipFile(name, content, _modified(info), stat.S_ISLNK(info.external_attr >> 16), reason)


def _directory(
    data: bytes, limits: ReadingLimits, password: str | None
) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    _count_entries(data, limits)
    try:
        # Nothing is extracted by it: it reads the directory, and ciphered entries.
        file = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, ValueError, OSError, struct.error) as error:
        raise damaged("it is no ZIP container, or only a part of one") from error
    if password:
        file.setpassword(password.encode("utf-8"))
    infos = [info for info in file.infolist() if not info.is_dir()]
    _refuse_overlaps(infos, file.start_dir)
    # Headers are believed only where they already condemn the file: most bombs are honest.
    Budget(limits, len(data)).spend(sum(info.file_size for info in infos))
    return file, infos


def damaged(fact: str) -> Unreadable:
    """Return the error of a container that is broken, or made to look so."""
    return Unreadable(fact, hint="open it in the program it comes from and save it again", reason="damaged")


class _Spender(Protocol):
    def spend(self, count: int) -> None: ...


class _NoBudget:
    """What was counted once needs no counting again."""

    def spend(self, count: int) -> None:
        """Do nothing."""


def _count_entries(data: bytes, limits: ReadingLimits) -> None:
    """Refuse a directory of too many entries before it becomes objects, whatever count its end record claims."""
    end = data.rfind(b"PK\x05\x06", max(0, len(data) - (1 << 16) - _END.size))
    if end < 0 or end + _END.size > len(data):
        raise damaged("it is no ZIP container, or only a part of one")
    _, _, _, size, offset, _ = _END.unpack_from(data, end)
    end_64 = data.rfind(b"PK\x06\x06", 0, end)
    if (size == 0xFFFFFFFF or offset == 0xFFFFFFFF) and end_64 >= 0 and end_64 + _END_64.size <= len(data):  # noqa: PLR2004
        _, _, _, size, _ = _END_64.unpack_from(data, end_64)
        end = end_64
    position, count = max(0, end - size), 0
    while position + _DIRECTORY.size <= end and data.startswith(b"PK\x01\x02", position):
        count += 1
        if count > limits.entries:
            raise Unreadable(
                f"it holds more than {limits.entries} files",
                hint="unpack it yourself, or raise limits.entries",
                reason="too_many_entries",
            )
        _, name, extra, comment = _DIRECTORY.unpack_from(data, position)
        position += _DIRECTORY.size + name + extra + comment


def _refuse_overlaps(infos: Iterable[zipfile.ZipInfo], directory: int) -> None:
    end = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise damaged("its entries overlap, so that little data stands for much")
        end = info.header_offset + _LOCAL.size + info.compress_size
    if end > directory:
        raise damaged("an entry runs into the directory")


def _content(data: bytes, file: zipfile.ZipFile, info: zipfile.ZipInfo, budget: _Spender) -> Iterator[bytes]:
    pieces = _deciphered(file, info) if info.flag_bits & _ENCRYPTED else _unpacked(data, info)
    size, crc = 0, 0
    try:
        for piece in pieces:
            budget.spend(len(piece))
            size += len(piece)
            crc = zlib.crc32(piece, crc)
            yield piece
    except (zlib.error, lzma.LZMAError, OSError, EOFError, struct.error, zipfile.BadZipFile, ValueError) as error:
        raise damaged("an entry cannot be unpacked") from error
    if size != info.file_size or crc != info.CRC:
        raise damaged("an entry is not what its header says")


def _unpacked(data: bytes, info: zipfile.ZipInfo) -> Iterator[bytes]:
    start = info.header_offset
    magic, name, extra = _LOCAL.unpack_from(data, start)
    if magic != b"PK\x03\x04":
        raise damaged("an entry is not where the directory says")
    start += _LOCAL.size + name + extra
    raw = memoryview(data)[start : start + info.compress_size]
    if len(raw) < info.compress_size:
        raise damaged("an entry is cut off")
    if info.compress_type == zipfile.ZIP_STORED:
        for position in range(0, len(raw), _CHUNK):
            yield bytes(raw[position : position + _CHUNK])
    elif info.compress_type == zipfile.ZIP_DEFLATED:
        yield from inflated(raw)
    elif info.compress_type == zipfile.ZIP_BZIP2:
        yield from _drained(bz2.BZ2Decompressor(), bytes(raw))
    elif info.compress_type == zipfile.ZIP_LZMA:
        _, length = struct.unpack_from("<HH", raw)
        properties = bytes(raw[4 : 4 + length])
        filters = [lzma._decode_filter_properties(lzma.FILTER_LZMA1, properties)]  # type: ignore[attr-defined]  # noqa: SLF001
        yield from _drained(lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters), bytes(raw[4 + length :]))
    else:
        raise Unreadable(
            "it is packed by a method Kebab does not know",
            hint="pack it again as an ordinary ZIP",
            reason="unsupported",
        )


def inflated(raw: bytes | memoryview, window: int = -zlib.MAX_WBITS) -> Iterator[bytes]:
    """Yield what a deflate stream holds in pieces of at most 64 KiB; `window` as zlib has it (31 for gzip).

    Raises:
        EOFError: the stream is cut off.
        zlib.error: it is broken.
    """
    stream = zlib.decompressobj(window)
    # Fed in pieces: what it has not come to is copied with every call.
    for position in range(0, len(raw), _CHUNK):
        held: bytes | memoryview = raw[position : position + _CHUNK]
        while held and not stream.eof:
            piece = stream.decompress(held, _CHUNK)
            held = stream.unconsumed_tail
            if piece:
                yield piece
    while not stream.eof and (piece := stream.decompress(b"", _CHUNK)):
        yield piece
    if not stream.eof:
        raise EOFError


class _Stream(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def _drained(stream: _Stream, raw: bytes) -> Iterator[bytes]:
    piece = stream.decompress(raw, _CHUNK)
    while piece:
        yield piece
        piece = b"" if stream.eof or stream.needs_input else stream.decompress(b"", _CHUNK)


def _deciphered(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    try:
        with file.open(info) as content:
            while piece := content.read(4096):
                yield piece
    except (RuntimeError, NotImplementedError) as error:  # no password, a wrong one, or AES
        raise Unreadable(
            "it is locked with a password",
            hint="give the password, or unpack it yourself and add what is in it",
            reason="locked",
        ) from error


def _modified(info: zipfile.ZipInfo) -> int | None:
    try:
        moment = datetime(*info.date_time, tzinfo=UTC)
    except ValueError:
        return None
    return None if moment.year <= 1980 else int(moment.timestamp()) * 1_000_000_000  # noqa: PLR2004 - no clock
