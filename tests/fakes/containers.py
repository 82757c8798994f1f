"""Small files of container formats, made in memory: ZIP, EPUB, tar, and the compound files Outlook writes."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Tree: TypeAlias = "Mapping[str, bytes | Tree]"

CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
    '<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
    "</container>"
)


def make_zip(files: Mapping[str, str | bytes]) -> bytes:
    """A ZIP container of these files, in this order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (2026, 3, 1, 12, 0, 0))
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def make_epub(
    pages: Mapping[str, str | None],
    *,
    metadata: str = "",
    extra: Mapping[str, str | bytes] | None = None,
    manifest: str = "",
    prolog: str = "",
) -> bytes:
    """A book of these pages in `OEBPS/`, in reading order; a page that is None is listed, but not there."""
    items = "".join(
        f'<item id="p{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="p{n}"/>' for n in range(len(pages)))
    package = (
        f'{prolog}<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata>{metadata}</metadata><manifest>{items}{manifest}</manifest><spine>{spine}</spine></package>"
    )
    files: dict[str, str | bytes] = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER}
    files["OEBPS/book.opf"] = package
    files |= {f"OEBPS/{name}": page for name, page in pages.items() if page is not None}
    return make_zip(files | dict(extra or {}))


def make_tar(files: Sequence[tuple[str, bytes]], *, links: Sequence[tuple[str, str]] = (), mode: str = "w") -> bytes:
    """A tar archive of these files, then of these symbolic links (name, where to)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        for name, target in links:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    return buffer.getvalue()


def make_png(width: int, height: int, size: int) -> bytes:
    """The header of a PNG of these measures, filled up to `size` bytes."""
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return head.ljust(size, b"\x00")


def make_compound(tree: Tree) -> bytes:
    """A compound file (MS-CFB, version 3) with these streams (bytes) and storages (mappings)."""
    writer = _Compound()
    writer.add(tree, 0)
    return writer.written()


@dataclass
class _Entry:
    name: str
    kind: int
    right: int = -1
    child: int = -1
    start: int = 0
    size: int = 0

    def written(self) -> bytes:
        spelt = self.name.encode("utf-16-le") + b"\0\0"
        places = (1, -1, self.right, self.child, b"", 0, 0, 0, self.start, self.size)
        return struct.pack("<64sHBBiii16sIQQIQ", spelt, len(spelt), self.kind, *places)


class _Compound:
    def __init__(self) -> None:
        self.entries = [_Entry("Root Entry", 5)]
        self.small, self.mini_fat = bytearray(), b""
        self.big: list[tuple[_Entry, bytes]] = []

    def add(self, folder: Tree, parent: int) -> None:
        previous = -1
        for name in sorted(folder, key=lambda one: (len(one), one.upper())):
            content = folder[name]
            index = len(self.entries)
            entry = _Entry(name, 2 if isinstance(content, bytes) else 1)
            self.entries.append(entry)
            if previous < 0:
                self.entries[parent].child = index
            else:
                self.entries[previous].right = index
            previous = index
            if isinstance(content, bytes):
                self._store(entry, content)
            else:
                self.add(content, index)

    def _store(self, entry: _Entry, content: bytes) -> None:
        entry.size, entry.start = len(content), len(self.small) // 64
        if len(content) >= 4096:
            self.big.append((entry, content))
        elif content:
            count = -(-len(content) // 64)
            self.mini_fat += _chain(entry.start, count)
            self.small += content.ljust(count * 64, b"\0")

    def written(self) -> bytes:
        directory = -(-len(self.entries) // 4)
        streams = [b"\0" * 512 * directory, self.mini_fat, bytes(self.small), *(content for _, content in self.big)]
        counts = [-(-len(stream) // 512) for stream in streams]
        fats = next(n for n in range(1, 109) if n * 128 >= sum(counts) + n)
        starts = [fats + sum(counts[:n]) for n in range(len(counts))]
        self.entries[0].start, self.entries[0].size = starts[2], len(self.small)
        for (entry, _), start in zip(self.big, starts[3:], strict=True):
            entry.start = start
        streams[0] = b"".join(entry.written() for entry in self.entries)
        fat = struct.pack("<I", 0xFFFFFFFD) * fats + b"".join(map(_chain, starts, counts))
        body = b"".join(stream.ljust(count * 512, b"\0") for stream, count in zip(streams, counts, strict=True))
        head = struct.pack(
            "<8s16sHHHHH6x", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6
        ) + struct.pack("<9I", 0, fats, starts[0], 0, 4096, starts[1], counts[1], 0xFFFFFFFE, 0)
        table = b"".join(struct.pack("<I", n if n < fats else 0xFFFFFFFF) for n in range(109))
        return head + table + fat.ljust(fats * 512, b"\xff") + body


def _chain(first: int, count: int) -> bytes:
    return b"".join(struct.pack("<I", first + n + 1 if n + 1 < count else 0xFFFFFFFE) for n in range(count))


def make_properties(header: int, numbers: Mapping[int, int]) -> bytes:
    """The stream of fixed properties of a message in a compound file: 64-bit values by their keys."""
    rows = (struct.pack("<HHIQ", 3, key, 6, value) for key, value in numbers.items())
    return b"\0" * header + b"".join(rows)


def wide_texts(texts: Mapping[int, str]) -> dict[str, bytes]:
    """Text properties in UTF-16 as streams."""
    return {f"__substg1.0_{key:04X}001F": text.encode("utf-16-le") for key, text in texts.items()}
