"""Files of the data folder that must stay for a while, though the library may no longer need them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class FilesHeld:
    """Says whether somebody still reads files by what the library said a moment ago: then nothing is removed.

    Who removes asks after the commit that declares files gone, and who holds looks at the library after that: a file
    that goes all the same is not among those looked for.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0

    def __bool__(self) -> bool:
        return self._holders > 0

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Hold until the end; several may."""
        with self._lock:
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
