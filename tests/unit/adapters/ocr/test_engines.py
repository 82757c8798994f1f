"""The real engines on small rendered pictures."""

from __future__ import annotations

import logging
import socket
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from kb.adapters.ocr import rapid
from kb.adapters.ocr.reader import find_reader
from kb.ingest.reading_ports import OcrPage, PictureTextReader, Raster

MODELS = Path(sys.prefix) / "share" / "kb" / "models"
NOTO = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")
LINES = ("Every page and every second", "is accounted for, and nothing", "is ever lost in silence.")
pytestmark = [
    pytest.mark.skipif(rapid.installed() is None, reason="the engine's models are not installed"),
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*swig:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:builtin type:DeprecationWarning"),
]


@pytest.fixture(scope="module")
def reader() -> PictureTextReader:
    found = find_reader([MODELS])
    assert found is not None
    return found


def page(lines: tuple[str, ...], font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> Image.Image:
    image = Image.new("RGB", (640, 40 + 50 * len(lines)), "white")
    draw = ImageDraw.Draw(image)
    for number, text in enumerate(lines):
        draw.text((40, 30 + 50 * number), text, font=font, fill="black")
    return image


def read(reader: PictureTextReader, image: Image.Image) -> OcrPage:
    return reader.read(Raster(image.width, image.height, image.tobytes()))


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_a_page_is_read_whichever_way_it_lies_with_boxes_where_it_lies(reader: PictureTextReader, degrees: int) -> None:
    upright = page(LINES, ImageFont.load_default(32))
    # Pillow turns counterclockwise; so many degrees clockwise make it upright again.
    found = read(reader, upright.rotate(degrees, expand=True))
    assert [line.text for line in found.lines] == list(LINES)
    assert found.turned == degrees
    first = found.lines[0].words[0]
    centre = ((first.x0 + first.x1) / 2, (first.y0 + first.y1) / 2)
    width, height = upright.size
    x, y = {
        0: centre,
        90: (width - centre[1], centre[0]),
        180: (width - centre[0], height - centre[1]),
        270: (centre[1], height - centre[0]),
    }[degrees]
    assert 40 <= x <= 140
    assert 30 <= y <= 70


def test_nothing_is_fetched_written_or_said(
    reader: PictureTextReader, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    folder = rapid.installed()
    assert folder is not None
    before = sorted(folder.iterdir())
    again = find_reader([MODELS])
    assert again is not None
    assert read(again, page(LINES[:1], ImageFont.load_default(32))).lines
    assert sorted(folder.iterdir()) == before
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("RapidOCR").level >= logging.ERROR


def test_an_empty_page_has_no_lines(reader: PictureTextReader) -> None:
    assert read(reader, Image.new("RGB", (300, 200), "white")) == OcrPage(())


@pytest.mark.parametrize("size", [(1, 1), (3, 900), (900, 3), (31, 31)])
def test_odd_sizes_are_survived(reader: PictureTextReader, size: tuple[int, int]) -> None:
    assert read(reader, Image.effect_noise(size, 90).convert("RGB")).turned in {0, 90, 180, 270}


@pytest.mark.skipif(not NOTO.is_file(), reason="fonts-noto-cjk is not installed")
@pytest.mark.skipif(not (MODELS / "tesseract-korean").is_dir(), reason="the Korean model is not there")
def test_korean_chinese_and_english_lines_of_one_page_are_all_read(reader: PictureTextReader) -> None:
    lines = ("모든 파일을 읽고 기억한다", "每一页都不会丢失", "Nothing is lost in silence")
    found = read(reader, page(lines, ImageFont.truetype(str(NOTO), 32, index=1)))
    assert [line.text for line in found.lines] == list(lines)
    assert [line.language for line in found.lines] == ["ko", "und", "und"]
