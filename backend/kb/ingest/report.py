"""What an ingest run did: the counts and, if wanted, one line for each file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from kb.domain.chunks import ChunkRole
from kb.domain.documents import ParseWarning
from kb.domain.files import ScanProblem, Scope
from kb.domain.items import Item, ItemState, RawAsset
from kb.domain.recipes import AssetId, DocumentId, ItemId
from kb.ingest.making import MadeDocument
from kb.ingest.removals import HeldBack

UNSUPPORTED = "unsupported"
"""The word of files that nothing here reads."""
_MOST_PROBLEMS = 10


class ItemKind(StrEnum):
    """What became of one file."""

    NEW = "new"
    UPDATED = "updated"
    SKIPPED = "skipped"
    ERROR = "error"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class ItemReport:
    """One file of a run. Sizes and versions are None where nothing was read.

    Attributes:
        byte_len: bytes of the file as read.
        error: why it cannot be searched, or why it was passed over, in one sentence.
        reason: the same as one stable word.
    """

    kind: ItemKind
    doc_path: str
    doc_id: DocumentId | None = None
    asset_id: AssetId | None = None
    byte_len: int | None = None
    block_count: int | None = None
    chunk_count: int | None = None
    parser_version: str | None = None
    chunker_version: str | None = None
    warnings: tuple[ParseWarning, ...] = ()
    error: str | None = None
    item_id: ItemId | None = None
    renamed_from: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know about the whole run: a stable word, the fact, the remedy."""

    reason: str
    detail: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The result of a run. `scanned = new + updated + renamed + skipped + errors` once a run was not canceled.

    Attributes:
        duration_ms: wall time.
        items: None when only a summary was wanted.
        unsupported: how many of the skipped are of a kind that nothing here reads.
        embedded: texts that were given a vector in this run.
        adopted: chunks whose text had a vector already.
        notices: what is degraded, such as `no_embedding_model`.
        canceled: the person stopped the run; everything counted here is committed and stays.
        held_back: missing files that are still shown.
        too_many: an urgent run met more files than a few, and did nothing.
    """

    scope: Scope
    scanned: int
    new: int
    updated: int
    skipped: int
    errors: int
    deleted: int
    renamed: int
    duration_ms: int
    items: tuple[ItemReport, ...] | None
    unsupported: int = 0
    embedded: int = 0
    adopted: int = 0
    notices: tuple[Notice, ...] = ()
    canceled: bool = False
    held_back: HeldBack | None = None
    too_many: bool = False


@dataclass(slots=True)
class ReportBuilder:
    """Counts while a run goes on; collects lines only when `collects`."""

    collects: bool
    scanned: int = 0
    embedded: int = 0
    adopted: int = 0
    canceled: bool = False
    unsupported: int = 0
    held_back: HeldBack | None = None
    too_many: bool = False
    notices: list[Notice] = field(default_factory=list)
    _counts: Counter[ItemKind] = field(default_factory=Counter)
    _items: list[ItemReport] = field(default_factory=list)

    def add(self, item: ItemReport) -> None:
        """Count one file."""
        self._counts[item.kind] += 1
        self.unsupported += item.reason == UNSUPPORTED
        if self.collects:
            self._items.append(item)

    def add_lost(self, item: Item) -> None:
        """Say of a file that was counted as read that its document could not be kept."""
        self.notices.append(Notice("internal", f"{item.path}: {(item.reason or '').partition(': ')[2]}"))

    def add_unchanged(self, item: Item) -> None:
        """Count a file that is as it was."""
        if self.collects:
            self.add(unchanged(item))
            return
        self._counts[ItemKind.SKIPPED] += 1
        self.unsupported += item.state is ItemState.UNSUPPORTED

    def add_deleted(self, item: Item) -> None:
        """Count an item whose file is gone."""
        self.add(ItemReport(ItemKind.DELETED, item.path, item.active_doc_id, item.asset_id, item_id=item.item_id))

    def add_problem(self, problem: ScanProblem) -> None:
        """Count what the scan could not look into; a summary says the first of them too."""
        if not self.collects and len(self.notices) < _MOST_PROBLEMS:
            self.notices.append(Notice(problem.reason, f"{problem.path}: {problem.note}"))
        self.add(ItemReport(ItemKind.SKIPPED, problem.path, error=problem.note, reason=problem.reason))

    def build(self, scope: Scope, duration_ms: int) -> IngestReport:
        """Return the report, lines in path order."""
        items = tuple(sorted(self._items, key=lambda item: item.doc_path)) if self.collects else None
        return IngestReport(
            scope=scope,
            scanned=self.scanned,
            new=self._counts[ItemKind.NEW],
            updated=self._counts[ItemKind.UPDATED],
            skipped=self._counts[ItemKind.SKIPPED],
            errors=self._counts[ItemKind.ERROR],
            deleted=self._counts[ItemKind.DELETED],
            renamed=self._counts[ItemKind.RENAMED],
            duration_ms=duration_ms,
            items=items,
            unsupported=self.unsupported,
            embedded=self.embedded,
            adopted=self.adopted,
            notices=tuple(self.notices),
            canceled=self.canceled,
            held_back=self.held_back,
            too_many=self.too_many,
        )


def unchanged(item: Item) -> ItemReport:
    """Return the line of a file that is as it was; a stored reason is `word: sentence`."""
    word, _, sentence = (item.reason or "").partition(": ")
    return ItemReport(
        ItemKind.SKIPPED,
        item.path,
        item.active_doc_id,
        item.asset_id,
        error=sentence or None,
        item_id=item.item_id,
        reason=word or None,
    )


def reason_report(  # noqa: PLR0917 - the parts of one line
    kind: ItemKind, item: Item, word: str, sentence: str, asset: AssetId | None = None, byte_len: int | None = None
) -> ItemReport:
    """Return the line of a file that gave nothing."""
    return ItemReport(
        kind, item.path, item.active_doc_id, asset, byte_len, error=sentence, item_id=item.item_id, reason=word
    )


def made_report(kind: ItemKind, asset: RawAsset, made: MadeDocument) -> ItemReport:
    """Return the line of a file that gave a document."""
    document = made.document
    return ItemReport(
        kind,
        document.workspace_path,
        document.doc_id,
        asset.asset_id,
        asset.byte_len,
        len(document.blocks),
        sum(chunk.role is not ChunkRole.PARENT for chunk in made.chunks),
        parser_version=document.parser_version,
        chunker_version=made.chunks[0].chunker_version,
        warnings=document.warnings,
    )
