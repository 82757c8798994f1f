"""Every second of a recording, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from kb.adapters.parsers.sound.passages import LOW_CONFIDENCE, is_text
from kb.domain.coverage import CoverageUnit
from kb.ingest.reading_ports import SpokenSegment

# Between two words a breath is part of the speech.
_BREATH = 2
# A container may be off by its last frames.
_FRAMES = 1.0
_State = Literal["text", "blank", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class _Second:
    state: _State = "blank"
    reason: str | None = None
    confidence: float | None = None


def whole_seconds(seconds: float) -> int:
    """Return how many seconds a recording counts as: its length rounded, at least 1."""
    return max(int(seconds + 0.5), 1)


def all_as(state: Literal["skipped", "waiting"], seconds: float, reason: str) -> tuple[CoverageUnit, ...]:
    """Return a ledger of one line."""
    return (CoverageUnit("second", 1, whole_seconds(seconds), state, reason=reason),)


def seconds_heard(
    segments: Sequence[SpokenSegment], seconds: float, promised: float = 0.0, whole: float = 0.0
) -> tuple[CoverageUnit, ...]:
    """Return what became of each second: speech as text with its confidence, silence as blank.

    Doubtful speech says `low_confidence`; speech of which no words came is failed, `not_understood`. Of a recording
    that is cut short the seconds it promises beyond those decoded are failed, `damaged`; those in which only the
    picture goes on, up to the `whole`, are skipped, `no_sound`.
    """
    line = [_Second()] * whole_seconds(seconds)
    for segment in [*(s for s in segments if not is_text(s)), *filter(is_text, segments)]:
        mark = _mark(segment)
        for second in _touched(segment, len(line)):
            line[second] = mark
    if promised - seconds > _FRAMES:
        line += [_Second("failed", "damaged")] * (whole_seconds(promised) - len(line))
    if whole - max(promised, seconds) > _FRAMES:
        line += [_Second("skipped", "no_sound")] * (whole_seconds(whole) - len(line))
    return tuple(_ranges(line))


def _mark(segment: SpokenSegment) -> _Second:
    if not is_text(segment):
        return _Second("failed", "not_understood")
    low = segment.confidence < LOW_CONFIDENCE
    return _Second("text", "low_confidence" if low else None, segment.confidence)


def _touched(segment: SpokenSegment, count: int) -> Iterable[int]:
    """Yield the seconds (from 0) in which a word of the segment is heard, and breaths between its words."""
    last: int | None = None
    for word in segment.words:
        first = min(int(word.start), count - 1)
        # A word that ends on the full second is not heard in the next.
        end = min(max(int(word.end - 1e-6), first), count - 1)
        if last is not None and first - last - 1 <= _BREATH:
            first = min(first, last + 1)
        yield from range(first, end + 1)
        last = end


def _ranges(line: Sequence[_Second]) -> Iterable[CoverageUnit]:
    number = 1
    for (state, reason), group in groupby(line, key=lambda second: (second.state, second.reason)):
        run = list(group)
        sure = [second.confidence for second in run if second.confidence is not None]
        confidence = round(sum(sure) / len(sure), 3) if sure else None
        yield CoverageUnit("second", number, number + len(run) - 1, state, confidence, reason)
        number += len(run)
