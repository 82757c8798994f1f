"""`RecordingParser`: what is said in sound and video files, word by word with its time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kb.adapters.parsers.sound.ledger import all_as, seconds_heard, whole_seconds
from kb.adapters.parsers.sound.notes import PieceNotes
from kb.adapters.parsers.sound.passages import blocks_of, is_text, settled, transcript_segments
from kb.adapters.parsers.sound.tags import front_matter_of
from kb.domain.documents import ParsedDocument, ParseWarning
from kb.domain.errors import Unreadable
from kb.domain.ids import Json
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.metadata import ProvenanceKind
from kb.domain.transcripts import Transcript
from kb.ingest.reading_ports import Recording, SoundDecoder, SourceFile, SpeechReader, SpokenSegment, Tell

VERSION = "sound-v1"
_SAMPLE_BYTES, _RATE = 4, 16_000
# A container may be off by its last frames; more is missing.
_MISSING_SECONDS, _MISSING_SHARE = 2.0, 0.02


class RecordingParser:
    """The `FormatParser` of sound and video.

    A recording is heard piece by piece; each finished piece is kept in the scratch folder, so that what was
    interrupted goes on where it stopped.

    Args:
        decoder: gives the sound.
        speech: None when there is no model: recordings then wait for one.
    """

    def __init__(self, decoder: SoundDecoder, speech: SpeechReader | None) -> None:
        self._decoder = decoder
        self._speech = speech

    @property
    def media_types(self) -> frozenset[MediaType]:
        """Sound and video."""
        return frozenset((MediaType.AUDIO, MediaType.VIDEO))

    @property
    def version(self) -> str:
        """Parser and engine; another one when a model comes or goes."""
        return f"{VERSION}+{self._speech.version if self._speech else 'none'}"

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return paragraphs of what is said, with a segment a word, and what became of every second.

        Raises:
            Unreadable: as `FormatParser.read`; `damaged` for a sound file without sound. A video without a sound
                track is read: all its seconds are skipped.
        """
        about = self._decoder.about(source, limits)
        front_matter = front_matter_of(about.tags)
        if not about.has_sound:
            if source.media_type is not MediaType.VIDEO:
                raise Unreadable(
                    "there is no sound track in this sound file", hint="get the file again", reason="damaged"
                )
            return ParsedDocument((), front_matter, coverage=all_as("skipped", about.seconds, "no_sound"))
        if self._speech is None:
            waiting = all_as("waiting", about.seconds, "speech_model")
            blocks = blocks_of((), about.chapters, about.seconds)
            return ParsedDocument(blocks, front_matter, coverage=waiting, waits_for="speech_model")
        heard, seconds = self._hear(self._speech, source, limits, about, tell)
        return _document(self._speech.version, about, front_matter, settled(heard, seconds), seconds)

    def _hear(
        self, speech: SpeechReader, source: SourceFile, limits: ReadingLimits, about: Recording, tell: Tell
    ) -> tuple[list[SpokenSegment], float]:
        """Return all that is said, and the decoded length in seconds."""
        notes = PieceNotes(Path(source.scratch) if source.scratch else None, f"{source.checksum} {self.version}")
        heard: list[SpokenSegment] = []
        language: str | None = None
        whole = whole_seconds(about.seconds)
        end = 0.0
        for start, samples in self._decoder.pieces(source, limits):
            end = start + len(samples) / _SAMPLE_BYTES / _RATE
            piece = notes.kept(start, end)
            if piece is None:
                piece = []
                tell(int(start), max(whole, int(start)), "second")
                for segment in _told(speech.read(samples, start, language), end, whole, tell):
                    piece.append(segment)
                notes.keep(start, end, piece)
            heard += piece
            language = _language(piece) or language
            tell(int(end), max(whole, int(end)), "second")
        return heard, end


def _told(segments: Iterator[SpokenSegment], end: float, whole: int, tell: Tell) -> Iterator[SpokenSegment]:
    for segment in segments:
        done = int(min(segment.words[-1].end, end)) if segment.words else 0
        tell(done, max(whole, done), "second")
        yield segment


def _document(
    engine: str, about: Recording, front_matter: dict[str, Json], segments: list[SpokenSegment], seconds: float
) -> ParsedDocument:
    language = _language(segments)
    # For Chinese the text itself tells Simplified from Traditional.
    if language is not None and language != "zh":
        front_matter = {**front_matter, "lang": language}
    promised = about.seconds if about.sound_seconds is None else about.sound_seconds
    missing = promised - seconds
    warnings: tuple[ParseWarning, ...] = ()
    if missing > max(_MISSING_SECONDS, _MISSING_SHARE * promised):
        note = f"the file says it lasts {promised:.0f} s, but its sound ends after {seconds:.0f} s"
        warnings = (ParseWarning("extract_failed", note),)
    transcript = Transcript(transcript_segments(segments), engine, language or "und", round(seconds * 1000))
    return ParsedDocument(
        blocks_of(segments, about.chapters, seconds),
        front_matter,
        warnings,
        coverage=seconds_heard(segments, seconds, promised, about.seconds),
        transcript=transcript,
        steps=((ProvenanceKind.TRANSCRIBED, engine),),
    )


def _language(segments: list[SpokenSegment]) -> str | None:
    """Return the language most words are in, None without any; of two as frequent, the one that comes first."""
    counts: dict[str, int] = {}
    for segment in filter(is_text, segments):
        counts[segment.language] = counts.get(segment.language, 0) + len(segment.words)
    return max(counts, key=lambda language: counts[language]) if counts else None
