"""What reading one file may take. A file beyond a limit fails with its reason; it is never cut short in silence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits for one file.

    Attributes:
        seconds: wall time without any progress; a page, a piece of sound or a message is progress.
        total_seconds: wall time of the whole file.
        memory_mb: resident memory of the process that reads.
        pages: of a document.
        pixels: of one picture, frame or page image.
        frames: of one picture file.
        sound_seconds: length of a recording.
        entries: members of an archive, messages of a mailbox, parts of a package.
        expanded_mb: bytes that unpacking a file may give in all.
        expansion_ratio: unpacked bytes for each packed byte, of files that unpack to more than a megabyte.
        depth: archives within archives, messages within messages.
        cells: of all tables of a document.
        characters: of text of a document.
    """

    seconds: float = 120.0
    total_seconds: float = 4 * 3600.0
    memory_mb: int = 1536
    pages: int = 20_000
    pixels: int = 120_000_000
    frames: int = 500
    sound_seconds: int = 12 * 3600
    entries: int = 10_000
    expanded_mb: int = 256
    expansion_ratio: int = 100
    depth: int = 3
    cells: int = 2_000_000
    characters: int = 200_000_000
