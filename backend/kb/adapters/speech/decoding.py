"""`AvSoundDecoder`: sound for recognition, in pieces that end in pauses, with bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.adapters.speech.tracks import SoundTrack, not_decodable, opened, sound_stream
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from kb.ingest.reading_ports import Recording, SourceFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

RATE = 16_000
"""Samples a second, what Whisper takes."""
PIECE_SECONDS = 180
"""About how long a piece is: a few hundred megabytes of work for the recogniser, and what a crash costs at most."""
_SLACK_SECONDS = 15
_PAUSE = RATE * 3 // 10
_STEP = RATE // 50


class AvSoundDecoder:
    """The `SoundDecoder` port through FFmpeg.

    Nothing but the file itself is opened: playlists and references to other files are refused.
    """

    def about(self, source: SourceFile, limits: ReadingLimits) -> Recording:
        """Return length, tags and chapters.

        Raises:
            Unreadable: no sound or video file (`wrong_type`, `damaged`), a sound format without a decoder
                (`unsupported`), or longer than the limit (`too_long`).
        """
        with opened(_content(source)) as container:
            stream = sound_stream(container)
            tags = {str(key).lower(): str(value) for key, value in container.metadata.items()}
            chapters = tuple(_chapter(entry) for entry in container.chapters())
            seconds = _claimed(container, stream)
            if stream is None:
                return Recording(seconds, has_sound=False, tags=tags, chapters=chapters)
            sound_seconds = _own_end(stream)
            # Ogg keeps its tags with the track.
            tags = {**{str(key).lower(): str(value) for key, value in stream.metadata.items()}, **tags}
            if not SoundTrack(container, stream, RATE).can_be_decoded():
                raise not_decodable()
            # Without a header the length is only guessed from the first packets.
            is_guessed = container.format.name == "aac"
        if is_guessed or not 0 < seconds <= limits.sound_seconds:
            seconds, sound_seconds = _counted(_content(source), limits.sound_seconds), None
        if seconds > limits.sound_seconds:
            raise _too_long(limits)
        return Recording(seconds, has_sound=True, tags=tags, chapters=chapters, sound_seconds=sound_seconds)

    def pieces(self, source: SourceFile, limits: ReadingLimits) -> Iterator[tuple[float, bytes]]:
        """Yield (start in seconds, mono float32 samples at 16 kHz).

        Raises:
            Unreadable: as `about`; also when nothing can be decoded (`damaged`).
        """
        with opened(_content(source)) as container:
            stream = sound_stream(container)
            if stream is None:
                raise Unreadable("it has no sound track", reason="damaged")
            position = 0
            for piece in _in_pauses(_limited(SoundTrack(container, stream, RATE), limits)):
                yield position / RATE, piece.tobytes()
                position += len(piece)


def _content(source: SourceFile) -> bytes | Path:
    """Return the bytes, or the place of a file too large for memory.

    Raises:
        Unreadable: the file at that place is not the one that was hashed (`changed`), or gone (`vanished`).
    """
    if source.disk_path is None:
        return source.data
    place = Path(source.disk_path)
    try:
        with place.open("rb") as file:
            head = file.read(len(source.data))
    except OSError as error:
        raise Unreadable(f"{source.path} is gone", hint="run `kb ingest` again", reason="vanished") from error
    if head != source.data:
        raise Unreadable(f"{source.path} changed while it was read", hint="run `kb ingest` again", reason="changed")
    return place


def _claimed(container: Any, stream: Any | None) -> float:  # noqa: ANN401 - `av` has no types we could name
    """Return the length that the container or else the sound track names, in seconds."""
    if container.duration:
        return max(float(container.duration) / 1_000_000, 0.0)  # AV_TIME_BASE
    if stream is not None and stream.duration and stream.time_base:
        return max(float(stream.duration * stream.time_base), 0.0)
    return 0.0


def _own_end(stream: Any) -> float | None:  # noqa: ANN401 - see above
    """Return where a sound track ends by its own account, in seconds."""
    if not stream.duration or not stream.time_base:
        return None
    return max(float((stream.duration + max(stream.start_time or 0, 0)) * stream.time_base), 0.0)


def _counted(content: bytes | Path, enough: int) -> float:
    """Return the length of the packets that are really there, counting no further than just beyond `enough` seconds."""
    import av

    seconds = 0.0
    with opened(content) as container:
        try:
            for packet in container.demux(sound_stream(container)):
                seconds += float((packet.duration or 0) * packet.time_base) if packet.time_base else 0.0
                if seconds > enough:
                    break
        except (av.error.FFmpegError, ValueError, OSError):
            return seconds  # it breaks off here
    return seconds


def _chapter(entry: Any) -> tuple[float, str]:  # noqa: ANN401 - see above
    metadata = {str(key).lower(): str(value) for key, value in entry.get("metadata", {}).items()}
    return max(float(entry["start"] * entry["time_base"]), 0.0), metadata.get("title", "")


def _limited(track: SoundTrack, limits: ReadingLimits) -> Iterator[Samples]:
    """Yield blocks of one channel until the real length exceeds the limit, whatever the header says."""
    left = limits.sound_seconds * RATE
    for block in track.blocks():
        left -= len(block)
        if left < 0:
            raise _too_long(limits)
        yield block[:, 0]


def _in_pauses(blocks: Iterator[Samples]) -> Iterator[Samples]:
    """Join blocks to pieces of about PIECE_SECONDS, cut where it is quietest near that length."""
    import numpy as np

    longest = (PIECE_SECONDS + _SLACK_SECONDS) * RATE
    shortest = (PIECE_SECONDS - _SLACK_SECONDS) * RATE
    waiting: list[Samples] = []
    held = 0
    for block in blocks:
        waiting.append(block)
        held += len(block)
        if held >= longest:
            joined = np.concatenate(waiting)
            end = shortest + _quietest(joined[shortest:longest])
            yield joined[:end]
            waiting, held = [joined[end:]], held - end
    if held:
        yield np.concatenate(waiting)


def _quietest(samples: Samples) -> int:
    """Return the middle of the quietest 0.3 s; of several as quiet, of the first."""
    import numpy as np

    energy = np.square(samples[: len(samples) // _STEP * _STEP], dtype=np.float64).reshape(-1, _STEP).sum(axis=1)
    total = np.concatenate(([0.0], np.cumsum(energy)))
    width = _PAUSE // _STEP
    # Rounded, for sums over silence differ in their last digits.
    windows = np.round(total[width:] - total[:-width], 9)
    return int(np.argmin(windows)) * _STEP + _PAUSE // 2


def _too_long(limits: ReadingLimits) -> Unreadable:
    hours = limits.sound_seconds / 3600
    return Unreadable(
        f"the recording is longer than the limit of {hours:g} hours",
        hint="cut it, or raise limits.sound_seconds",
        reason="too_long",
    )
