"""File bytes with ranges (RFC 9110 section 14), read through one open file."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse

from kb.bridge.replies import problem_reply
from kb.contract.files import LocalFile
from kb.contract.problems import problem

_PIECE = 262_144
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z")
_UTF8 = r"(?:; charset=utf-8)?"
_INLINE = re.compile(
    rf"(?:image/(?:png|jpeg|gif|webp)|audio/[\w.+-]+|video/[\w.+-]+|application/pdf|text/plain{_UTF8})\Z"
)
# What no browser runs, whatever it does with it; all others are sent as bytes of no particular type.
_INERT = re.compile(
    r"(?:image/(?:avif|bmp|heic|heif|tiff|x-icon)|message/rfc822"
    r"|application/(?:vnd\.[\w.-]+|rtf|zip|gzip|x-tar|mbox|epub\+zip|x-ipynb\+json)"
    rf"|text/(?:markdown|csv){_UTF8})\Z"
)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The headers of a request that say which bytes it wants, and whether it has them already."""

    ranges: str | None = None
    if_range: str | None = None
    if_none_match: str | None = None


def file_reply(file: LocalFile, asked: Conditions, *, head: bool) -> Response:
    """Return a file, or the part of it that was asked for, or that the reader has it already.

    Only what a browser shows and cannot run is shown; all else is an attachment, and what it could run (HTML, SVG,
    XML) one of no particular type.
    """
    try:
        opened = _open(file)
    except OSError:
        return problem_reply(problem(404, "not_found", "the file is gone", hint="run `kb ingest`"))
    size = os.fstat(opened.fileno()).st_size
    headers = {"accept-ranges": "bytes", "etag": f'"{file.etag}"'}
    if _INLINE.match(file.media_type):
        media_type = file.media_type
    else:
        media_type = file.media_type if _INERT.match(file.media_type) else "application/octet-stream"
        name = f"; filename*=UTF-8''{quote(file.name, safe='')}" if file.name else ""
        headers["content-disposition"] = f"attachment{name}"
    if asked.if_none_match is not None and _matches(asked.if_none_match, headers["etag"]):
        opened.close()
        return Response(None, 304, {"etag": headers["etag"]})
    wanted = asked.ranges if asked.if_range in {None, headers["etag"]} else None
    part = parse_range(wanted, size)
    if part == ():
        opened.close()
        reply = problem_reply(problem(416, "range_not_satisfiable", "the file has no such part"))
        reply.headers["content-range"] = f"bytes */{size}"
        return reply
    start, end = part or (0, size)
    if part:
        headers["content-range"] = f"bytes {start}-{end - 1}/{size}"
    headers["content-length"] = str(end - start)
    status = 206 if part else 200
    if head:
        opened.close()
        return Response(None, status, headers, media_type)
    return StreamingResponse(_pieces(opened, start, end), status, headers, media_type)


def parse_range(header: str | None, size: int) -> tuple[int, int] | tuple[()] | None:
    """Return the half-open range a `Range` header asks for of `size` bytes.

    None means everything: no header, several ranges or another unit. Empty means there is no such part.
    """
    match = _RANGE.match(header) if header else None
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        length = int(match[2])
        return (max(0, size - length), size) if length and size else ()
    start, end = int(match[1]), int(match[2]) + 1 if match[2] else size
    if end <= start and match[2]:
        return None  # the last byte before the first: not a range, so ignored
    return (start, min(end, size)) if start < size else ()


def _matches(tags: str, ours: str) -> bool:
    """Return whether an `If-None-Match` header names our tag; weak tags compare as strong (RFC 9110 section 13.1.2)."""
    return tags.strip() == "*" or ours in [tag.strip().removeprefix("W/") for tag in tags.split(",")]


def _open(file: LocalFile) -> BinaryIO:
    # the facade resolved the path: a link in its place now was put there since
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    number = os.open(file.path, flags)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError("not a regular file")
    return os.fdopen(number, "rb")


def _pieces(opened: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    with opened:
        opened.seek(start)
        while start < end and (piece := opened.read(min(_PIECE, end - start))):
            start += len(piece)
            yield piece
