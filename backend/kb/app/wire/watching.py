"""How the workspace is followed, on the wire."""

from __future__ import annotations

from kb.app.watching import Followed
from kb.contract.watching import HeldBack, Watch


def watch_to_wire(followed: Followed) -> Watch:
    """Return `watch.v1`."""
    held = followed.held_back
    return Watch(
        watching=followed.watching,
        problem=followed.problem,
        pending=followed.pending,
        last_change_at=followed.last_change_at,
        last_compared_at=followed.last_compared_at,
        held_back=HeldBack(count=held.count, of=held.of, reason=held.reason, examples=held.examples) if held else None,
    )
