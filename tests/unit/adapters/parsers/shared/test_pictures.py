from __future__ import annotations

import io
import struct

import pytest
from PIL import Image

from kb.adapters.parsers.shared.pictures import picture_size, worth_reading
from tests.fakes.containers import make_png


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "WEBP"])
def test_the_header_says_the_size(kind: str) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (321, 123)).save(buffer, kind)
    assert picture_size(buffer.getvalue()) == (321, 123)


def test_a_lossless_webp_says_its_size() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (321, 123)).save(buffer, "WEBP", lossless=True)
    assert picture_size(buffer.getvalue()) == (321, 123)


@pytest.mark.parametrize(
    ("data", "worth"),
    [
        (make_png(120, 120, 8_192), True),
        (make_png(119, 800, 9_000), False),
        (make_png(800, 800, 8_191), False),
        (b"II*\x00" + b"\0" * 9_000, True),
        (b"\xff\xd8\xff\xe0" + struct.pack(">H", 0xFFFF) + b"\0" * 9_000, True),
        (b"\x89PNG\r\n\x1a\n", False),
    ],
    ids=["big", "narrow", "small file", "unknown size", "jpeg without a frame", "cut short"],
)
def test_small_pictures_are_not_worth_reading(data: bytes, worth: bool) -> None:
    assert worth_reading(data) is worth
