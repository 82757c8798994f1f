"""`chunking`: how files are cut, and making them anew one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from kb.app.facade.library import Work
from kb.app.wire.jobs import job_to_wire
from kb.contract.chunking import (
    Chunking,
    ChunkingPending,
    ChunkingPendingItem,
    ChunkingPendingRequest,
    ChunkingRequest,
    SetChunkingRequest,
)
from kb.contract.chunking_preview import ChunkingPreview, PreviewChunkingRequest, PreviewedChunk
from kb.contract.collection_settings import CollectionChunking
from kb.contract.jobs import Job, JobRequest
from kb.contract.reprocessing import ReprocessReport, ReprocessRequest
from kb.domain.catalogue import ItemRow
from kb.domain.chunks import Chunk, ChunkPolicy, ChunkRole
from kb.domain.collection_settings import Settings, checked_chunking
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.ids import Json
from kb.domain.jobs import JobId, JobKind
from kb.jobs.ports import JobControl

if TYPE_CHECKING:
    from kb.app.chunking_state import ChunkingState, PendingItem


class Overrides(Protocol):
    """Keeps settings of single items."""

    def set_override(self, item_id: str, settings: Settings | None) -> None:
        """Keep an item's own settings; None lets it be cut as its collection or the workspace says."""


class ChunkingGroup:
    """Says how files are cut, changes that, and has them made anew.

    Args:
        state: compares what is wanted with what serves.
        overrides: keeps settings of single items.
        named: finds the item that a path, `item_id` or `doc_id` means; raises NotFound.
        collection_id: finds the collection that an id or name means; raises NotFound.
        cut: cuts an item's file with some settings, and keeps nothing.
        workspace: what the configuration says, and how most files are cut.
        jobs: finished and running ones.
        work: starts jobs.
        changed: called after settings changed.
    """

    def __init__(  # noqa: PLR0913 - the parts of one group
        self,
        state: ChunkingState,
        overrides: Overrides,
        *,
        named: Callable[[str], ItemRow],
        collection_id: Callable[[str], str],
        cut: Callable[[str, Settings], tuple[Chunk, ...]],
        workspace: Callable[[], tuple[ChunkPolicy, ChunkPolicy]],
        jobs: JobControl,
        work: Work,
        changed: Callable[[], object],
    ) -> None:
        self._state = state
        self._overrides = overrides
        self._named = named
        self._collection_id = collection_id
        self._cut = cut
        self._workspace = workspace
        self._jobs = jobs
        self._work = work
        self._changed = changed

    def get(self, request: ChunkingRequest) -> Chunking:
        """Return how a file, or the workspace, is meant to be cut and is cut."""
        if request.doc is None:
            wanted, served = self._workspace()
            return Chunking(
                doc_path=None,
                wanted=_wire(wanted.settings),
                source="workspace",
                collection=None,
                served=_wire(served.settings),
                pending=not served.cuts_as(wanted),
            )
        item = self._named(request.doc).item
        found, now = self._state.wanted(item.item_id), self._state.served(item.item_id)
        return Chunking(
            doc_path=item.path,
            wanted=_wire(found.settings),
            source=found.source,
            collection=found.collection,
            served=_wire(now.settings) if now else None,
            pending=now is not None and not now.cuts_as(now.with_settings(found.settings)),
        )

    def set(self, request: SetChunkingRequest) -> Chunking:
        """Keep settings of one file's own; nothing is cut by them until it is made anew."""
        item = self._named(request.doc).item
        settings = checked_chunking(request.settings.model_dump()) if request.settings else None
        self._overrides.set_override(item.item_id, settings)
        self._changed()
        return self.get(ChunkingRequest(doc=item.item_id))

    def pending(self, request: ChunkingPendingRequest) -> ChunkingPending:
        """Return which files are cut otherwise than is wanted of them."""
        found = self._state.pending()
        return ChunkingPending(count=len(found), items=tuple(_pending(one) for one in found[: request.limit]))

    def rebuild(self, request: ReprocessRequest) -> Job:
        """Start making files anew, each replaced whole."""
        payload: dict[str, Json] = {}
        if request.docs:
            if request.all or request.collection is not None:
                raise InvalidInput("files are named beside a collection or all", hint="give one of them")
            items: list[Json] = [self._named(doc).item.item_id for doc in request.docs]
            payload["items"] = items
        if request.collection is not None:
            payload["collection"] = self._collection_id(request.collection)
        if request.all:
            payload["all"] = True
        if not payload and not self._state.pending():
            raise InvalidInput(
                "every file is cut as is wanted of it: there is nothing to rebuild",
                hint="change settings first, or name files",
            )
        return job_to_wire(self._work.start(JobKind.REPROCESS, payload))

    def rebuilt(self, request: JobRequest) -> ReprocessReport:
        """Return what a rebuild that ended did."""
        job = self._jobs.get(JobId(request.job_id))
        if job is None or job.kind is not JobKind.REPROCESS:
            raise NotFound(f"there is no rebuild {request.job_id[:64]!r}", hint="list jobs with `kb jobs`")
        if not job.result:
            hint = "run it again" if job.status.is_final else "wait until it ends"
            raise InvalidInput(f"the job is {job.status.value} and has no report", hint=hint)
        result: Mapping[str, Json] = job.result
        return ReprocessReport.model_validate(dict(result))

    def preview(self, request: PreviewChunkingRequest) -> ChunkingPreview:
        """Cut one file with some settings and keep nothing."""
        item = self._named(request.doc).item
        given = request.settings.model_dump() if request.settings else self._state.wanted(item.item_id).settings
        settings = checked_chunking(given)
        chunks = self._cut(item.item_id, settings)
        lengths = [len(chunk.text) for chunk in chunks if chunk.role is not ChunkRole.PARENT]
        ordinals = {chunk.chunk_id: chunk.ordinal for chunk in chunks}
        return ChunkingPreview(
            doc_path=item.path,
            settings=_wire(settings),
            passages=len(lengths),
            parents=len(chunks) - len(lengths),
            shortest=min(lengths, default=0),
            longest=max(lengths, default=0),
            chunks=tuple(
                PreviewedChunk(
                    ordinal=chunk.ordinal,
                    role=chunk.role.value,
                    parent=ordinals[chunk.parent_chunk_id] if chunk.parent_chunk_id else None,
                    heading_path=chunk.heading_path,
                    text=chunk.text,
                    char_count=len(chunk.text),
                    token_estimate=chunk.token_estimate,
                )
                for chunk in chunks[: request.limit]
            ),
        )


def _wire(settings: Settings) -> CollectionChunking:
    return CollectionChunking.model_validate(dict(settings))


def _pending(one: PendingItem) -> ChunkingPendingItem:
    return ChunkingPendingItem(
        item_id=one.item_id,
        path=one.path,
        source=one.wanted.source,
        collection=one.wanted.collection,
        wanted=_wire(one.wanted.settings),
        served=_wire(one.served.settings),
    )
