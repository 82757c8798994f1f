"""OCR without engines."""

from __future__ import annotations

from dataclasses import dataclass, field

from kb.ingest.reading_ports import OcrLine, OcrPage, OcrWord, Raster


@dataclass
class FixedOcr:
    """Reads the same lines on every picture that is not of one colour: 20 pixels a line, the width of the picture."""

    texts: tuple[str, ...] = ()
    confidence: float = 0.9
    read_pictures: list[Raster] = field(default_factory=list)

    @property
    def version(self) -> str:
        return "fixed-ocr-1"

    def read(self, picture: Raster) -> OcrPage:
        self.read_pictures.append(picture)
        lines = []
        for number, text in enumerate(self.texts):
            word = OcrWord(0, len(text), 0.0, number * 20.0, float(picture.width), number * 20.0 + 20.0)
            lines.append(OcrLine(text, (word,), self.confidence, number))
        return OcrPage(tuple(lines))


@dataclass
class ShadeOcr:
    """Reads the mean grey of a picture as a number, so that frames can be told apart."""

    @property
    def version(self) -> str:
        return "shade-ocr-1"

    def read(self, picture: Raster) -> OcrPage:
        text = f"shade {round(sum(picture.rgb) / len(picture.rgb))}"
        word = OcrWord(0, len(text), 0.0, 0.0, float(picture.width), float(picture.height))
        return OcrPage((OcrLine(text, (word,), 0.8, 0),))
