"""Stand-ins for decoding and recognising speech: a recording is a list of what is said and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from kb.ingest.reading_ports import Recording, SourceFile, SpokenSegment, SpokenWord

RATE = 16_000


def phrase(
    text: str, start: float, end: float, *, confidence: float = 0.9, language: str = "en", joined: bool = False
) -> SpokenSegment:
    """Return a segment whose words share the time evenly; `joined` words have no spaces between them."""
    parts = list(text) if joined else [f" {word}" for word in text.split()]
    step = (end - start) / max(len(parts), 1)
    words = tuple(
        SpokenWord(part, round(start + n * step, 3), round(start + (n + 1) * step, 3), confidence)
        for n, part in enumerate(parts)
    )
    return SpokenSegment(words, confidence, language)


def not_understood(start: float, end: float) -> SpokenSegment:
    return SpokenSegment((SpokenWord("", start, end, 0.0),), 0.0, "und")


@dataclass
class FakeDecoder:
    """Gives silence of `seconds`, in pieces of `piece` seconds; claims `claimed` seconds, `track` of them sound."""

    seconds: float = 10.0
    piece: float = 180.0
    claimed: float | None = None
    track: float | None = None
    has_sound: bool = True
    tags: Mapping[str, str] = field(default_factory=dict)
    chapters: tuple[tuple[float, str], ...] = ()
    fails: Unreadable | None = None

    def about(self, source: SourceFile, limits: ReadingLimits) -> Recording:
        claimed = self.seconds if self.claimed is None else self.claimed
        return Recording(claimed, self.has_sound, self.tags, self.chapters, self.track)

    def pieces(self, source: SourceFile, limits: ReadingLimits) -> Iterator[tuple[float, bytes]]:
        start = 0.0
        while start < self.seconds:
            end = min(start + self.piece, self.seconds)
            yield start, bytes(4 * round((end - start) * RATE))
            start = end
        if self.fails:
            raise self.fails


@dataclass
class ScriptedSpeech:
    """Hears those phrases that begin within a piece; `heard` are the starts of the pieces it was given."""

    says: Sequence[SpokenSegment] = ()
    version: str = "scripted-1"
    dies_at: float | None = None
    heard: list[float] = field(default_factory=list)
    languages: list[str | None] = field(default_factory=list)

    def read(self, samples: bytes, offset: float, language: str | None) -> Iterator[SpokenSegment]:
        if self.dies_at is not None and offset >= self.dies_at:
            raise MemoryError
        self.heard.append(offset)
        self.languages.append(language)
        end = offset + len(samples) / 4 / RATE
        yield from (said for said in self.says if offset <= said.words[0].start < end)
