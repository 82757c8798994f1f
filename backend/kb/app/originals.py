"""The bytes of items: where they are, what they are, and a rendition for players that lack a codec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from kb.contract.files import LocalFile
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.ids import content_hash
from kb.domain.items import MEMBER, MediaType
from kb.domain.reading import Original

OCTETS = "application/octet-stream"
_HEAD = 64
_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
_MIME: Mapping[MediaType, str] = {
    MediaType.MARKDOWN: "text/markdown; charset=utf-8",
    MediaType.TEXT: "text/plain; charset=utf-8",
    MediaType.CODE: "text/plain; charset=utf-8",
    MediaType.PDF: "application/pdf",
    MediaType.HTML: "text/html",
    MediaType.FEED: "application/xml",
    MediaType.DOCX: f"{_OFFICE}.wordprocessingml.document",
    MediaType.PPTX: f"{_OFFICE}.presentationml.presentation",
    MediaType.XLSX: f"{_OFFICE}.spreadsheetml.sheet",
    MediaType.XLS: "application/vnd.ms-excel",
    MediaType.ODT: f"{_OPEN}.text",
    MediaType.ODS: f"{_OPEN}.spreadsheet",
    MediaType.ODP: f"{_OPEN}.presentation",
    MediaType.RTF: "application/rtf",
    MediaType.CSV: "text/csv; charset=utf-8",
    MediaType.EML: "message/rfc822",
    MediaType.MBOX: "application/mbox",
    MediaType.MSG: "application/vnd.ms-outlook",
    MediaType.EPUB: "application/epub+zip",
    MediaType.NOTEBOOK: "application/x-ipynb+json",
}
# By name, within the kind that the content was found to be.
_SUFFIXES: Mapping[MediaType, Mapping[str, str]] = {
    MediaType.IMAGE: {
        "png": "image/png",
        "jpg": "image/jpeg",
        "jpeg": "image/jpeg",
        "jpe": "image/jpeg",
        "gif": "image/gif",
        "webp": "image/webp",
        "bmp": "image/bmp",
        "ico": "image/x-icon",
        "tif": "image/tiff",
        "tiff": "image/tiff",
        "heic": "image/heic",
        "heif": "image/heif",
        "avif": "image/avif",
        "svg": "image/svg+xml",
    },
    MediaType.AUDIO: {
        "mp3": "audio/mpeg",
        "m4a": "audio/mp4",
        "m4b": "audio/mp4",
        "aac": "audio/aac",
        "wav": "audio/wav",
        "flac": "audio/flac",
        "ogg": "audio/ogg",
        "oga": "audio/ogg",
        "opus": "audio/ogg",
        "weba": "audio/webm",
        "aif": "audio/aiff",
        "aiff": "audio/aiff",
        "wma": "audio/x-ms-wma",
        "amr": "audio/amr",
    },
    MediaType.VIDEO: {
        "mp4": "video/mp4",
        "m4v": "video/mp4",
        "mov": "video/quicktime",
        "webm": "video/webm",
        "mkv": "video/x-matroska",
        "avi": "video/x-msvideo",
        "ogv": "video/ogg",
        "mpg": "video/mpeg",
        "mpeg": "video/mpeg",
    },
    MediaType.ARCHIVE: {"zip": "application/zip", "tar": "application/x-tar", "gz": "application/gzip"},
}
# What the first bytes say outweighs the name.
_MAGIC = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (8, b"WAVE", "audio/wav"),
    (0, b"fLaC", "audio/flac"),
    (0, b"ID3", "audio/mpeg"),
)

Renditions = Callable[[Path, str], Path]
"""Gives the Opus rendition of a recording, by its path and its checksum; raises our errors."""


class Originals:
    """Finds bytes inside our own data or the workspace, and nowhere else."""

    def __init__(self, workspace: Path, data_dir: Path, renditions: Renditions) -> None:
        self._workspace = workspace
        self._data_dir = data_dir
        self._renditions = renditions

    def file(self, original: Original, rendition: str | None = None) -> LocalFile:
        """Return the file of a version, or its rendition: `opus`, of sound and video.

        Raises:
            NotFound: the original is gone.
            InvalidInput: there is no such rendition of it.
            KebabError: the rendition could not be made.
        """
        path = self.path(original)
        name = original.path.rpartition("/")[2]
        # A file of the workspace may change at any time: its tag must change with it.
        now = path.stat()
        is_copy = path.is_relative_to(self._data_dir.resolve())
        etag = original.checksum if is_copy else f"{now.st_size:x}-{now.st_mtime_ns:x}"
        if rendition is None:
            return LocalFile(path=path, media_type=mime_of(original.media, name, _head(path)), etag=etag, name=name)
        if rendition != "opus" or original.media not in {MediaType.AUDIO, MediaType.VIDEO}:
            raise InvalidInput(
                f"there is no rendition {rendition[:20]!r} of {original.path}",
                hint="`opus` is made of sound and video",
            )
        made = self._renditions(path, original.checksum if is_copy else content_hash(etag.encode()))
        return LocalFile(path=made, media_type="audio/ogg", etag=f"{etag}-opus", name=f"{name}.opus")

    def path(self, original: Original) -> Path:
        """Return where the bytes of a version are.

        Raises:
            NotFound: they are gone, or were never kept apart from their container.
        """
        if original.storage_kind == "copied":
            path = _inside(self._data_dir, original.storage_path)
            if path is not None and path.is_file():
                return path
        path = _inside(self._workspace, original.disk_name)
        # The file there now is an earlier version only while its bytes are still the same.
        is_there = path is not None and path.is_file()
        if path and is_there and (original.is_current or content_hash(path.read_bytes()) == original.checksum):
            return path
        container, mark, _ = original.path.partition(MEMBER)
        if mark:
            raise NotFound(f"{original.path} is kept inside {container} only", hint="open that file in its own program")
        raise NotFound(f"the original of {original.path} is gone", hint="put the file back, or run `kb ingest`")


def kind_by_name(name: str) -> MediaType | None:
    """Return what a file seems to be by its suffix: all there is to go by where it could not be read."""
    suffix = name.rpartition(".")[2].lower()
    if suffix in {media.value for media in _MIME}:
        return MediaType(suffix)
    return next((kind for kind, known in _SUFFIXES.items() if suffix in known), None)


def mime_of(media: MediaType | None, name: str, head: bytes = b"") -> str:
    """Return the MIME type of a file by its kind, its first bytes and its name; octets where nothing is known."""
    kind = media or kind_by_name(name) or MediaType.OTHER
    if kind in _MIME:
        return _MIME[kind]
    by_suffix = _SUFFIXES.get(kind, {})
    said = next((mime for at, magic, mime in _MAGIC if head[at : at + len(magic)] == magic), None)
    if said is not None and said in by_suffix.values():
        return said
    return by_suffix.get(name.rpartition(".")[2].lower(), OCTETS)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def _inside(root: Path, relative: str) -> Path | None:
    base = root.resolve()
    path = (base / relative).resolve()
    return path if path.is_relative_to(base) else None
