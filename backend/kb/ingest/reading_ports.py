"""What reading in a child process needs: parsers of heavy formats, and the engines for pictures and speech."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kb.domain.documents import ParsedDocument
from kb.domain.files import FileBytes
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath

Tell = Callable[[int, int, str], None]
"""Takes progress: how many of how many units (`page`, `second`, `message`, ...) are done. Telling it shows life."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as a format parser gets it.

    Attributes:
        path: for its suffix and for titles; never opened.
        data: the whole content; only its first bytes when `disk_path` is given.
        checksum: full blake3 of the whole content.
        disk_path: absolute; where a file too large for memory lies. Only sound and video come this way.
        password: for locked files; never stored, logged or put into a message.
        scratch: a folder in which unfinished work of this content may be kept between runs; None if nowhere.
    """

    path: WorkspacePath
    media_type: MediaType
    data: bytes
    checksum: str = ""
    disk_path: str | None = None
    password: str | None = field(default=None, repr=False)
    scratch: str | None = None


class FormatParser(Protocol):
    """Reads one family of files, in a child process, within limits."""

    @property
    def media_types(self) -> frozenset[MediaType]:
        """What this parser reads."""

    @property
    def version(self) -> str:
        """Changes whenever the same bytes would give other blocks; includes the engines it uses."""

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return blocks with places, coverage, pages, members.

        Raises:
            Unreadable: nothing can be made of the bytes, or a limit is exceeded; `reason` is one stable word:
                `damaged`, `locked` (a password is missing or wrong), `too_big`, `too_many_pages`, `too_many_pixels`,
                `too_long`, `too_many_entries`, `expands_too_much`, `nested_too_deep`, `too_complex`, `unsupported`,
                `wrong_type` (the content is not what name or header say).
        """


class FormatReader(Protocol):
    """Runs format parsers in child processes, several files at once."""

    @property
    def media_types(self) -> frozenset[MediaType]:
        """What can be read."""

    def version(self, media_type: MediaType) -> str:
        """Return the parser's version, without starting a child."""

    def begin(
        self, content: FileBytes, path: WorkspacePath, media_type: MediaType, password: str | None = None
    ) -> Reading:
        """Queue a file; it is read as soon as a child is free."""

    @property
    def width(self) -> int:
        """Return how many files are read at once."""


class Reading(Protocol):
    """A file that is being read."""

    def wait(self, seconds: float) -> bool:
        """Wait for the end; return whether it has come."""

    def progress(self) -> tuple[int, int, str]:
        """Return units done, units in all and their kind; (0, 0, "") before anything is known."""

    def result(self) -> ParsedDocument:
        """Return the document, waiting for it.

        Raises:
            Unreadable: as the parser says; or `crashed`, `too_slow`, `too_much_memory` of the child.
        """

    def cancel(self) -> None:
        """Give up: a file in work costs its child, one that waits nothing."""


@dataclass(frozen=True, slots=True)
class Raster:
    """A picture as 8-bit RGB rows, top to bottom: `width * height * 3` bytes; `dpi` when known."""

    width: int
    height: int
    rgb: bytes = field(repr=False)
    dpi: float | None = None


@dataclass(frozen=True, slots=True)
class OcrWord:
    """Characters `start` to `end` of a line's text; box in pixels of the picture as it was given, unrotated."""

    start: int
    end: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A recognised line.

    Attributes:
        words: in order; at least one, which may span the whole line.
        confidence: 0-1.
        block: number of the paragraph or column block the line belongs to, rising in reading order.
        language: ISO 639-1 code of the engine that read it, `und` when it reads several.
    """

    text: str
    words: tuple[OcrWord, ...]
    confidence: float
    block: int
    language: str = "und"


@dataclass(frozen=True, slots=True)
class OcrPage:
    """What stands on a picture, in reading order; `turned` are the degrees clockwise that make it upright."""

    lines: tuple[OcrLine, ...]
    turned: int = 0


class PictureTextReader(Protocol):
    """Recognises text on pictures. Loads its models when first used."""

    @property
    def version(self) -> str:
        """Engines, models and rules of order."""

    def read(self, picture: Raster) -> OcrPage:
        """Return the lines of a picture; none when it shows no text."""


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word with its leading space as the engine gives it; seconds from the start of the recording."""

    text: str
    start: float
    end: float
    probability: float


@dataclass(frozen=True, slots=True)
class SpokenSegment:
    """A phrase of speech; `confidence` 0-1.

    A segment whose only word has no text is a stretch of speech that could not be understood.
    """

    words: tuple[SpokenWord, ...]
    confidence: float
    language: str


class SpeechReader(Protocol):
    """Recognises speech. Loads its model when first used."""

    @property
    def version(self) -> str:
        """Engine, model and options."""

    def read(self, samples: bytes, offset: float, language: str | None) -> Iterator[SpokenSegment]:
        """Yield what is said in mono float32 samples at 16 kHz; times have `offset` seconds added.

        `language` is what earlier pieces were in, None to detect it.
        """


@dataclass(frozen=True, slots=True)
class Recording:
    """What a sound or video file says about itself, before it is decoded.

    Attributes:
        seconds: its length as far as can be told without decoding, 0.0 when nothing can.
        has_sound: whether there is a sound track.
        tags: names in lower case, as the container has them.
        chapters: (start in seconds, title), in order.
        sound_seconds: where the sound track ends by its own account, None when it gives none: a film may go on.
    """

    seconds: float
    has_sound: bool
    tags: Mapping[str, str] = field(default_factory=dict)
    chapters: tuple[tuple[float, str], ...] = ()
    sound_seconds: float | None = None


class SoundDecoder(Protocol):
    """Decodes the sound track of audio and video files."""

    def about(self, source: SourceFile, limits: ReadingLimits) -> Recording:
        """Look at a file without decoding it.

        Raises:
            Unreadable: as `FormatParser.read`.
        """

    def pieces(self, source: SourceFile, limits: ReadingLimits) -> Iterator[tuple[float, bytes]]:
        """Yield (start in seconds, mono float32 samples at 16 kHz) of a few minutes each, cut in pauses.

        The same file gives the same pieces, so work can be taken up again at any of them.

        Raises:
            Unreadable: as `FormatParser.read`; the length that counts is the decoded one.
        """
