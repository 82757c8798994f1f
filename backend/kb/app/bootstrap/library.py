"""The library and its files: the parts of one opened data folder that need no index and no model."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from kb.adapters.evaluation.pytrec import PytrecMeasures
from kb.adapters.files.artifacts import FileArtifacts
from kb.adapters.files.eval_files import FileEvalRuns, SuiteFiles
from kb.adapters.files.filesystems import file_system
from kb.adapters.files.leftovers import FileLeftovers
from kb.adapters.files.removal import ContainedRemover
from kb.adapters.sqlite.answers import SqliteAnswerStore
from kb.adapters.sqlite.catalogue import SqliteCatalogue
from kb.adapters.sqlite.collections import SqliteCollections
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.edges import SqliteEdges
from kb.adapters.sqlite.eval_runs import SqliteEvalRuns
from kb.adapters.sqlite.gate import SqliteGatedChunks
from kb.adapters.sqlite.graph import SqliteGraph
from kb.adapters.sqlite.index_log import SqliteIndexLog
from kb.adapters.sqlite.integrity import SqliteIntegrity
from kb.adapters.sqlite.items import SqliteItemStore
from kb.adapters.sqlite.job_control import SqliteJobControl
from kb.adapters.sqlite.jobs import SqliteJobStore
from kb.adapters.sqlite.layers import SqliteLayers
from kb.adapters.sqlite.links import SqliteLinks
from kb.adapters.sqlite.outbox import SqliteOutbox
from kb.adapters.sqlite.purge import SqlitePurge
from kb.adapters.sqlite.reading import SqliteReading
from kb.adapters.sqlite.runs import SqliteIngestRuns
from kb.adapters.sqlite.saved_searches import SqliteSavedSearches
from kb.adapters.sqlite.upkeep import SqliteUpkeep
from kb.adapters.sqlite.vectors import SqliteVectorStore
from kb.adapters.sqlite.versions import SqliteVersions
from kb.app.backup.holding import FilesHeld
from kb.app.bootstrap.backup import backup_parts, backup_places, backup_shelf, merge_parts
from kb.app.bootstrap.made_once import made_once
from kb.app.config_file import Configuration
from kb.app.evaluation.keeping import EvalKeeping
from kb.app.originals import Originals
from kb.domain.recipes import ItemId
from kb.ingest.outbox import work_off
from kb.jobs.endings import RememberedEnds

if TYPE_CHECKING:
    from kb.adapters.power.battery import PsutilPower
    from kb.app.backup.making import BackupParts
    from kb.app.backup.merging import MergeParts
    from kb.app.backup.shelf import BackupShelf

_log = logging.getLogger(__name__)


class LibraryParts:
    """The library file and the files beside it.

    Raises:
        StorageFailed: the library cannot be opened.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.settings = configuration.settings
        on = file_system(configuration.data_dir)
        if not on.is_safe_for_wal:
            _log.warning(
                "the data folder is on %s: a rollback journal is used, since locks may not hold there", on.name
            )
        self.library = Library(configuration.data_dir, wal=on.is_safe_for_wal)
        # Called by searches that meet a damaged index; who opens the library says what then happens.
        self.damage_noticed: Callable[[], object] = lambda: None
        self.making = threading.RLock()
        self.files_held = FilesHeld()

    @made_once
    def chunks(self) -> SqliteGatedChunks:
        """Return the final gate."""
        return SqliteGatedChunks(self.library)

    @made_once
    def layers(self) -> SqliteLayers:
        """Return what people change in passages."""
        return SqliteLayers(self.library)

    @made_once
    def collections(self) -> SqliteCollections:
        """Return the collections."""
        return SqliteCollections(self.library)

    @made_once
    def saved_searches(self) -> SqliteSavedSearches:
        """Return the kept searches."""
        return SqliteSavedSearches(self.library)

    @made_once
    def catalogue(self) -> SqliteCatalogue:
        """Return the lists of the library."""
        return SqliteCatalogue(self.library)

    @made_once
    def links(self) -> SqliteLinks:
        """Return what documents point to."""
        return SqliteLinks(self.library)

    @made_once
    def link_graph(self) -> SqliteGraph:
        """Return the links as the graph channel walks them."""
        return SqliteGraph(self.library, self.settings.graph.most_tag_items)

    @made_once
    def edges(self) -> SqliteEdges:
        """Return the links as people see and change them."""
        return SqliteEdges(self.library, self.link_graph, self.settings.graph.most_tag_items)

    @made_once
    def reading(self) -> SqliteReading:
        """Return what shows one document."""
        return SqliteReading(self.library)

    @made_once
    def log(self) -> SqliteIndexLog:
        """Return the index log."""
        return SqliteIndexLog(self.library)

    @made_once
    def vectors(self) -> SqliteVectorStore:
        """Return the vectors of the library."""
        return SqliteVectorStore(self.library)

    @made_once
    def answers(self) -> SqliteAnswerStore:
        """Return the kept answers."""
        return SqliteAnswerStore(self.library)

    @made_once
    def evaluation(self) -> EvalKeeping:
        """Return the suites and runs of evaluation."""
        folder = self.configuration.data_dir
        return EvalKeeping(SuiteFiles(folder), SqliteEvalRuns(self.library), FileEvalRuns(folder), PytrecMeasures())

    @made_once
    def runs(self) -> SqliteIngestRuns:
        """Return the ingest runs."""
        return SqliteIngestRuns(self.library)

    @made_once
    def integrity(self) -> SqliteIntegrity:
        """Return the checks of the library file."""
        return SqliteIntegrity(self.library)

    @made_once
    def upkeep(self) -> SqliteUpkeep:
        """Return what keeps the library sound."""
        return SqliteUpkeep(self.library)

    @made_once
    def leftovers(self) -> FileLeftovers:
        """Return what finds files that nothing needs."""
        return FileLeftovers(self.configuration.data_dir)

    @made_once
    def versions(self) -> SqliteVersions:
        """Return the versions of items."""
        return SqliteVersions(self.library)

    def purge(self, heed: Callable[[], object] = lambda: None) -> SqlitePurge:
        """Return what lets go of versions; `heed` is called between its transactions."""
        return SqlitePurge(self.library, heed)

    def include(self, item_id: ItemId, *, included: bool) -> None:
        """Take an item in or out."""
        SqliteItemStore(self.library).include(item_id, included=included)

    def work_off_removals(self, most: int | None = None) -> int:
        """Remove from disk what the library no longer holds, at most so many; return how many could not be."""
        outbox = SqliteOutbox(self.library)
        if self.files_held:
            # A backup still reads files by what the library said a moment ago; the next time is soon enough.
            return len(outbox.waiting(0, 1_000))
        return work_off(outbox, ContainedRemover(self.configuration.data_dir), most=most)

    @made_once
    def artifacts(self) -> FileArtifacts:
        """Return the words with boxes and the transcripts of documents."""
        return FileArtifacts(self.configuration.data_dir)

    @made_once
    def originals(self) -> Originals:
        """Return what finds the bytes of items."""
        from kb.app.readers import renditions

        configuration = self.configuration
        return Originals(configuration.workspace, configuration.data_dir, renditions(configuration.locations.cache_dir))

    @made_once
    def job_store(self) -> RememberedEnds:
        """Return the job queue."""
        return RememberedEnds(SqliteJobStore(self.library), SqliteJobControl(self.library))

    @made_once
    def power(self) -> PsutilPower:
        """Return what tells whether the computer runs on its battery."""
        from kb.adapters.power.battery import PsutilPower

        return PsutilPower()

    @property
    def job_control(self) -> RememberedEnds:
        """Return what looks at jobs."""
        return self.job_store

    @made_once
    def library_id(self) -> str:
        """Return the id that stamps of projections carry."""
        return self.library.meta("library_id") or ""

    @property
    def backup_shelf(self) -> BackupShelf:
        """Return what looks at backups."""
        return backup_shelf(backup_places(self.configuration))

    def backup_parts(self) -> BackupParts:
        """Return everything that writing a backup works with."""
        return backup_parts(self.configuration, self.library, self.artifacts, self.files_held.holding)

    def merge_parts(self) -> MergeParts:
        """Return everything that taking in a backup works with."""
        return merge_parts(self.configuration, self.library, self.files_held.holding)
