"""A rendition of a sound track for players that lack its codec: Opus in Ogg, seekable, as long as the original.

`main` makes one in a process of its own (`kb.app.rendition_child`): decoders of strange files are not for the server's.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from kb.adapters.speech.tracks import SoundTrack, opened, sound_stream
from kb.domain.errors import KebabError, Unreadable
from kb.domain.limits import ReadingLimits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

RATE = 48_000
"""Opus knows no other (RFC 6716)."""
SUFFIX = ".opus"
"""How the name of a rendition ends; its media type is `audio/ogg` (RFC 7845)."""
_BITS = {1: 48_000, 2: 80_000}


def make_rendition(source_path: Path, target_path: Path, limits: ReadingLimits | None = None) -> None:
    """Write the sound of a sound or video file as Opus in Ogg, whole or not at all.

    Memory does not grow with the length. Times are those of the original.

    Raises:
        Unreadable: there is no sound (`no_sound`), it cannot be decoded, or it is longer than the limit.
        OSError: the target cannot be written.
    """
    most = (limits or ReadingLimits()).sound_seconds * RATE
    # mkstemp makes files for their owner only.
    handle, name = tempfile.mkstemp(dir=target_path.parent, prefix=".rendition-", suffix=SUFFIX)
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            _convert(source_path, file, most)
            file.flush()
            os.fsync(file.fileno())
        made.replace(target_path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


def _convert(source_path: Path, file: IO[bytes], most: int) -> None:
    import av

    with opened(source_path) as source:
        stream = sound_stream(source)
        if stream is None:
            raise Unreadable("it has no sound track", reason="no_sound")
        channels = min(max(int(stream.codec_context.channels), 1), 2)
        with av.open(file, mode="w", format="ogg") as target:
            _encode(SoundTrack(source, stream, RATE, channels), target, channels, most)


def _encode(track: SoundTrack, target: Any, channels: int, most: int) -> None:  # noqa: ANN401 - `av` has no types we could name
    import av
    import numpy as np

    layout = "mono" if channels == 1 else "stereo"
    output = target.add_stream("libopus", rate=RATE, layout=layout)
    output.bit_rate = _BITS[channels]
    position = 0
    for block in track.blocks():
        samples: Samples = np.ascontiguousarray(block).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(samples, format="flt", layout=layout)
        frame.sample_rate = RATE
        frame.pts = position
        position += len(block)
        if position > most:
            raise Unreadable("the recording is longer than the limit", hint="cut it", reason="too_long")
        target.mux(output.encode(frame))
    target.mux(output.encode(None))


def main(arguments: list[str]) -> int:
    """Make the rendition SOURCE TARGET; return the exit code: 0, or 1 with `reason: message` on stderr."""
    try:
        source, target = arguments
        make_rendition(Path(source), Path(target))
    except KebabError as error:
        print(f"{getattr(error, 'reason', error.code)}: {error.message}", file=sys.stderr)  # noqa: T201 - a command
        return 1
    except (OSError, ValueError) as error:
        print(f"failed: {type(error).__name__}", file=sys.stderr)  # noqa: T201 - a command
        return 1
    return 0
