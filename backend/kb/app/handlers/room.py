"""Work that writes much is not begun on a disk that is nearly full."""

from __future__ import annotations

from kb.app.bootstrap.health import require_room
from kb.app.config_file import Configuration
from kb.domain.jobs import Job
from kb.jobs.runner import Finished, Handler, JobContext


class NeedsRoom:
    """A handler that asks for room first, on the disk of the library.

    Args:
        configuration: says where the library is and how much must be free.
        handler: does the work.
    """

    def __init__(self, configuration: Configuration, handler: Handler) -> None:
        self._configuration = configuration
        self._handler = handler

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Do the work.

        Raises:
            StorageFailed: too little is free; nothing was begun.
        """
        require_room(self._configuration.data_dir, self._configuration.settings.storage.min_free_mb)
        return self._handler(job, context)
