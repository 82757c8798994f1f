"""The facade over opened parts, group by group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kb.app.collection_scope import CollectionScope
from kb.app.facade.answers import Answers
from kb.app.facade.backup import Backup
from kb.app.facade.chunking import ChunkingGroup
from kb.app.facade.chunks import Chunks, Mending
from kb.app.facade.collections import Collections
from kb.app.facade.connections import ConnectionsGroup
from kb.app.facade.evaluation import Evaluation
from kb.app.facade.events import Events
from kb.app.facade.generations import GenerationsGroup
from kb.app.facade.graph import Graph
from kb.app.facade.index import Index
from kb.app.facade.jobs import Jobs
from kb.app.facade.library import Library
from kb.app.facade.root import KebabFacade
from kb.app.facade.search import Search
from kb.app.facade.system import System
from kb.app.facade.versions import Versions
from kb.app.facade.viewer import Viewer
from kb.app.facade.why import WhyNot

if TYPE_CHECKING:
    from kb.app.bootstrap import Parts
    from kb.app.watching import Followed, Following
    from kb.app.work import JobDesk
    from kb.domain.recipes import DocumentId


def facade_of(parts: Parts, desk: JobDesk, events: Events, following: Following | None = None) -> KebabFacade:
    """Return the facade over opened parts."""
    return _Assembly(parts, desk, events, following).facade()


@dataclass
class _Assembly:
    """What the groups are made of, and what several of them share."""

    parts: Parts
    desk: JobDesk
    events: Events
    following: Following | None

    def facade(self) -> KebabFacade:
        from kb.app.connections import ConnectionBoard
        from kb.app.generations import GenerationShelf
        from kb.app.health.examination import Examination
        from kb.app.health.projections import index_checks
        from kb.app.shelves import version_shelf

        parts, desk, events, control = self.parts, self.desk, self.events, self.parts.job_control
        return KebabFacade(
            library=self.library,
            versions=Versions(version_shelf(parts, desk, events), self.library.named),
            search=self._search(),
            collections=Collections(parts.collections, self.scope, lambda: events.changed("collections")),
            answers=self._answers(),
            chunks=self._chunks(),
            chunking=self._chunking(),
            viewer=self._viewer(),
            jobs=Jobs(control, desk.steered),
            index=Index(control, desk, lambda deep: list(index_checks(parts, deep=deep))),
            generations=GenerationsGroup(control, desk, GenerationShelf(parts)),
            connections=ConnectionsGroup(ConnectionBoard(parts)),
            graph=self._graph(),
            evaluation=self._evaluation(),
            backup=Backup(parts.backup_shelf, control, desk),
            system=System(Examination(parts, desk, self.followed)),
            events=events,
        )

    @cached_property
    def followed(self) -> Callable[[], Followed]:
        """Return what says how the workspace is followed."""
        from kb.app.watching import without_changes

        return self.following.followed if self.following else lambda: without_changes(self.parts.compared)

    @cached_property
    def library(self) -> Library:
        """Return the group that knows items by any name."""
        from kb.app.bootstrap.watching import has_few

        parts = self.parts
        return Library(
            parts.catalogue,
            parts.catalogue,
            parts.reading,
            parts.runs,
            parts.job_control,
            self.desk,
            model=lambda: parts.model,
            workspace=parts.configuration.workspace.name,
            followed=self.followed,
            has_few=has_few(parts),
            links_read=_links_read(parts),
        )

    @cached_property
    def scope(self) -> CollectionScope:
        """Return what finds collections by any name."""
        return CollectionScope(self.parts.collections, lambda what: self.library.named(what).item.item_id)

    def _search(self) -> Search:
        parts = self.parts
        return Search(
            parts.ready_retriever,
            parts.settings.search,
            kept=parts.saved_searches,
            names=parts.names,
            why_not=WhyNot(parts.expected, parts.asking_retriever),
            counts=parts.search_counters,
            scope=self.scope,
            changed=lambda: self.events.changed("settings"),
        )

    def _answers(self) -> Answers:
        parts, settings = self.parts, self.parts.settings
        return Answers(
            parts.pipeline,
            parts.answers,
            self.events,
            search=settings.search,
            rag=settings.rag,
            llm=settings.models.llm,
            scope=self.scope,
        )

    def _chunks(self) -> Chunks:
        parts, events = self.parts, self.events
        told = Mending(
            parts.layers, parts.layers, parts.channels.follow, lambda: events.changed("documents", "items", "index")
        )
        return Chunks(parts.catalogue, told)

    def _chunking(self) -> ChunkingGroup:
        from kb.app.chunking_state import ChunkingState
        from kb.app.cutting import Cutting

        parts = self.parts
        return ChunkingGroup(
            ChunkingState(parts),
            parts.item_chunking,
            named=self.library.named,
            collection_id=lambda what: self.scope.named(what).collection_id,
            cut=Cutting(parts).cut,
            workspace=lambda: (parts.wanted.policy, parts.recipe.policy),
            jobs=parts.job_control,
            work=self.desk,
            changed=lambda: self.events.changed("settings"),
        )

    def _viewer(self) -> Viewer:
        parts = self.parts
        return Viewer(
            parts.catalogue,
            parts.reading,
            parts.chunks,
            parts.artifacts,
            decoder=parts.decoder,
            originals=parts.originals,
        )

    def _graph(self) -> Graph:
        parts = self.parts
        return Graph(
            parts.edges,
            parts.job_control,
            self.desk,
            self.library.named,
            forget_read=parts.links.forget_read,
            is_on=parts.settings.graph.enabled,
            changed=lambda: self.events.changed("index"),
        )

    def _evaluation(self) -> Evaluation:
        from kb.app.evaluation.golden import Golden

        parts = self.parts
        golden = Golden(parts.catalogue, parts.reading.kept_chunk, parts.answers.get)
        return Evaluation(parts.evaluation, golden, parts.job_control, self.desk)


def _links_read(parts: Parts) -> Callable[[DocumentId], bool] | None:
    """Return what says whether the links of a document are read; None while links are not followed."""
    from kb.ingest.links import LINKS_VERSION

    return (lambda doc_id: parts.edges.is_read(doc_id, LINKS_VERSION)) if parts.settings.graph.enabled else None
