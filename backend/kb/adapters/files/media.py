"""What a file is: by its first bytes, then by its name, then by whether it reads as text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from types import MappingProxyType

from kb.domain.items import MediaType

_SAMPLE = 8192
_WRITTEN = {
    MediaType.MARKDOWN,
    MediaType.TEXT,
    MediaType.CODE,
    MediaType.HTML,
    MediaType.EML,
    MediaType.MBOX,
    MediaType.CSV,
    MediaType.NOTEBOOK,
    MediaType.FEED,
}


def _by_suffix() -> Mapping[str, MediaType]:
    families = {
        MediaType.MARKDOWN: "md markdown mdown mkd mkdn mdx qmd rmd",
        MediaType.TEXT: "txt text log rst org adoc asciidoc tex bib srt vtt textile wiki",
        MediaType.CODE: (
            "py pyi js jsx mjs cjs ts tsx java kt kts scala go rs rb php pl pm lua r jl swift m mm c h cc cpp cxx hh "
            "hpp hxx cs fs vb sh bash zsh fish ps1 bat cmd sql css scss sass less vue svelte json jsonl json5 yaml yml "
            "toml ini cfg conf properties env xml xsd xsl gradle cmake mk proto graphql tf hcl nix dart ex exs erl hrl "
            "hs lhs ml mli clj cljs edn el lisp scm rkt zig nim v sv vhd asm s diff patch dockerfile makefile"
        ),
        MediaType.PDF: "pdf",
        MediaType.IMAGE: "png jpg jpeg jpe webp gif tif tiff bmp heic heif avif svg ico",
        MediaType.AUDIO: "mp3 m4a m4b aac wav flac ogg oga opus wma aiff aif amr",
        MediaType.VIDEO: "mp4 m4v mov mkv webm avi wmv mpg mpeg 3gp",
        MediaType.HTML: "html htm xhtml mhtml",
        MediaType.CSV: "csv tsv",
        MediaType.DOCX: "docx docm dotx",
        MediaType.PPTX: "pptx pptm ppsx",
        MediaType.XLSX: "xlsx xlsm xltx",
        MediaType.XLS: "xls",
        MediaType.ODT: "odt ott",
        MediaType.ODS: "ods",
        MediaType.ODP: "odp",
        MediaType.RTF: "rtf",
        MediaType.OFFICE: "doc ppt pages numbers key",
        MediaType.EML: "eml",
        MediaType.MBOX: "mbox",
        MediaType.MSG: "msg",
        MediaType.EPUB: "epub",
        MediaType.BOOK: "mobi azw3 fb2",
        MediaType.NOTEBOOK: "ipynb",
        MediaType.FEED: "rss atom",
        MediaType.ARCHIVE: "zip tar gz tgz bz2 xz zst 7z rar",
    }
    return MappingProxyType({suffix: family for family, names in families.items() for suffix in names.split()})


_SUFFIXES = _by_suffix()

_MAGIC: tuple[tuple[bytes, MediaType], ...] = (
    (b"%PDF-", MediaType.PDF),
    (b"\x89PNG\r\n\x1a\n", MediaType.IMAGE),
    (b"\xff\xd8\xff", MediaType.IMAGE),
    (b"GIF87a", MediaType.IMAGE),
    (b"GIF89a", MediaType.IMAGE),
    (b"II*\x00", MediaType.IMAGE),
    (b"MM\x00*", MediaType.IMAGE),
    (b"BM", MediaType.IMAGE),
    (b"ID3", MediaType.AUDIO),
    (b"fLaC", MediaType.AUDIO),
    (b"OggS", MediaType.AUDIO),
    (b"\x1aE\xdf\xa3", MediaType.VIDEO),
    (b"{\\rtf", MediaType.RTF),
    (b"\x1f\x8b", MediaType.ARCHIVE),
    (b"BZh", MediaType.ARCHIVE),
    (b"\xfd7zXZ\x00", MediaType.ARCHIVE),
    (b"(\xb5/\xfd", MediaType.ARCHIVE),
    (b"7z\xbc\xaf'\x1c", MediaType.ARCHIVE),
    (b"Rar!\x1a\x07", MediaType.ARCHIVE),
    (b"SQLite format 3\x00", MediaType.OTHER),
    (b"\x7fELF", MediaType.OTHER),
    (b"MZ", MediaType.OTHER),
)
_RIFF = {b"WAVE": MediaType.AUDIO, b"AVI ": MediaType.VIDEO, b"WEBP": MediaType.IMAGE}
_BOXES = {b"heic": MediaType.IMAGE, b"heix": MediaType.IMAGE, b"mif1": MediaType.IMAGE, b"avif": MediaType.IMAGE}
_SOUND_BOXES = (b"M4A ", b"M4B ")
_ZIPPED = {
    MediaType.DOCX,
    MediaType.PPTX,
    MediaType.XLSX,
    MediaType.ODT,
    MediaType.ODS,
    MediaType.ODP,
    MediaType.EPUB,
    MediaType.OFFICE,
    MediaType.BOOK,
}
_OPEN_DOCUMENT = {b"text": MediaType.ODT, b"spreadsheet": MediaType.ODS, b"presentation": MediaType.ODP}
_OPEN_XML = ((b"word/", MediaType.DOCX), (b"ppt/", MediaType.PPTX), (b"xl/", MediaType.XLSX))
# Microsoft's older formats share one container; which is in it is told by the name of a stream, in UTF-16.
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_STREAMS = (
    ("__substg1.0_", MediaType.MSG),
    ("Workbook", MediaType.XLS),
    ("EncryptedPackage", MediaType.OFFICE),
)
_LOCKABLE = {MediaType.DOCX, MediaType.PPTX, MediaType.XLSX, MediaType.XLS}
_BEFORE_ELEMENTS = ((b"<!--", b"-->"), (b"<?", b"?>"))
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_XHTML = re.compile(rb"<(?:!doctype\s+html\b|html\b[^>]*\sxmlns=)", re.IGNORECASE)
_RSS = re.compile(rb"<(?:!doctype\s+)?rss\b", re.IGNORECASE)
_FEED_NAMES = rb"(?:http://www\.w3\.org/2005/Atom|http://purl\.org/(?:atom|rss)|http://my\.netscape\.com/)"
_ATOM = re.compile(rb"<(?:\w+:)?(?:feed|RDF)\b[^>]*" + _FEED_NAMES)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def media_type_of(path: str, data: bytes) -> MediaType:
    """Return the family of the file called `path` with the content `data`.

    Text that happens to begin like a binary format (`BM`, `ID3`) stays text: magic letters count
    only in front of bytes that are not text. A name ending in `.txt` is text whatever its encoding.
    """
    sample = data[:_SAMPLE]
    named = _named(path)
    readable = _is_text(sample)
    found = _by_content(data, sample, named)
    if found is not None and not (readable and found is not MediaType.RTF):
        return found
    if readable and sample.startswith(b"%PDF-") and named not in _WRITTEN:
        return MediaType.PDF
    if readable:
        marked = _by_markup(path, sample.removeprefix(codecs.BOM_UTF8), named)
        if marked is not None:
            return marked
    if named is not None:
        return named
    return MediaType.TEXT if readable else MediaType.OTHER


def _named(path: str) -> MediaType | None:
    name = path.rsplit("/", 1)[-1].lower()
    stem, dot, suffix = name.rpartition(".")
    # Makefile, Dockerfile: the whole name speaks; `.env` has no stem before its dot.
    return _SUFFIXES.get(suffix if dot and (stem or suffix == "env") else name)


def _by_content(data: bytes, sample: bytes, named: MediaType | None) -> MediaType | None:
    if sample.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zipped(data, named)
    if sample.startswith(_COMPOUND):
        return _compound(data, named)
    if sample.startswith(b"RIFF"):
        return _RIFF.get(sample[8:12])
    if sample[4:8] == b"ftyp":
        return _BOXES.get(sample[8:12]) or (MediaType.AUDIO if sample[8:12] in _SOUND_BOXES else MediaType.VIDEO)
    if sample[257:262] == b"ustar":
        return MediaType.ARCHIVE
    return next((media for magic, media in _MAGIC if sample.startswith(magic)), None)


def _by_markup(path: str, sample: bytes, named: MediaType | None) -> MediaType | None:
    """Return what the first element says; where the name already speaks only `.xml` leaves it open."""
    is_xml = path.lower().endswith(".xml")
    if named in _WRITTEN and not is_xml:
        return None
    root = _first_element(sample)
    if _RSS.match(root) or _ATOM.match(root):
        return MediaType.FEED
    return MediaType.HTML if (_XHTML if is_xml else _HTML).match(root) else None


def _first_element(sample: bytes) -> bytes:
    """Return what follows declarations, style sheets and comments."""
    rest = sample.lstrip()
    # One after the other: a pattern for all of them takes for ever over a page of many comments.
    while pair := next((pair for pair in _BEFORE_ELEMENTS if rest.startswith(pair[0])), None):
        _, closing, rest = rest.partition(pair[1])
        if not closing:
            return b""
        rest = rest.lstrip()
    return rest


def _zipped(data: bytes, named: MediaType | None) -> MediaType:
    head = data[:_SAMPLE]
    if b"mimetypeapplication/epub+zip" in head[:100]:
        return MediaType.EPUB
    _, mark, kind = head[:200].partition(b"mimetypeapplication/vnd.oasis.opendocument.")
    if mark:
        return next((media for name, media in _OPEN_DOCUMENT.items() if kind.startswith(name)), MediaType.OFFICE)
    # The directory at the end names every part, wherever the parts themselves lie.
    listing = head + data[-(1 << 16) :]
    if b"META-INF/container.xml" in listing:
        return MediaType.EPUB
    if b"[Content_Types].xml" in listing:
        return next((media for name, media in _OPEN_XML if name in listing), named or MediaType.OFFICE)
    return named if named in _ZIPPED and named is not None else MediaType.ARCHIVE


def _compound(data: bytes, named: MediaType | None) -> MediaType:
    found = next((media for name, media in _STREAMS if name.encode("utf-16-le") in data), None)
    if found is MediaType.OFFICE and named in _LOCKABLE and named is not None:
        return named  # a newer document with a password: its own parser says so
    if found is not None:
        return found
    return named if named in {MediaType.XLS, MediaType.MSG} and named is not None else MediaType.OFFICE


def _is_text(sample: bytes) -> bool:
    """Return whether the bytes are UTF-8 without control characters, or say they are UTF-16."""
    if sample.startswith(_BOMS[1:]):
        return True
    if _CONTROL.search(sample):
        return False
    try:
        # Not final: the sample may end inside a character.
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True
