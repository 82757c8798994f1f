"""What a run works with, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from kb.ingest.library_ports import DocumentWriter, IndexLog, ItemStore, TextIndexWriter, VectorIndexWriter, VectorStore
from kb.ingest.makers import DocumentMaker, ItemMakers
from kb.ingest.members import UNPACKED_BYTES
from kb.ingest.ports import ArtifactStore, AssetStore, FileSource, PassageEmbedder
from kb.ingest.removals import GroundReader, GroundStore
from kb.ingest.verifying import Verification


@dataclass(frozen=True, slots=True)
class IngestPorts:
    """Everything a run works with; no embedder means text only.

    Attributes:
        together: what the library writes inside is one transaction, all or nothing.
        artifacts: keeps words with boxes and transcripts; None in tests of text alone.
        give_back: returns memory to the system that documents took, which would else stay with this process.
        verification: asks the text index for every document before it is shown; None in tests of other things.
        work_off: removes from disk what the library no longer holds; None to leave that to the copies' own store.
        ground_store: remembers what the workspace stood on; None in tests that delete without asking.
        ground_reader: looks at it.
        makers: which maker cuts an item; None when all are cut by `maker`.
    """

    files: FileSource
    assets: AssetStore
    items: ItemStore
    documents: DocumentWriter
    maker: DocumentMaker
    vectors: VectorStore
    log: IndexLog
    text_index: TextIndexWriter
    vector_indexes: Sequence[VectorIndexWriter] = ()
    embedder: PassageEmbedder | None = None
    together: Callable[[], AbstractContextManager[object]] = nullcontext
    artifacts: ArtifactStore | None = None
    give_back: Callable[[], object] = lambda: None
    verification: Verification | None = None
    work_off: Callable[[], object] | None = None
    ground_store: GroundStore | None = None
    ground_reader: GroundReader | None = None
    makers: ItemMakers | None = None


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How a run works.

    Attributes:
        workers: passages embedded at once, one thread each.
        keep_versions: superseded versions kept of each item, beside those that answers cite.
        keep_deleted_days: for so long the last version of a file that is gone is kept.
        retry: what failed or waits, in whole or in part, is read again although unchanged.
        summary_only: no line for each file is kept.
        password: opens locked files; failed and waiting files are then read again. Kept nowhere.
        most_depth: how many containers a file may lie in, and a container less than that.
        most_unpacked: bytes that may come out of a file at each depth.
        asks: nobody waits for this run: many files missing at once are held back until a person says they are gone.
        confirm_removals: a person said so; nothing is held back.
        urgent: a few files ahead of all else; it says when they are not few, and leaves tidying to others.
    """

    workers: int = 1
    keep_versions: int = 3
    keep_deleted_days: int = 30
    retry: bool = False
    summary_only: bool = False
    password: str | None = field(default=None, repr=False)
    most_depth: int = 3
    most_unpacked: int = UNPACKED_BYTES
    asks: bool = False
    confirm_removals: bool = False
    urgent: bool = False
