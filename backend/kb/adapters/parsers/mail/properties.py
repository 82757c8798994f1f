"""The properties of a message Outlook saved (MS-OXMSG), out of its compound file, within limits."""

from __future__ import annotations

import codecs
import io
import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

from kb.adapters.parsers.shared.archive import Budget
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits

_CODE_PAGES: Mapping[int, str] = MappingProxyType(
    {
        936: "gb18030",
        20127: "ascii",
        20866: "koi8-r",
        28591: "cp1252",
        50220: "iso2022_jp",
        51949: "cp949",
        54936: "gb18030",
        65001: "utf-8",
    }
)
_FILETIME_ZERO = datetime(1601, 1, 1, tzinfo=UTC)
_CODE_PAGE_OF_MESSAGE = 0x3FFD
_CODE_PAGE_OF_BODY = 0x3FDE
Path = tuple[str, ...]


class CompoundFile:
    """A compound file with what may still be read of it counted: two of its streams may lie on the same bytes."""

    def __init__(self, data: bytes, limits: ReadingLimits) -> None:
        import olefile

        try:
            self._file: Any = olefile.OleFileIO(io.BytesIO(data), raise_defects=olefile.DEFECT_INCORRECT)
            paths = [tuple(path) for path in self._file.listdir(streams=True, storages=True)]
        # Its failures on damaged files are of many kinds, and it recurses over the directory.
        except Exception as error:
            raise Unreadable("the file is damaged or only a part of it", reason="damaged") from error
        if len(paths) > limits.entries * 16:  # a message of some attachments has dozens of streams each
            raise Unreadable("it has more parts than the limit allows", reason="too_many_entries")
        self.paths = frozenset(paths)
        self._children: dict[Path, list[Path]] = {}
        for path in sorted(self.paths):
            self._children.setdefault(path[:-1], []).append(path)
        self.budget = Budget(limits, len(data))

    def children(self, folder: Path, prefix: str) -> list[Path]:
        """Return the storages right under `folder` whose names begin with `prefix`, in order."""
        return [path for path in self._children.get(folder, ()) if path[-1].startswith(prefix)]

    def stream(self, path: Path) -> bytes | None:
        """Return a stream, None when it is missing or broken.

        Raises:
            Unreadable: `expands_too_much`.
        """
        if path not in self.paths:
            return None
        try:
            self.budget.spend(int(self._file.get_size(list(path))))
            with self._file.openstream(list(path)) as stream:
                return bytes(stream.read())
        except Unreadable:
            raise
        except Exception:  # noqa: BLE001 - see above: one broken stream costs only itself
            return None


class Properties:
    """The properties of one storage: of a message, a recipient or an attachment.

    Args:
        file: the compound file.
        folder: the storage.
        header: bytes before the fixed properties: 32 in a message, 24 in one within another, else 8.
        outer: the message it belongs to, whose code pages hold for it too.
    """

    def __init__(self, file: CompoundFile, folder: Path, header: int, outer: Properties | None = None) -> None:
        self._file, self._folder = file, folder
        self._fixed: dict[int, bytes] = {}
        fixed = file.stream((*folder, "__properties_version1.0")) or b""
        for position in range(header, len(fixed) - 15, 16):
            _, key = struct.unpack_from("<HH", fixed, position)
            self._fixed.setdefault(key, fixed[position + 8 : position + 16])
        of_message = self.number(_CODE_PAGE_OF_MESSAGE) or self.number(_CODE_PAGE_OF_BODY)
        inherited: str = outer.encoding if outer else "cp1252"
        self.encoding: str = _encoding(of_message) if of_message else inherited
        of_body = self.number(_CODE_PAGE_OF_BODY)
        self.body_encoding = _encoding(of_body) if of_body else self.encoding

    def text(self, key: int, *, is_body: bool = False) -> str:
        """Return a text property, empty when it is missing."""
        wide = self._stream(key, "001F")
        if wide is not None:
            return wide.decode("utf-16-le", errors="replace").rstrip("\0")
        narrow = self._stream(key, "001E")
        encoding = self.body_encoding if is_body else self.encoding
        return "" if narrow is None else narrow.decode(encoding, errors="replace").rstrip("\0")

    def binary(self, key: int) -> bytes | None:
        """Return a binary property."""
        return self._stream(key, "0102")

    def number(self, key: int) -> int | None:
        """Return a 32-bit property."""
        value = self._fixed.get(key)
        return None if value is None else int.from_bytes(value[:4], "little")

    def moment(self, key: int) -> datetime | None:
        """Return a time property, in UTC."""
        value = self._fixed.get(key)
        if value is None or not any(value):
            return None
        try:
            moment = _FILETIME_ZERO + timedelta(microseconds=int.from_bytes(value, "little") // 10)
        except OverflowError:
            return None
        return moment.replace(microsecond=0) if moment.year < 9999 else None  # noqa: PLR2004

    def _stream(self, key: int, kind: str) -> bytes | None:
        return self._file.stream((*self._folder, f"__substg1.0_{key:04X}{kind}"))


def _encoding(code_page: int) -> str:
    name = _CODE_PAGES.get(code_page, f"cp{code_page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"
