"""What the library no longer holds goes from the disk, too: after the commit that said so, and never twice."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from kb.domain.errors import KebabError
from kb.domain.versions import Removal

_AT_ONCE = 500
_log = logging.getLogger(__name__)


class Outbox(Protocol):
    """Removals that were committed and are not done."""

    def waiting(self, after: int, limit: int) -> Sequence[Removal]:
        """Return removals by rising number."""

    def done(self, numbers: Sequence[int]) -> None:
        """Take removals off, in one transaction."""


class Remover(Protocol):
    """Removes files of ours, and nothing else."""

    def remove(self, kind: str, name: str) -> None:
        """Remove it; what is not there is removed.

        Raises:
            StorageFailed: it lies outside what is ours, or the disk refuses.
        """


def work_off(
    outbox: Outbox, remover: Remover, heed: Callable[[], object] = lambda: None, *, most: int | None = None
) -> int:
    """Do the removals that wait, `most` of them or all; one that fails stays for the next time. Return how many failed.

    To be called by the thread that ingests: whoever writes a copy must not meet its removal.
    """
    after = stay = begun = 0
    while removals := outbox.waiting(after, _AT_ONCE if most is None else min(_AT_ONCE, most - begun)):
        begun += len(removals)
        done = []
        for removal in removals:
            try:
                if not removal.is_needed:
                    remover.remove(removal.kind, removal.name)
                done.append(removal.number)
            except KebabError as error:
                stay += 1
                _log.warning("something that is gone from the library stays on disk: %s", error.message)
        outbox.done(done)
        after = removals[-1].number
        heed()
    return stay
