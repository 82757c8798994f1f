"""Pillow, with its limits on: any picture as upright 8-bit RGB frames, or the reason why not."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits

Image = Any
"""A PIL.Image.Image; Pillow is imported when the first picture comes."""

# What Pillow's plugins raise at broken bytes; not MemoryError, which is the child's end.
BROKEN = (OSError, ValueError, SyntaxError, EOFError, IndexError, KeyError, TypeError, struct.error, zlib.error)
_DEEP = frozenset(("I", "F", "I;16", "I;16L", "I;16B", "I;16N"))
_BYTE = 255
_FLAT = 8  # of 255: a picture whose grey values differ by less shows nothing


@contextmanager
def opened(data: bytes, limits: ReadingLimits) -> Iterator[Image]:
    """Open a picture without decoding it.

    Raises:
        Unreadable: `damaged`, `unsupported`, `too_many_pixels`, `too_many_pages`.
    """
    import PIL.Image
    import pillow_heif

    pillow_heif.register_heif_opener(thumbnails=False)
    usual = PIL.Image.MAX_IMAGE_PIXELS
    PIL.Image.MAX_IMAGE_PIXELS = None  # ours is asked below, before anything is decoded
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # broken metadata of all kinds is told as warnings
            image = _open(data)
            with image:
                refuse_size(image.size, limits)
                refuse_frames(image, limits)
                yield image
    finally:
        PIL.Image.MAX_IMAGE_PIXELS = usual


def refuse_size(size: tuple[int, int], limits: ReadingLimits) -> None:
    """Raise Unreadable (`too_many_pixels`) when a picture is over the limit."""
    width, height = size
    if width * height > limits.pixels:
        raise Unreadable(
            f"it has {width} x {height} pixels, the limit is {limits.pixels:,} in all",
            hint="make it smaller, or raise limits.pixels",
            reason="too_many_pixels",
        )


def refuse_frames(image: Image, limits: ReadingLimits) -> None:
    """Raise Unreadable (`too_many_pages`) when a file holds more frames than the limit."""
    if frame_count(image) > limits.frames:
        raise Unreadable(
            f"it has {frame_count(image)} frames, the limit is {limits.frames}",
            hint="split it, or raise limits.frames",
            reason="too_many_pages",
        )


def frame_count(image: Image) -> int:
    """Return how many pictures a file shows; a phone's second picture in a JPEG is not one of them."""
    if image.format in {"MPO", "ICO", "ICNS"}:
        return 1
    try:
        return max(int(getattr(image, "n_frames", 1)), 1)
    except BROKEN:
        return 1


def is_animated(image: Image) -> bool:
    """Say whether the frames of a file follow each other in time, rather than being pages."""
    return image.format in {"GIF", "WEBP", "PNG", "AVIF"}


def frame(image: Image, number: int, data: bytes, limits: ReadingLimits) -> tuple[Image, bool]:
    """Return frame `number` (from 0) as displayed, and whether it is whole.

    Raises:
        Unreadable: `damaged`, `too_many_pixels`.
    """
    try:
        _seek(image, number)
        refuse_size(image.size, limits)
        image.load()
        return displayed(image), True
    except BROKEN:
        return _rest(data, number, limits), False


def _rest(data: bytes, number: int, limits: ReadingLimits) -> Image:
    """Return what is left of a frame that ends too early."""
    import PIL.ImageFile

    usual = PIL.ImageFile.LOAD_TRUNCATED_IMAGES
    PIL.ImageFile.LOAD_TRUNCATED_IMAGES = True
    try:
        with _open(data) as again:
            _seek(again, number)
            refuse_size(again.size, limits)
            again.load()
            return displayed(again)
    except BROKEN as error:
        raise Unreadable("the picture is damaged", hint="open and save it in another program", reason="damaged") from (
            error
        )
    finally:
        PIL.ImageFile.LOAD_TRUNCATED_IMAGES = usual


def displayed(image: Image) -> Image:
    """Return a loaded picture as a viewer shows it: turned as its camera says, on white, 8-bit RGB."""
    import PIL.ImageOps

    upright = image
    try:
        upright = PIL.ImageOps.exif_transpose(image)
    except BROKEN:
        upright = image
    if upright.mode in _DEEP:
        return _eight_bits(upright)
    if upright.has_transparency_data:
        return _on_white(upright.convert("RGBA"))
    try:
        return upright.convert("RGB")
    except ValueError:
        return upright.getchannel(0).convert("RGB")


def is_flat(image: Image) -> bool:
    """Say whether a picture is of one colour, as far as an eye can tell."""
    low, high = image.convert("L").getextrema()
    return bool(high - low < _FLAT)


def _open(data: bytes) -> Image:
    import PIL.Image

    try:
        return PIL.Image.open(io.BytesIO(data))
    except PIL.Image.DecompressionBombError as error:
        raise Unreadable("it has too many pixels", hint="make it smaller", reason="too_many_pixels") from error
    except PIL.UnidentifiedImageError as error:
        raise Unreadable(
            "it is no picture of a known kind, or its beginning is damaged",
            hint="save it as PNG or JPEG",
            reason="damaged",
        ) from error
    except BROKEN as error:
        raise Unreadable("the picture is damaged", hint="open and save it in another program", reason="damaged") from (
            error
        )


def _seek(image: Image, number: int) -> None:
    if number or getattr(image, "n_frames", 1) > 1:
        image.seek(number)


def _eight_bits(image: Image) -> Image:
    """Spread the values that occur over 0-255: scanners and microscopes use 10, 12 or 16 bits of 16 or 32."""
    values = image.convert("F")
    low, high = values.getextrema()
    if low >= 0 and high <= _BYTE:
        low, high = 0, _BYTE
    scale = _BYTE / (high - low) if high > low else 0.0
    return values.point(lambda value: value * scale - low * scale).convert("L").convert("RGB")


def _on_white(image: Image) -> Image:
    import PIL.Image

    white = PIL.Image.alpha_composite(PIL.Image.new("RGBA", image.size, "white"), image).convert("RGB")
    if not is_flat(white) or image.getchannel("A").getextrema()[0] == _BYTE:
        return white
    # White letters on nothing: they are only seen on something dark.
    return PIL.Image.alpha_composite(PIL.Image.new("RGBA", image.size, "black"), image).convert("RGB")
