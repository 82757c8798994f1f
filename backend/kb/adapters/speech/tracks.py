"""The sound track of a file, through FFmpeg (PyAV): opened safely, decoded on the timeline that players show."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from kb.domain.errors import Unreadable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

# FFmpeg also reads playlists, which name other files and addresses, and scripts and devices: these it may not open.
_CONTAINERS = (
    "aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,eac3,flac,flv,matroska,mov,mp3,mpc,mpc8,mpeg,mpegts,ogg,w64,wav,wv"
)
_OPTIONS = {"format_whitelist": _CONTAINERS, "protocol_whitelist": "none"}
_HEADS = (
    b"RIFF",
    b"RF64",
    b"ID3",
    b"fLaC",
    b"OggS",
    b"\x1aE\xdf\xa3",
    b"FORM",
    b"#!AMR",
    b"caff",
    b".snd",
    b"FLV",
    b"0&\xb2u",
)
_GAP = 0.1
_LONGEST_GAP = 3600.0
_BLOCK_SECONDS = 1.0


@contextmanager
def opened(content: bytes | Path) -> Iterator[Any]:
    """Open bytes or a file as an `av` container, for reading.

    Raises:
        Unreadable: it is no sound or video file (`wrong_type`), or a damaged one (`damaged`).
    """
    import av

    av.logging.set_level(None)
    file: IO[bytes] = io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")
    with file:
        head = file.read(16)
        file.seek(0)
        try:
            container = av.open(file, mode="r", container_options=_OPTIONS, **_leniently(av.__version__))
        except (av.error.FFmpegError, ValueError, OSError) as error:
            raise _no_sound_file(head) from error
        with container:
            yield container


def sound_stream(container: Any) -> Any | None:  # noqa: ANN401 - `av` has no types we could name
    """Return the sound track people would hear: the one FFmpeg takes for the best, else the first that can be decoded.

    Raises:
        Unreadable: there are tracks, but each in a format that cannot be decoded (`unsupported`).
    """
    best = container.streams.best("audio")
    tracks = sorted(container.streams.audio, key=lambda stream: stream is not best)
    for stream in tracks:
        # A track of an unknown or protected format has no decoder.
        if stream.codec_context is not None and stream.codec_context.sample_rate:
            return stream
    if tracks:
        raise Unreadable(
            "the sound is in a format that cannot be decoded, or is protected",
            hint="save it as WAV, FLAC, MP3 or Opus",
            reason="unsupported",
        )
    return None


class SoundTrack:
    """Decodes one track to float32 samples; gaps between timestamps become silence, so times are those of a player.

    Args:
        container: an open `av` container.
        stream: one of its sound tracks.
        rate: samples a second that are wanted.
        channels: 1, or 2 for stereo; more or fewer are mixed.
    """

    def __init__(self, container: Any, stream: Any, rate: int, channels: int = 1) -> None:  # noqa: ANN401 - see above
        self._container = container
        self._stream = stream
        self._rate = rate
        self._channels = channels
        self.frames = 0
        self.broken = 0

    def blocks(self) -> Iterator[Samples]:
        """Yield arrays of shape (samples, channels), about a second each.

        Raises:
            Unreadable: nothing, or less than half of it, can be decoded (`damaged`).
        """
        import numpy as np

        waiting: list[Samples] = []
        held = 0
        for block in self._resampled():
            waiting.append(block)
            held += len(block)
            if held >= self._rate * _BLOCK_SECONDS:
                yield np.concatenate(waiting)
                waiting, held = [], 0
        if held:
            yield np.concatenate(waiting)
        if not self.frames or self.broken > self.frames:
            raise not_decodable()

    def can_be_decoded(self) -> bool:
        """Return whether there is at least one frame of sound; the container is then no longer at its start."""
        return any(frame.samples for frame in self._decoded())

    def _resampled(self) -> Iterator[Samples]:
        resampler: Any = None
        shape: object = None
        position = 0.0
        for frame in self._decoded():
            if not frame.samples or not frame.sample_rate:
                continue
            gap = self._time(frame, position) - position
            if _GAP < gap <= _LONGEST_GAP:
                yield from self._silence(gap)
                position += gap
            position += frame.samples / frame.sample_rate
            if shape != (frame.format.name, frame.layout.name, frame.sample_rate):
                # Chained and joined recordings change their form on the way.
                yield from self._converted(resampler, None)
                shape = (frame.format.name, frame.layout.name, frame.sample_rate)
                resampler = self._resampler()
            frame.pts = None
            yield from self._converted(resampler, frame)
        yield from self._converted(resampler, None)

    def _decoded(self) -> Iterator[Any]:
        """Yield frames, leaving out what cannot be decoded; a file that breaks off ends there."""
        import av

        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets)
            except StopIteration:
                return
            except (av.error.FFmpegError, ValueError, OSError):
                self.broken += 1
                return
            try:
                frames = packet.decode()
            except (av.error.FFmpegError, ValueError):
                self.broken += 1
                continue
            self.frames += len(frames)
            yield from frames

    def _time(self, frame: Any, position: float) -> float:  # noqa: ANN401 - see above
        """Return where a frame stands on the player's timeline, in seconds; `position` when it does not say."""
        if frame.pts is None or not frame.time_base:
            return position
        start = (self._container.start_time or 0) / 1_000_000  # AV_TIME_BASE
        return float(frame.pts * frame.time_base) - start

    def _silence(self, seconds: float) -> Iterator[Samples]:
        import numpy as np

        left = round(seconds * self._rate)
        while left > 0:
            count = min(left, self._rate)
            yield np.zeros((count, self._channels), np.float32)
            left -= count

    def _resampler(self) -> Any:  # noqa: ANN401 - see above
        import av

        layout = "mono" if self._channels == 1 else "stereo"
        # As for whole numbers: a mix is scaled so that it cannot exceed full scale.
        return av.AudioResampler(format="flt", layout=layout, rate=self._rate, options={"rematrix_maxval": "1.0"})

    def _converted(self, resampler: Any, frame: Any) -> Iterator[Samples]:  # noqa: ANN401 - see above
        import av
        import numpy as np

        if resampler is None:
            return
        try:
            made = resampler.resample(frame)
        except (av.error.FFmpegError, ValueError):
            self.broken += 1
            return
        for part in made:
            samples = part.to_ndarray().reshape(-1, self._channels)
            # Float files may hold anything, not-a-number too.
            yield np.clip(np.nan_to_num(samples, nan=0.0), -1.0, 1.0).astype(np.float32, copy=False)


def _leniently(version: str) -> dict[str, str]:
    """Return what makes PyAV accept tags in an odd encoding; from 19 on it always does."""
    return {} if int(version.partition(".")[0]) >= 19 else {"metadata_errors": "ignore"}  # noqa: PLR2004 - its version


def not_decodable() -> Unreadable:
    """Say that no sound comes out of a track."""
    return Unreadable(
        "there is no sound in it that can be decoded",
        hint="play it; if that fails too, get the file again",
        reason="damaged",
    )


def _no_sound_file(head: bytes) -> Unreadable:
    """Say what is wrong with a file that FFmpeg does not open."""
    if not head or head.startswith(_HEADS) or head[4:8] == b"ftyp":
        return Unreadable("the sound or video file is damaged or empty", hint="get the file again", reason="damaged")
    return Unreadable(
        "it does not hold what its name says: this is no sound or video file that can be read",
        hint="open it in a player; if it plays, convert it to WAV, FLAC, MP3 or MP4",
        reason="wrong_type",
    )
