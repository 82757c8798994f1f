"""Stop strings in a stream: text is passed on only when no stop string can begin in it any more."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field


@dataclass(slots=True)
class StopReader:
    """Decodes bytes and watches for stop strings; `stopped` once one came."""

    stops: tuple[str, ...]
    stopped: bool = False
    _held: str = ""
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")(errors="replace")
    )

    def feed(self, data: bytes, *, final: bool = False) -> str:
        """Return the text that is certain; what follows a stop string is lost on purpose."""
        if self.stopped:
            return ""
        # At the end the beginning of a letter is left over when the limit fell inside it; half a letter is no text.
        self._held += self._decoder.decode(data)
        places = [place for stop in self.stops if (place := self._held.find(stop)) >= 0]
        if places:
            self.stopped = True
            text, self._held = self._held[: min(places)], ""
            return text
        keep = 0 if final else self._possible_start()
        text = self._held[: len(self._held) - keep]
        self._held = self._held[len(text) :]
        return text

    def _possible_start(self) -> int:
        """Return the length of the longest end of the text that begins a stop string."""
        return max(
            (
                size
                for stop in self.stops
                for size in range(1, min(len(stop), len(self._held) + 1))
                if self._held.endswith(stop[:size])
            ),
            default=0,
        )
