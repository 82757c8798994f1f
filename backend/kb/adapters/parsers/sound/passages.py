"""What was said, as blocks: paragraphs that end in pauses and at ends of sentences, every word with its time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from kb.adapters.parsers.shared.building import BlockBuilder, clean
from kb.domain.documents import ParsedBlock
from kb.domain.spans import Segment, TimeSpan
from kb.domain.transcripts import TranscriptSegment
from kb.ingest.reading_ports import SpokenSegment, SpokenWord

LOW_CONFIDENCE = 0.5
"""Below it, more than half of the words of a phrase are doubtful."""
_REPEATS = 3
_PAUSE, _LONG_PAUSE = 1.5, 4.0
_ENOUGH, _FULL, _MOST = 400, 800, 1200
_SENTENCE_ENDS = tuple(".!?…。！？．")


def is_text(segment: SpokenSegment) -> bool:
    """Return whether a segment is words, and not a stretch that was not understood."""
    return any(word.text.strip() for word in segment.words)


def settled(segments: Iterable[SpokenSegment], seconds: float) -> list[SpokenSegment]:
    """Return segments in order of time, no word beyond `seconds` or before the one ahead of it.

    Of a doubtful phrase that comes again and again only the first 3 in a row stay: noise makes recognisers repeat
    themselves, "thank you" most of all.
    """
    ordered: list[SpokenSegment] = []
    last = 0.0
    for segment in sorted((s for s in segments if s.words), key=lambda s: s.words[0].start):
        words: list[SpokenWord] = []
        for word in segment.words:
            start = min(max(word.start, last), seconds)
            last = min(max(word.end, start), seconds)
            words.append(SpokenWord(clean(word.text), start, last, word.probability))
        ordered.append(SpokenSegment(tuple(words), segment.confidence, segment.language))
    kept: list[SpokenSegment] = []
    for _, group in groupby(ordered, key=lambda s: _said(s).casefold()):
        same = list(group)
        kept += [s for n, s in enumerate(same) if n < _REPEATS or s.confidence >= LOW_CONFIDENCE or not is_text(s)]
    return kept


def transcript_segments(segments: Iterable[SpokenSegment]) -> tuple[TranscriptSegment, ...]:
    """Return the phrases as they are kept beside the document."""
    return tuple(
        TranscriptSegment(
            _ms(segment.words[0].start), _ms(segment.words[-1].end), _said(segment), round(segment.confidence, 3)
        )
        for segment in segments
        if is_text(segment)
    )


def blocks_of(
    segments: Sequence[SpokenSegment], chapters: Sequence[tuple[float, str]], seconds: float
) -> tuple[ParsedBlock, ...]:
    """Return paragraphs of about 400 to 800 characters under the chapters as headings."""
    builder = BlockBuilder()
    coming = [(min(start, seconds), title) for start, title in sorted(chapters) if title.strip()]
    for words in _paragraphs([s for s in segments if is_text(s)], [start for start, _ in coming]):
        while coming and coming[0][0] <= words[0].end:
            _heading(builder, coming, seconds)
        _paragraph(builder, words)
    while coming:
        _heading(builder, coming, seconds)
    return tuple(builder.blocks)


def _heading(builder: BlockBuilder, coming: list[tuple[float, str]], seconds: float) -> None:
    start, title = coming.pop(0)
    end = coming[0][0] if coming else seconds
    builder.heading(2, title, TimeSpan(_ms(start), _ms(max(start, end))))


def _paragraph(builder: BlockBuilder, words: Sequence[SpokenWord]) -> None:
    text = ""
    places: list[Segment] = []
    for word in words:
        # A word brings the space before it along; Chinese and Japanese words bring none.
        piece = word.text if text else word.text.lstrip()
        begin = len(text) + len(piece) - len(piece.lstrip())
        text += piece.rstrip()
        if len(text) > begin:
            places.append(Segment(begin, len(text), TimeSpan(_ms(word.start), _ms(word.end))))
    builder.paragraph(text, TimeSpan(_ms(words[0].start), _ms(words[-1].end)), places)


def _paragraphs(segments: Sequence[SpokenSegment], borders: Sequence[float]) -> Iterator[list[SpokenWord]]:
    """Yield runs of words: cut at chapters, changes of language, long pauses, and where a paragraph is long enough."""
    waiting: list[SpokenWord] = []
    language = ""
    length = 0
    for segment in segments:
        for word in segment.words:
            if not word.text.strip():
                continue
            changed = segment.language != language
            if waiting and (changed or _ends(waiting[-1], word, length) or _between(waiting[-1], word, borders)):
                yield waiting
                waiting, length = [], 0
            waiting.append(word)
            length += len(word.text)
            language = segment.language
    if waiting:
        yield waiting


def _ends(last: SpokenWord, coming: SpokenWord, length: int) -> bool:
    pause = coming.start - last.end
    sentence = last.text.rstrip().endswith(_SENTENCE_ENDS)
    if pause >= _LONG_PAUSE or length >= _MOST:
        return True
    return length >= _ENOUGH and (pause >= _PAUSE or sentence) and (sentence or length >= _FULL)


def _between(last: SpokenWord, coming: SpokenWord, borders: Sequence[float]) -> bool:
    return any(last.end < border <= coming.end for border in borders)


def _said(segment: SpokenSegment) -> str:
    return " ".join("".join(word.text for word in segment.words).split())


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
