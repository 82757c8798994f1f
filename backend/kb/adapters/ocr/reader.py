"""Which way up a picture is, which engine reads which line, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kb.adapters.ocr import korean, rapid
from kb.adapters.ocr.geometry import Quad, Turn, bounds, read_along, slant, straightened
from kb.adapters.ocr.lines import ReadLine
from kb.adapters.ocr.order import Box, reading_order
from kb.ingest.reading_ports import OcrLine, OcrPage, OcrWord, PictureTextReader, Raster

RULES = "lines-v1"
"""Changes with the rules of this package, which decide what the engines' words become."""

_READABLE = 0.5  # RapidOCR's own bar: below it a line is no text
_DOUBTFUL = 0.9  # what RapidOCR reads of its own scripts is nearly always above, what it makes of Hangul below
_SURE = 0.95
# Tesseract makes Hangul of any script. Of Korean its symbols are surer than 0.97, of Thai, Hindi, Hebrew, Chinese or
# dirt they hardly ever reach 0.96; on a page where Korean was found, less is enough.
_KOREAN = 0.965
_KOREAN_AMID_KOREAN = 0.8
_KOREAN_SHARE = 0.5
_SHORT = 4
_SAMPLES = 4
_VOTERS = 8
_TRIALS = 12
_CLEAR = 0.25
_LEGIBLE = 0.75


class LineReader(Protocol):
    """Finds lines and reads them: RapidOCR."""

    def find(self, picture: rapid.Pixels) -> list[Quad]:
        """Return outlines of lines."""

    def cut(self, picture: rapid.Pixels, quad: Quad) -> rapid.Pixels:
        """Return one line's picture."""

    def read(self, lines: Sequence[rapid.Pixels]) -> list[ReadLine]:
        """Recognise lines."""

    def upside_down(self, lines: Sequence[rapid.Pixels]) -> float:
        """Return the share that stands on its head."""


class KoreanLineReader(Protocol):
    """Reads one line of Korean: Tesseract."""

    def read(self, line: rapid.Pixels) -> ReadLine:
        """Recognise a line."""


def find_reader(model_places: Sequence[Path]) -> PictureTextReader | None:
    """Return a reader with the engines that are there, None without any; nothing is loaded.

    Without the Korean model, Korean is not read; the version says so.
    """
    models = rapid.installed()
    if models is None:
        return None
    data = next((file for place in model_places if (file := korean.find_data(place / korean.MODEL))), None)
    reads_korean = korean.TesseractKoreanLines(data) if data else None
    engines = [rapid.engine_version(), korean.engine_version(data) if data else "no-korean"]
    return RapidOcrTesseractReader(rapid.RapidOcrLines(models), reads_korean, "+".join([*engines, RULES]))


@dataclass(frozen=True, slots=True)
class _Line:
    quad: Quad
    read: ReadLine


class RapidOcrTesseractReader:
    """Reads pictures with RapidOCR, and the lines that turn out to be Korean with Tesseract."""

    def __init__(self, lines: LineReader, korean_lines: KoreanLineReader | None, version: str) -> None:
        self._lines = lines
        self._korean = korean_lines
        self._version = version

    @property
    def version(self) -> str:
        """Engines, models and rules of order."""
        return self._version

    def read(self, picture: Raster) -> OcrPage:
        """Return the lines of a picture in reading order, boxes in its own pixels; none when it shows no text.

        Raises:
            ModelUnavailable: a model cannot be loaded.
        """
        pixels = _pixels(picture)
        quads, is_standing = read_along(self._lines.find(pixels))
        if not quads:
            return OcrPage(())
        sheet = _Sheet(self._lines, self._korean, pixels, quads)
        if sheet.is_upside_down():
            quads = [quad.reversed() for quad in quads]
            sheet = _Sheet(self._lines, self._korean, pixels, quads)
            turned = 90 if is_standing else 180
        else:
            turned = 270 if is_standing else 0
        read = [_Line(quad, line) for quad, line in zip(quads, sheet.read(), strict=True) if _is_text(line)]
        if not read:
            return OcrPage(())
        view = Turn(turned, picture.width, picture.height)
        lines = tuple(_ordered(read, view))
        return OcrPage(lines, 0 if turned == 270 and sheet.stands_upright(read) else turned)  # noqa: PLR2004 - degrees


