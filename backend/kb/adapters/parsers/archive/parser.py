"""The parser of archives: what is in them comes out as members, within limits; nothing is ever written to disk."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass, replace
from typing import Literal

from kb.adapters.parsers.archive.streams import plain_bytes
from kb.adapters.parsers.shared.archive import Budget, damaged, files_in_zip
from kb.adapters.parsers.shared.names import clean_name, numbered
from kb.adapters.parsers.shared.old_names import tar_names
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import Member, ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "archive-v2"

_TAR_MAGIC_AT = 257
# A ZIP is read from its end, so that one may stand behind the program that unpacks it.
_ZIP_END, _ZIP_END_WITHIN = b"PK\x05\x06", (1 << 16) + 22
_PACKED: dict[bytes, str] = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz"}
_UNSUPPORTED: dict[bytes, str] = {b"7z\xbc\xaf'\x1c": "7z", b"Rar!\x1a\x07": "RAR", b"(\xb5/\xfd": "Zstandard"}
_FAILURES = frozenset(("damaged", "unsupported"))
_JUNK = frozenset((".ds_store", "thumbs.db", "desktop.ini"))


@dataclass(frozen=True, slots=True)
class _Found:
    """A member, or why it is none: `reason` is a stable word then."""

    name: str
    data: bytes = b""
    modified_ns: int | None = None
    reason: str = ""


class ArchiveParser:
    """Reads ZIP and tar archives, and single files packed with gzip, bzip2 or xz."""

    media_types = frozenset({MediaType.ARCHIVE})
    version = VERSION

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return the files in an archive as members; the ledger has one unit a file.

        Raises:
            Unreadable: `damaged`, `locked`, `unsupported`, `too_many_entries`, `expands_too_much`.
        """
        data = source.data
        for magic, name in _UNSUPPORTED.items():
            if data.startswith(magic):
                raise Unreadable(
                    f"{name} archives are not read",
                    hint="unpack it and add what is in it, or pack it as ZIP",
                    reason="unsupported",
                )
        tell(0, 0, "file")
        if data.startswith(b"PK"):
            found = _from_zip(source, limits, tell)
        else:
            packing = next((name for magic, name in _PACKED.items() if data.startswith(magic)), "")
            content = plain_bytes(data, packing, Budget(limits, len(data))) if packing else data
            if content[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5] == b"ustar" or (not packing and _is_old_tar(content)):
                found = _from_tar(content, limits, tell)
            elif packing:
                found = [_Found(_unpacked_name(source.path), content)]
            elif _ZIP_END in data[-_ZIP_END_WITHIN:]:
                found = _from_zip(source, limits, tell)
            else:
                raise damaged("it is no archive, or only a part of one")
        members = [one for one in found if not one.reason]
        names = numbered(clean_name(one.name) for one in members)
        return ParsedDocument(
            blocks=(),
            coverage=_ledger(found),
            members=tuple(Member(name, one.data, one.modified_ns) for name, one in zip(names, members, strict=True)),
        )


def _from_zip(source: SourceFile, limits: ReadingLimits, tell: Tell) -> list[_Found]:
    found: list[_Found] = []
    for one in files_in_zip(source.data, limits, source.password, lambda done, total: tell(done, total, "file")):
        reason = one.reason or ("link" if one.is_link else _system(one.name))
        found.append(_Found(one.name, b"" if reason else one.data, one.modified_ns, reason))
    return found


def _from_tar(content: bytes, limits: ReadingLimits, tell: Tell) -> list[_Found]:
    budget = Budget(limits, len(content))
    found: list[_Found] = []
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            while (entry := archive.next()) is not None:
                if entry.isdir():
                    continue
                if len(found) >= limits.entries:
                    raise Unreadable(
                        f"it holds more than {limits.entries} files",
                        hint="unpack it yourself, or raise limits.entries",
                        reason="too_many_entries",
                    )
                tell(len(found), 0, "file")
                found.append(_tar_member(archive, entry, budget))
            # The library takes any nonsense after the first member for the end.
            if any(content[archive.offset : archive.offset + tarfile.BLOCKSIZE]):
                found.append(_Found("", reason="damaged"))
    except (tarfile.TarError, OSError, ValueError, EOFError, OverflowError) as error:
        if not found:
            raise damaged("it is no archive, or only a part of one") from error
        found.append(_Found("", reason="damaged"))
    names = tar_names([one.name for one in found])
    return [replace(one, name=name) for one, name in zip(found, names, strict=True)]


def _tar_member(archive: tarfile.TarFile, entry: tarfile.TarInfo, budget: Budget) -> _Found:
    if not entry.isreg():
        return _Found(entry.name, reason="link" if entry.issym() or entry.islnk() else "special_file")
    reason = _system(entry.name)
    if reason:
        return _Found(entry.name, reason=reason)
    # Before anything is made of it: a sparse file may claim any size.
    budget.spend(entry.size)
    content = archive.extractfile(entry)
    data = content.read() if content is not None else b""
    moment = int(entry.mtime) * 1_000_000_000 if 0 < entry.mtime < 1 << 40 else None
    return _Found(entry.name, data, moment)


def _is_old_tar(content: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(content[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True


def _system(name: str) -> str:
    """Return the reason to leave out what operating systems put into archives, empty for all else."""
    parts = name.replace("\\", "/").split("/")
    return "system_file" if "__MACOSX" in parts or parts[-1].lower() in _JUNK else ""


def _unpacked_name(path: str) -> str:
    name = path.rpartition("/")[2]
    stem, dot, _ = name.rpartition(".")
    return stem if dot and stem else "content"


def _ledger(found: list[_Found]) -> tuple[CoverageUnit, ...]:
    units: list[CoverageUnit] = []
    for number, one in enumerate(found, 1):
        last = units[-1] if units else None
        if last and (last.reason or "") == one.reason:
            units[-1] = CoverageUnit("section", last.start, number, last.state, reason=last.reason)
        elif one.reason:
            state: Literal["failed", "skipped"] = "failed" if one.reason in _FAILURES else "skipped"
            units.append(CoverageUnit("section", number, number, state, reason=one.reason))
        else:
            units.append(CoverageUnit("section", number, number, "text"))
    return tuple(units)
