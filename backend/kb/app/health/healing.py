"""Healing without being asked: a search that meets a damaged index starts a repair, and answers with what is left."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from kb.app.facade.library import Work
from kb.app.health.projections import is_lost
from kb.contract.index import IndexCheck
from kb.domain.errors import KebabError
from kb.domain.jobs import Job, JobId, JobKind, JobStatus
from kb.jobs.ports import JobList

URGENT = 20
"""Before everything else a person waits for, since a search without an index finds less."""

_PAUSE_S = 2.0
_LONGEST_PAUSE_S = 3_600.0
_GLANCE_S = 0.05
_log = logging.getLogger(__name__)


def _later(seconds: float, call: Callable[[], object]) -> None:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()


class Healing:
    """Starts repairs of lost projections, one at a time, and less and less often while they do not help.

    Args:
        look: compares the projections with the library; may take long.
        work: starts the repair.
        jobs: says how it ended.
        now: a clock in seconds that never goes back.
        later: calls something so many seconds from now, unless the program ends before.
    """

    def __init__(
        self,
        look: Callable[[], Sequence[IndexCheck]],
        work: Work,
        jobs: JobList,
        *,
        now: Callable[[], float] = time.monotonic,
        later: Callable[[float, Callable[[], object]], object] = _later,
    ) -> None:
        self._look = look
        self._work = work
        self._jobs = jobs
        self._now = now
        self._later = later
        self._waits = False
        self._lock = threading.Lock()
        self._looking: threading.Thread | None = None
        self._repair: JobId | None = None
        self._pause = _PAUSE_S
        self._not_before = 0.0
        self._closed = False

    def notice(self) -> None:
        """Look at the projections on a thread of its own, a while later if that was done just now; return at once."""
        with self._lock:
            if self._closed:
                return
            is_looking = self._looking is not None and self._looking.is_alive()
            pause = self._not_before - self._now()
            if is_looking or pause > 0:
                # That look may have been before the damage, and nobody else may ask for long.
                if not self._waits:
                    self._waits = True
                    self._later(max(pause, _GLANCE_S), self._notice_again)
                return
            self._not_before = self._now() + self._pause
            self._looking = threading.Thread(target=self._heal, name="healing", daemon=True)
            self._looking.start()

    def _notice_again(self) -> None:
        with self._lock:
            self._waits = False
        self.notice()

    def close(self, wait_s: float) -> None:
        """Look no more; wait so long for a repair that was started, which else goes on with the next start."""
        with self._lock:
            self._closed = True
            looking = self._looking
        deadline = self._now() + wait_s
        if looking is not None:
            looking.join(max(0.1, wait_s))
        while (job := self._live()) is not None and not job.status.is_final and self._now() < deadline:
            time.sleep(_GLANCE_S)

    def _live(self) -> Job | None:
        return self._jobs.get(self._repair) if self._repair is not None else None

    def _heal(self) -> None:
        try:
            last = self._live()
            if last is not None and not last.status.is_final:
                return
            lost = [check.name for check in self._look() if is_lost(check)]
            if not lost:
                self._pause, self._repair = _PAUSE_S, None
                return
            if last is not None and last.status is not JobStatus.CANCELED:
                # It came back after a repair: a disk that fails, or somebody else who writes there.
                self._pause = min(_LONGEST_PAUSE_S, 4 * self._pause)
                self._not_before = self._now() + self._pause
            _log.warning("damaged or missing, built anew from the library: %s", ", ".join(lost))
            self._repair = self._work.start(
                JobKind.REPAIR, {"deep": False, "everything": False}, priority=URGENT
            ).job_id
        except KebabError as error:
            _log.warning("a damaged index could not be repaired yet: %s", error.message)
        except Exception:  # noqa: BLE001 - on a thread of its own nobody else would hear of it
            _log.exception("looking at the indexes failed")
