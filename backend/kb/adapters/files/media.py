"""What a file is: by its first bytes, then by its name, then by whether it reads as text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from types import MappingProxyType

from kb.domain.items import MediaType

_SAMPLE = 8192
_WRITTEN = {MediaType.MARKDOWN, MediaType.TEXT, MediaType.CODE, MediaType.HTML, MediaType.MAIL}


def _by_suffix() -> Mapping[str, MediaType]:
    families = {
        MediaType.MARKDOWN: "md markdown mdown mkd mkdn mdx qmd rmd",
        MediaType.TEXT: "txt text log rst org adoc asciidoc tex bib csv tsv srt vtt textile wiki",
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
        MediaType.OFFICE: "docx pptx xlsx doc ppt xls odt ods odp rtf pages numbers key",
        MediaType.MAIL: "eml mbox msg",
        MediaType.BOOK: "epub mobi azw3 fb2",
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
    (b"{\\rtf", MediaType.OFFICE),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", MediaType.OFFICE),
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
_ZIPPED = {MediaType.OFFICE, MediaType.BOOK}
_HTML = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
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
    found = _by_content(sample, named)
    if found is not None and not (readable and found is not MediaType.OFFICE):
        return found
    if readable and sample.startswith(b"%PDF-") and named not in _WRITTEN:
        return MediaType.PDF
    if named not in _WRITTEN and readable and _HTML.match(sample.removeprefix(codecs.BOM_UTF8)):
        return MediaType.HTML
    if named is not None:
        return named
    return MediaType.TEXT if readable else MediaType.OTHER


def _named(path: str) -> MediaType | None:
    name = path.rsplit("/", 1)[-1].lower()
    stem, dot, suffix = name.rpartition(".")
    # Makefile, Dockerfile: the whole name speaks; `.env` has no stem before its dot.
    return _SUFFIXES.get(suffix if dot and (stem or suffix == "env") else name)


def _by_content(sample: bytes, named: MediaType | None) -> MediaType | None:
    if sample.startswith(b"PK\x03\x04"):
        return _zipped(sample, named)
    if sample.startswith(b"RIFF"):
        return _RIFF.get(sample[8:12])
    if sample[4:8] == b"ftyp":
        return _BOXES.get(sample[8:12]) or (MediaType.AUDIO if sample[8:12] in _SOUND_BOXES else MediaType.VIDEO)
    if sample[257:262] == b"ustar":
        return MediaType.ARCHIVE
    return next((media for magic, media in _MAGIC if sample.startswith(magic)), None)


def _zipped(sample: bytes, named: MediaType | None) -> MediaType:
    if b"mimetypeapplication/epub+zip" in sample[:100]:
        return MediaType.BOOK
    if named in _ZIPPED:
        return named
    if b"mimetypeapplication/vnd.oasis.opendocument" in sample[:100] or b"[Content_Types].xml" in sample:
        return MediaType.OFFICE
    return MediaType.ARCHIVE


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
