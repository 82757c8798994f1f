"""Small office files made in the test, part by part, and what a parser makes of them."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping

import pytest

from kb.domain.documents import ParsedBlock, ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.domain.spans import PartSpan
from kb.ingest.reading_ports import FormatParser, SourceFile

LIMITS = ReadingLimits()
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
STRICT = "http://purl.oclc.org/ooxml/officeDocument/relationships"
LAUGHS = "<!DOCTYPE a [<!ENTITY b 'ha'><!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'>]>"
XXE = "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/hostname'>]>"
HIDDEN_TYPES = "[Content_Types].xml"


def zipped(parts: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP container of these parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in parts.items():
            file.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


def relations(**targets: str) -> str:
    """A relationship part: `rId1="image:media/a.png"`; an address is external."""
    lines = []
    for identity, target in targets.items():
        kind, _, where = target.partition(":")
        outside = ' TargetMode="External"' if "://" in where else ""
        lines.append(f'<Relationship Id="{identity}" Type="{R}/{kind}" Target="{where}"{outside}/>')
    return f'<Relationships xmlns="{PACKAGE}">{"".join(lines)}</Relationships>'


def word(body: str, parts: Mapping[str, str | bytes] | None = None, prolog: str = "", **targets: str) -> bytes:
    """A Word document with this body, further parts, and relations of its main part."""
    namespaces = (
        f'xmlns:w="{W}" xmlns:r="{R}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
        'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:v="urn:schemas-microsoft-com:vml" '
        'xmlns:o="urn:schemas-microsoft-com:office:office"'
    )
    return zipped(
        {
            HIDDEN_TYPES: "<Types/>",
            "_rels/.rels": relations(
                r1="officeDocument:word/document.xml", r2="metadata/core-properties:docProps/core.xml"
            ),
            "word/document.xml": f"{prolog}<w:document {namespaces}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(**targets),
            **(parts or {}),
        }
    )


def p(text: str, style: str = "", more: str = "") -> str:
    """A paragraph of Word."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{text}</w:t></w:r>{more}</w:p>'


def png(width: int, height: int) -> bytes:
    """A grey picture, not compressed, so that its bytes tell its size."""
    rows = b"".join(b"\0" + bytes((x * 7919 + y * 104729) % 251 for x in range(width)) for y in range(height))
    header = struct.pack(">LLBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">L", len(data)) + kind + data + struct.pack(">L", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def read(parser: FormatParser, data: bytes, path: str = "a.x", limits: ReadingLimits = LIMITS) -> ParsedDocument:
    """What the parser makes of the bytes; every block's segments are checked on the way."""
    media = next(iter(parser.media_types))
    told: list[tuple[int, int, str]] = []
    document = parser.read(
        SourceFile(WorkspacePath(path), MediaType(media), data), limits, lambda *progress: told.append(progress)
    )
    assert told
    for block in document.blocks:
        position = 0
        for segment in block.segments:
            assert position <= segment.start < segment.end <= len(block.text)
            position = segment.end
    return document


def lines(document: ParsedDocument) -> list[str]:
    """`kind section: text` of each block."""
    return [f"{block.kind.value} {_number(block)}: {block.text}" for block in document.blocks]


def reason_of(parser: FormatParser, data: bytes, limits: ReadingLimits = LIMITS) -> str:
    """Why the parser refuses the bytes."""
    with pytest.raises(Unreadable) as caught:
        read(parser, data, limits=limits)
    return caught.value.reason


def _number(block: ParsedBlock) -> int:
    assert isinstance(block.span, PartSpan)
    return block.span.number
