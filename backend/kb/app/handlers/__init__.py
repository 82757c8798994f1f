"""What does the work of each kind of job."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kb.app.bootstrap import Parts
from kb.app.facade.events import Events
from kb.app.handlers.backup import BackupHandler, MergeHandler
from kb.app.handlers.evaluation import EvaluationHandler
from kb.app.handlers.generations import GenerationHandler, SwitchHandler
from kb.app.handlers.ingest import IngestHandler
from kb.app.handlers.links import LinksHandler
from kb.app.handlers.rebuild import RebuildHandler
from kb.app.handlers.repair import RepairHandler
from kb.app.handlers.reprocess import ReprocessHandler
from kb.app.handlers.room import NeedsRoom
from kb.app.handlers.tidying import CompactHandler, PurgeHandler
from kb.domain.jobs import JobId, JobKind
from kb.jobs.runner import Handler


def handlers(parts: Parts, events: Events, take_password: Callable[[JobId], str | None]) -> Mapping[JobKind, Handler]:
    """Return the handler of every kind."""
    return {
        JobKind.INGEST: NeedsRoom(parts.configuration, IngestHandler(parts, events, take_password)),
        JobKind.REBUILD: NeedsRoom(parts.configuration, RebuildHandler(parts, events)),
        JobKind.REPAIR: RepairHandler(parts, events),
        JobKind.GENERATION: NeedsRoom(parts.configuration, GenerationHandler(parts, events)),
        JobKind.REPROCESS: NeedsRoom(parts.configuration, ReprocessHandler(parts, events)),
        JobKind.SWITCH: SwitchHandler(parts, events),
        JobKind.LINKS: LinksHandler(parts, events),
        JobKind.PURGE: PurgeHandler(parts, events),
        JobKind.COMPACT: CompactHandler(parts, events),
        JobKind.BACKUP: NeedsRoom(parts.configuration, BackupHandler(parts)),
        JobKind.EVALUATION: NeedsRoom(parts.configuration, EvaluationHandler(parts, parts.evaluation)),
        JobKind.MERGE: NeedsRoom(parts.configuration, MergeHandler(parts, events)),
    }
