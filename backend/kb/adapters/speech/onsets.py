"""Where in the time that a recogniser gives a word the word can be heard to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

_FRAME_SECONDS = 0.02
_LONG_WORD = 0.3
_HEARD = 0.12
_LEAST_SHIFT, _MOST_OF_WORD = 0.1, 0.8


def onset(sound: Samples, rate: int, start: float, end: float) -> float:
    """Return the second at which a word between `start` and `end` becomes audible, `start` when that is not clear.

    Whisper counts a pause to the word behind it. The word begins where the level first reaches an eighth of its
    highest; over noise that is at once, so nothing is moved.
    """
    import numpy as np

    if end - start < _LONG_WORD:
        return start
    width = round(_FRAME_SECONDS * rate)
    samples = sound[round(start * rate) : round(end * rate)]
    frames = samples[: len(samples) // width * width].reshape(-1, width)
    if not len(frames):
        return start
    levels = np.sqrt(np.square(frames, dtype=np.float64).mean(axis=1))
    first = int(np.argmax(levels >= _HEARD * levels.max()))
    shift = max(first - 1, 0) * _FRAME_SECONDS
    return start + shift if _LEAST_SHIFT <= shift <= _MOST_OF_WORD * (end - start) else start
