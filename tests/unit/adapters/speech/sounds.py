"""Small sound and video files, made on the spot."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.ingest.reading_ports import SourceFile

LIMITS = ReadingLimits()


def tone(seconds: float, rate: int = 16_000, level: float = 0.3) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return a tone of 440 Hz."""
    return (level * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


def wav(samples: Any, rate: int = 16_000, channels: int = 1, *, floats: bool = False, said: int | None = None) -> bytes:
    """Return a WAV file of 16-bit or 32-bit float samples (-1 to 1); `said` overrides the length in its header."""
    values = np.asarray(samples, np.float32)
    data = values.tobytes() if floats else (values * 32767).astype("<i2").tobytes()
    width = 4 if floats else 2
    form = struct.pack(
        "<HHIIHH", 3 if floats else 1, channels, rate, rate * channels * width, channels * width, width * 8
    )
    size = len(data) if said is None else said
    return (
        b"RIFF"
        + struct.pack("<I", 36 + size)
        + b"WAVEfmt "
        + struct.pack("<I", 16)
        + form
        + (b"data" + struct.pack("<I", size) + data)
    )


def encoded(
    container: str,
    codec: str,
    seconds: float,
    *,
    rate: int = 48_000,
    tags: Mapping[str, str] | None = None,
    chapters: tuple[tuple[int, int, str], ...] = (),
    picture: bool = False,
    sound: bool = True,
    delay: float = 0.0,
) -> bytes:
    """Return a file with a stereo tone.

    `picture` adds a moving picture, `delay` seconds of it before the sound; chapters are (start, end, title).
    """
    target = io.BytesIO()
    with av.open(target, mode="w", format=container) as output:
        for name, value in (tags or {}).items():
            output.metadata[name] = value
        if chapters:
            second = Fraction(1, 1)
            marks = [
                {"id": n, "start": a, "end": b, "time_base": second, "metadata": {"title": title}}
                for n, (a, b, title) in enumerate(chapters)
            ]
            output.set_chapters(marks)
        stream = output.add_stream(codec, rate=rate, layout="stereo") if sound else None
        film = output.add_stream("mpeg4", rate=5) if picture else None
        if film is not None:
            film.width = film.height = 32
            film.pix_fmt = "yuv420p"
            for _ in range(round(seconds * 5)):
                output.mux(film.encode(av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")))
            output.mux(film.encode(None))
        if stream is not None:
            both = np.repeat(tone(seconds, rate), 2).reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(both, format="flt", layout="stereo")
            frame.sample_rate = rate
            frame.pts = round(delay * rate)
            output.mux(stream.encode(frame))
            output.mux(stream.encode(None))
    return target.getvalue()


def source(data: bytes, name: str = "a.wav", media: MediaType = MediaType.AUDIO, **more: Any) -> SourceFile:
    return SourceFile(WorkspacePath(name), media, data, **more)


def on_disk(path: Path, data: bytes, head: int = 4096) -> SourceFile:
    """Write the file and return it as one too large for memory."""
    path.write_bytes(data)
    return SourceFile(WorkspacePath(path.name), MediaType.AUDIO, data[:head], disk_path=str(path))
