"""What was said in a recording, and when."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TranscriptSegment:
    """A stretch of speech, milliseconds from the start; `confidence` 0-1 where the engine gives one."""

    start_ms: int
    end_ms: int
    text: str
    confidence: float | None = None
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """All that was said; `language` is an ISO 639-1 code or `und`."""

    segments: tuple[TranscriptSegment, ...]
    engine: str
    language: str
    duration_ms: int
