"""What was derived from a document beside its chunks, kept as files that can be read a page at a time.

`artifacts/<doc_id>/pdf-text` and `ocr` hold pages, `transcript` holds speech. Each is JSON lines in gzip, one member a
line, so that `zcat` shows it: first a line that says where each page's member lies, then a page a line.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import logging
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from tempfile import mkstemp
from typing import Any, BinaryIO

from kb.adapters.files.atomic import private_folder, sync_file, sync_folder, unwritten
from kb.domain.errors import InvalidInput
from kb.domain.pages import PageText, WordBoxes
from kb.domain.recipes import DocumentId
from kb.domain.transcripts import Transcript, TranscriptSegment

_FOLDER = "artifacts"
_PAGES = {"text": "pdf-text", "ocr": "ocr"}
_TRANSCRIPT = "transcript"
_NAMES = (*_PAGES.values(), _TRANSCRIPT)
_WHAT = "the words of a document"
_FORMAT = "kebab-artifact-1"
# The numbers of words shrink to a third at the fastest level; slower ones gain a tenth more for three times the time.
_LEVEL = 1
_GZIP = 31
_GLANCE = 65_536
_FLUSHES = 4
_ID_LENGTH = 32
_HEX = frozenset("0123456789abcdef")
_log = logging.getLogger(__name__)


class FileArtifacts:
    """`artifacts/<doc_id>/…` below the data folder."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / _FOLDER
        self._unsettled: dict[DocumentId, dict[str, Path]] = {}
        self._is_swept = False

    def keep(self, doc_id: DocumentId, pages: Sequence[PageText], transcript: Transcript | None) -> None:
        """Write what there is beside its place; `settle` puts it there. Nothing is written when there is nothing.

        Raises:
            StorageFailed: the data folder cannot be written.
        """
        files = {name: _pages_data(pages, source) for source, name in _PAGES.items()}
        if transcript is not None:
            files[_TRANSCRIPT] = _members([asdict(transcript)], {})
        found = {name: data for name, data in files.items() if data}
        if not found:
            return
        try:
            written = {name: self._write(data) for name, data in found.items()}
        except OSError as error:
            raise unwritten(_WHAT, error) from error
        for left in self._unsettled.pop(doc_id, {}).values():
            left.unlink(missing_ok=True)
        self._unsettled[doc_id] = written

    def settle(self) -> None:
        """Make what was kept durable, several files at once, and put it in its place.

        Raises:
            StorageFailed: the disk refuses; what stood in place before still stands.
        """
        unsettled, self._unsettled = self._unsettled, {}
        new = [path for files in unsettled.values() for path in files.values()]
        if not new:
            return
        try:
            with ThreadPoolExecutor(min(len(new), _FLUSHES), thread_name_prefix="flush") as pool:
                list(pool.map(sync_file, new))
            for doc_id, files in unsettled.items():
                self._place(doc_id, files)
            sync_folder(self._folder)
        except OSError as error:
            raise unwritten(_WHAT, error) from error
        finally:
            for path in new:
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)

    def page(self, doc_id: DocumentId, page: int) -> PageText | None:
        """Return one page with its words; None when there is none, or its file is damaged."""
        for source, name in _PAGES.items():
            found = self._read(doc_id, name, str(page))
            if found is not None:
                return _page(found, source)
        return None

    def transcript(self, doc_id: DocumentId) -> Transcript | None:
        """Return what was said; None when nothing is known, or its file is damaged."""
        found = self._read(doc_id, _TRANSCRIPT, "1")
        if found is None:
            return None
        segments = tuple(TranscriptSegment(**segment) for segment in found.pop("segments"))
        return Transcript(segments=segments, **found)

    def discard(self, doc_ids: Iterable[DocumentId]) -> None:
        """Remove the artifacts of documents that are gone; whatever is not one of ours stays."""
        for doc_id in doc_ids:
            if _is_id(doc_id):
                folder = self._folder / doc_id
                for name in _NAMES:
                    (folder / name).unlink(missing_ok=True)
                with contextlib.suppress(OSError):
                    folder.rmdir()

    def files(self, doc_ids: Iterable[DocumentId]) -> Iterator[str]:
        """Yield the names of the files kept of documents, below the data folder."""
        for doc_id in doc_ids:
            if _is_id(doc_id):
                with contextlib.suppress(OSError):
                    yield from sorted(f"{_FOLDER}/{doc_id}/{path.name}" for path in (self._folder / doc_id).iterdir())

    def documents(self) -> list[DocumentId]:
        """Return the documents that have artifacts, by name."""
        try:
            names = [path.name for path in self._folder.iterdir()]
        except OSError:
            return []
        return [DocumentId(name) for name in sorted(names) if _is_id(name)]

    def damaged(self, doc_ids: Iterable[DocumentId]) -> list[DocumentId]:
        """Return those of some documents whose files are gone or, by each member's checksum, not what was written."""
        return [doc_id for doc_id in doc_ids if not (files := self._files_of(doc_id)) or not all(map(_is_sound, files))]

    def _files_of(self, doc_id: DocumentId) -> list[Path]:
        folder = self._folder / doc_id
        return [path for name in _NAMES if (path := folder / name).exists()] if _is_id(doc_id) else []

    def _place(self, doc_id: DocumentId, files: dict[str, Path]) -> None:
        folder = private_folder(self._folder / doc_id)
        for name in _NAMES:
            if name in files:
                files[name].replace(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
        sync_folder(folder)

    def _write(self, data: bytes) -> Path:
        handle, name = mkstemp(dir=self._workshop())
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return Path(name)

    def _workshop(self) -> Path:
        """Return the folder where files are written, after removing what a kill left in it."""
        folder = private_folder(self._folder / ".new")
        if not self._is_swept:
            for left in folder.iterdir():
                left.unlink(missing_ok=True)
            self._is_swept = True
        return folder

    def _read(self, doc_id: DocumentId, name: str, key: str) -> dict[str, Any] | None:
        if not _is_id(doc_id):
            return None
        try:
            with (self._folder / doc_id / name).open("rb") as file:
                return _member(file, key)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, zlib.error, EOFError, InvalidInput) as error:
            _log.warning("the %s artifact of a document cannot be read (%s)", name, type(error).__name__)
            return None


