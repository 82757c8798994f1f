"""How long a job waits before it is tried again."""

from __future__ import annotations

import zlib

from kb.domain.jobs import JobId

_FIRST_S = 2.0
_GROWTH = 4.0
_LONGEST_S = 600.0
_SPREAD = 0.25


def seconds_to_next_attempt(job_id: JobId, attempts: int) -> float:
    """Return the seconds to wait after `attempts` (from 1) failures: 2, 8, 32, …, at most 600.

    Up to a quarter less, by the job's id, so that several that met the same fault do not come back together.
    """
    wait = min(_FIRST_S * _GROWTH ** (attempts - 1), _LONGEST_S)
    return wait * (1 - _SPREAD * (zlib.crc32(job_id.encode()) % 1000) / 1000)
