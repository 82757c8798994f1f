"""Pages rendered from passages of the shared data, with the text that stands on them."""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tests.bench.material import shared_data

FONTS = Path("/usr/share/fonts")
# file below the fonts folder, number of the face in it
FACES = {
    "ko": (("opentype/noto/NotoSansCJK-Regular.ttc", 1), ("opentype/noto/NotoSerifCJK-Regular.ttc", 1)),
    "zh-Hans": (("opentype/noto/NotoSansCJK-Regular.ttc", 2), ("opentype/noto/NotoSerifCJK-Regular.ttc", 2)),
    "zh-Hant": (("opentype/noto/NotoSansCJK-Regular.ttc", 3), ("opentype/noto/NotoSerifCJK-Regular.ttc", 3)),
    "en": (("truetype/noto/NotoSans-Regular.ttf", 0), ("truetype/noto/NotoSerif-Regular.ttf", 0)),
}
LANGUAGES = tuple(FACES)
VARIANTS = ("150", "300", "noise", "skew", "columns", "sideways", "upside-down")
_A4 = (8.27, 11.69)
_POINTS = 10.5
_MARGIN = 0.8
_GUTTER = 0.35
_LEADING = 1.55


@dataclass(frozen=True, slots=True)
class Page:
    """A picture and what it says, paragraphs parted by line feeds."""

    image: Image.Image
    text: str
    dpi: int


def passages(language: str) -> list[str]:
    """Return the passages of a language; an empty list without the shared data."""
    data = shared_data()
    if data is None:
        return []
    if language == "ko":
        articles = json.loads((data / "korquad" / "KorQuAD_v1.0_dev.json").read_text(encoding="utf-8"))["data"]
        return [paragraph["context"] for article in articles for paragraph in article["paragraphs"]]
    names = {"zh-Hans": ("cmrc2018",), "zh-Hant": ("xquad-zh", "cmrc2018"), "en": ("xquad-en",)}[language]
    texts = [
        json.loads(line)["text"]
        for name in names
        for line in (data / name / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    if language != "zh-Hant":
        return texts
    import opencc

    return [opencc.OpenCC("s2t").convert(text) for text in texts]


def pages(language: str, variant: str, count: int) -> Iterator[Page]:
    """Yield `count` A4 pages; the same ones every time."""
    texts = passages(language)
    random.Random(f"{language}{variant}").shuffle(texts)
    dpi = {"150": 150, "300": 300}.get(variant, 200)
    supply = (" ".join(text.split()) for text in texts)
    for number in range(count):
        path, face = FACES[language][number % 2]
        page = _drawn(supply, _font(path, face, round(_POINTS * dpi / 72)), dpi, 2 if variant == "columns" else 1)
        yield Page(_treated(page.image, variant, number), page.text, dpi)


@cache
def _font(path: str, face: int, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(FONTS / path), size, index=face)


def _drawn(supply: Iterator[str], font: ImageFont.FreeTypeFont, dpi: int, columns: int) -> Page:
    width, height = (round(inches * dpi) for inches in _A4)
    image = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(image)
    margin, gutter = round(_MARGIN * dpi), round(_GUTTER * dpi)
    column = (width - 2 * margin - (columns - 1) * gutter) // columns
    step = round(font.size * _LEADING)
    said: list[str] = []
    for number in range(columns):
        x, y = margin + number * (column + gutter), margin
        while y + step < height - margin:
            lines = _wrapped(next(supply), font, column)[: (height - margin - y) // step]
            for line in lines:
                draw.text((x, y), line, font=font, fill=0)
                y += step
            said.append("".join(line if _spaceless(line) else f"{line} " for line in lines))
            y += step // 2
    return Page(image, "\n".join(said), dpi)


def _wrapped(text: str, font: ImageFont.FreeTypeFont, width: int) -> list[str]:
    # a run of Han in a mostly Latin text has no spaces, and would be drawn past the edge
    parts = list(text) if _spaceless(text) else re.findall(r"[\u3000-\u9fff]|[^\s\u3000-\u9fff]+ ?", text)
    lines = [""]
    used = 0.0
    for part in parts:
        size = font.getlength(part)
        if used + size > width and lines[-1]:
            lines.append("")
            used = 0.0
        lines[-1] += part
        used += size
    return [line.strip() for line in lines]


def _spaceless(text: str) -> bool:
    han = sum("\u3400" <= c <= "\u9fff" or "\u3040" <= c <= "\u30ff" for c in text)
    return han * 2 > len(text.replace(" ", ""))


def _treated(image: Image.Image, variant: str, number: int) -> Image.Image:
    if variant == "noise":
        pixels = np.asarray(image, np.float32)
        noise = np.random.default_rng(number).normal(0, 24, pixels.shape)
        packed = io.BytesIO()
        Image.fromarray(np.clip(pixels * 0.8 + 30 + noise, 0, 255).astype(np.uint8)).save(packed, "JPEG", quality=60)
        return Image.open(packed)
    if variant == "skew":
        return image.rotate(2 if number % 2 else -2, Image.Resampling.BICUBIC, fillcolor=255)
    if variant == "sideways":
        return image.transpose(Image.Transpose.ROTATE_90 if number % 2 else Image.Transpose.ROTATE_270)
    return image.transpose(Image.Transpose.ROTATE_180) if variant == "upside-down" else image