def _pages_data(pages: Sequence[PageText], source: str) -> bytes:
    """Return the file of the pages with text of one source, nothing when there is none."""
    own = [page for page in pages if page.source == source]
    rows = [
        {
            "page": page.page,
            "width": page.width,
            "height": page.height,
            "confidence": page.confidence,
            "text": page.text,
            "words": page.words.numbers.tolist(),
        }
        for page in own
    ]
    return _members(rows, {str(page.page): number for number, page in enumerate(own)}) if own else b""


def _members(rows: Sequence[dict[str, Any]], keys: dict[str, int]) -> bytes:
    """Return a gzip member a row after one that says where each lies; without keys they are numbered from 1."""
    packed = [gzip.compress(_line(row), _LEVEL, mtime=0) for row in rows]
    starts = [0]
    for member in packed:
        starts.append(starts[-1] + len(member))
    named = keys or {str(number + 1): number for number in range(len(rows))}
    places = {key: [starts[number], len(packed[number])] for key, number in named.items()}
    head = gzip.compress(_line({"format": _FORMAT, "places": places}), _LEVEL, mtime=0)
    return b"".join((head, *packed))


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _member(file: BinaryIO, key: str) -> dict[str, Any] | None:
    """Return the row under a key, reading no other.

    Raises:
        ValueError: the file is not one of ours.
    """
    unpacker = zlib.decompressobj(_GZIP)
    head, size = b"", 0
    while not unpacker.eof:
        piece = file.read(_GLANCE)
        if not piece:
            raise EOFError
        size += len(piece)
        head += unpacker.decompress(piece)
    known = json.loads(head)
    if known["format"] != _FORMAT:
        raise ValueError(_FORMAT)
    place = known["places"].get(key)
    if place is None:
        return None
    file.seek(size - len(unpacker.unused_data) + place[0])
    row: dict[str, Any] = json.loads(gzip.decompress(file.read(place[1])))
    return row


def _is_sound(path: Path) -> bool:
    """Return whether every member holds and lies where the first says, with nothing behind the last."""
    try:
        with path.open("rb") as file:
            unpacker = zlib.decompressobj(_GZIP)
            data = file.read()
        known = json.loads(unpacker.decompress(data))
        rest = unpacker.unused_data
        if known["format"] != _FORMAT or not unpacker.eof:
            return False
        ends = 0
        for start, size in sorted(known["places"].values()):
            gzip.decompress(rest[start : start + size])
            ends = start + size
    except (OSError, ValueError, KeyError, TypeError, zlib.error, EOFError):
        return False
    return ends == len(rest)


def _page(row: dict[str, Any], source: str) -> PageText:
    return PageText(
        page=row["page"],
        width=row["width"],
        height=row["height"],
        source="ocr" if source == "ocr" else "text",
        text=row["text"],
        words=WordBoxes.of(row["words"]),
        confidence=row["confidence"],
    )


def _is_id(name: str) -> bool:
    return len(name) == _ID_LENGTH and _HEX.issuperset(name)