class _Sheet:
    """One picture's lines while they are read."""

    def __init__(
        self, lines: LineReader, korean_lines: KoreanLineReader | None, pixels: rapid.Pixels, quads: Sequence[Quad]
    ) -> None:
        self._lines = lines
        self._korean = korean_lines
        self._pixels = pixels
        self._quads = quads
        self._cuts: dict[int, rapid.Pixels] = {}
        self._longest = sorted(range(len(quads)), key=lambda number: -quads[number].length)

    def is_upside_down(self) -> bool:
        """Let the longest lines vote; where they disagree, what can be read decides."""
        voters = self._longest[:_VOTERS]
        share = self._lines.upside_down([self._cut(number) for number in voters])
        if share <= _CLEAR or share >= 1 - _CLEAR:
            return share > _CLEAR
        chosen = [self._cut(number) for number in self._longest[:_SAMPLES]]
        turned = [cut[::-1, ::-1].copy() for cut in chosen]
        found = [self._legible(cuts, in_korean=False) for cuts in (chosen, turned)]
        if max(found) < _LEGIBLE and self._korean is not None:
            found = [self._legible(cuts, in_korean=True) for cuts in (chosen, turned)]
        return found[1] > found[0]

    def read(self) -> list[ReadLine]:
        """Read every line with the engine that knows its script."""
        numbers = range(len(self._quads))
        samples = sorted(self._spread())
        found = self._rapid(samples)
        if self._korean is not None and self._is_korean([found[number] for number in samples], samples):
            return self._korean_first(found)
        found |= self._rapid([number for number in numbers if number not in found])
        if self._korean is not None:
            self._second_opinion(found)
        return [found[number] for number in numbers]

    def stands_upright(self, read: Sequence[_Line]) -> bool:
        """Say whether letters of lines that run downwards stand upright (Chinese, Japanese) or lie on their side."""
        line = max(read, key=lambda line: len(line.read.text))
        places = [word for word in line.read.words() if word[1] - word[0] == 1][:_TRIALS]
        cells = []
        for _, _, left, right in places:
            a, b, c, d = line.quad.piece(left, right)
            cells.append(self._lines.cut(self._pixels, Quad(d, a, b, c)))
        agreeing = sum(
            one.text == line.read.text[place[0]] for one, place in zip(self._lines.read(cells), places, strict=True)
        )
        return agreeing * 2 > len(line.read.text[:_TRIALS])

    def _cut(self, number: int) -> rapid.Pixels:
        if number not in self._cuts:
            self._cuts[number] = self._lines.cut(self._pixels, self._quads[number])
        return self._cuts[number]

    def _spread(self) -> set[int]:
        """Return a few lines, none of the shortest, from all over the picture."""
        half = sorted(self._longest[: max(len(self._longest) // 2, _SAMPLES)])
        return {half[number * len(half) // _SAMPLES] for number in range(_SAMPLES)}

    def _rapid(self, numbers: Sequence[int]) -> dict[int, ReadLine]:
        return dict(zip(numbers, self._lines.read([self._cut(number) for number in numbers]), strict=True))

    def _legible(self, cuts: Sequence[rapid.Pixels], *, in_korean: bool) -> float:
        if not in_korean or self._korean is None:
            return sum(line.confidence for line in self._lines.read(cuts)) / len(cuts)
        return sum(_is_korean_text(self._korean.read(cut)) for cut in cuts) / len(cuts)

    def _is_korean(self, samples: Sequence[ReadLine], numbers: Sequence[int]) -> bool:
        doubtful = [number for number, line in zip(numbers, samples, strict=True) if line.confidence < _DOUBTFUL]
        if len(doubtful) * 2 < len(samples):
            return False
        return sum(_is_korean_text(self._in_korean(number)) for number in doubtful) * 2 >= len(samples)

    def _in_korean(self, number: int) -> ReadLine:
        if self._korean is None:
            return ReadLine("", (0.0,), 0.0)
        return self._korean.read(self._cut(number))

    def _korean_first(self, found: dict[int, ReadLine]) -> list[ReadLine]:
        korean_lines = {number: self._in_korean(number) for number in range(len(self._quads))}
        doubted = [number for number, line in korean_lines.items() if not _is_korean_text(line)]
        found |= self._rapid([number for number in doubted if number not in found])
        for number in doubted:
            korean_lines[number] = _better(found[number], korean_lines[number])
        return [korean_lines[number] for number in range(len(self._quads))]

    def _second_opinion(self, found: dict[int, ReadLine]) -> None:
        """Let Tesseract try lines that RapidOCR could not read, and once one is Korean, all that it doubts."""
        doubtful = self._chosen(found, lambda line: line.confidence < _DOUBTFUL)
        for trial, number in enumerate(doubtful):
            line = self._in_korean(number)
            if _is_korean_text(line):
                break
            if trial + 1 == _TRIALS:
                return
        else:
            return
        for number in self._chosen(found, lambda line: line.confidence < _SURE or len(line.text) <= _SHORT):
            found[number] = _better(found[number], self._in_korean(number))

    def _chosen(self, found: dict[int, ReadLine], wanted: Callable[[ReadLine], bool]) -> list[int]:
        return [number for number in self._longest if wanted(found[number])]


def _is_text(line: ReadLine) -> bool:
    return bool(line.text.strip()) and line.confidence >= _READABLE


def _is_korean_text(line: ReadLine, least: float = _KOREAN) -> bool:
    return line.confidence >= least and korean.hangul_share(line.text) >= _KOREAN_SHARE


def _better(general: ReadLine, korean_line: ReadLine) -> ReadLine:
    """Choose between two readings of a line on a page that has Korean on it."""
    if not _is_korean_text(korean_line, _KOREAN_AMID_KOREAN):
        return general
    is_sure = general.confidence >= _SURE and len(general.text) > _SHORT
    return general if is_sure and general.confidence > korean_line.confidence else korean_line


def _ordered(lines: Sequence[_Line], view: Turn) -> Iterator[OcrLine]:
    upright = [Quad(*(view.there(point) for point in line.quad)) for line in lines]
    angle = slant(upright)
    boxes = [
        Box(number, *straightened(quad, angle), goes_on=lines[number].read.goes_on)
        for number, quad in enumerate(upright)
    ]
    for block, paragraph in enumerate(reading_order(boxes)):
        for numbers in paragraph:
            yield _joined([lines[number] for number in numbers], block)


def _joined(pieces: Sequence[_Line], block: int) -> OcrLine:
    text = ""
    words: list[OcrWord] = []
    weighted = 0.0
    for piece in pieces:
        text += " " if text else ""
        for start, end, left, right in piece.read.words():
            words.append(OcrWord(len(text) + start, len(text) + end, *bounds(piece.quad.piece(left, right))))
        text += piece.read.text
        weighted += piece.read.confidence * len(piece.read.text)
    language = "ko" if any(piece.read.language == "ko" for piece in pieces) else "und"
    confidence = weighted / sum(len(piece.read.text) for piece in pieces)
    return OcrLine(text, tuple(words), min(confidence, 1.0), block, language)


def _pixels(picture: Raster) -> rapid.Pixels:
    import numpy as np

    rows = np.frombuffer(picture.rgb, np.uint8).reshape(picture.height, picture.width, 3)
    return np.ascontiguousarray(rows[:, :, ::-1])
