"""One file: read, recognised, made into a document and staged, or kept with the reason why not."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from kb.domain.chunks import Chunk
from kb.domain.documents import CanonicalDocument
from kb.domain.embeddings import EmbeddingModel
from kb.domain.errors import CannotRun, Unreadable
from kb.domain.files import FileBytes, ScannedFile
from kb.domain.ids import uuid7
from kb.domain.items import Item, ItemState, MediaType, RawAsset
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import AssetId, DocumentId, ItemId
from kb.domain.recipes import asset_id as asset_id_of
from kb.ingest.library_ports import DocumentWriter, ItemStore
from kb.ingest.plan import Change, wants_retry
from kb.ingest.ports import AssetStore, FileSource
from kb.ingest.report import UNSUPPORTED, ItemKind, ItemReport, unchanged

_FAMILIES = {
    MediaType.PDF: "PDF files are",
    MediaType.IMAGE: "pictures are",
    MediaType.AUDIO: "sound recordings are",
    MediaType.VIDEO: "videos are",
    MediaType.HTML: "HTML pages are",
    MediaType.OFFICE: "office documents are",
    MediaType.MAIL: "mail files are",
    MediaType.BOOK: "electronic books are",
    MediaType.ARCHIVE: "archives are",
    MediaType.OTHER: "files of this kind are",
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MadeDocument:
    """What parsing, normalising and chunking make of a file; no chunks when it holds no text."""

    document: CanonicalDocument
    chunks: tuple[Chunk, ...]


class DocumentMaker(Protocol):
    """Parse, normalise and chunk, as one step."""

    def fingerprint(self, media_type: MediaType) -> str | None:
        """Return parser, chunker and policy for such files; None when nothing reads them."""

    def is_current(self, fingerprint: str | None) -> bool:
        """Return whether a file with this fingerprint would be treated the same way now."""

    def make(self, path: WorkspacePath, content: FileBytes, media_type: MediaType) -> MadeDocument:
        """Make the document.

        Raises:
            Unreadable: nothing can be made of the bytes.
        """


def unsupported_fingerprint(media_type: MediaType) -> str:
    """Return the fingerprint of a file that nothing reads: it changes as soon as something does."""
    return f"{UNSUPPORTED}:{media_type}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file.

    Attributes:
        staged: the document to be activated with the next commit.
        characters: of its chunks, to bound a batch.
        touched: the content is as known: only its stat identity is new.
        vanished: the file went away between scan and reading.
    """

    report: ItemReport | None = None
    staged: DocumentId | None = None
    characters: int = 0
    touched: tuple[ItemId, ScannedFile] | None = None
    vanished: Item | None = None


def new_item_id() -> ItemId:
    """Return a fresh UUIDv7."""
    return ItemId(uuid7(time.time_ns() // 1_000_000, os.urandom(10)))


@dataclass(slots=True)
class Intake:
    """Takes files in, one after another, during one run.

    Attributes:
        missing: items whose file is gone; one whose content turns up elsewhere is taken out: it moved.
        model: whose pending records are written; None without an embedder.
        retry: failed and waiting items are made again although unchanged.
        together: what the library writes inside is one transaction.
    """

    files: FileSource
    assets: AssetStore
    items: ItemStore
    documents: DocumentWriter
    maker: DocumentMaker
    missing: dict[WorkspacePath, Item]
    model: EmbeddingModel | None = None
    retry: bool = False
    together: Callable[[], AbstractContextManager[object]] = nullcontext
    new_id: Callable[[], ItemId] = new_item_id
    _writes: list[Callable[[], None]] = field(default_factory=list)
    _moved: dict[str, list[WorkspacePath]] = field(default_factory=dict)
    _gone: dict[WorkspacePath, Item] | None = None

    def __post_init__(self) -> None:
        for path in sorted(self.missing, reverse=True):
            if checksum := self.missing[path].checksum:
                self._moved.setdefault(checksum, []).append(path)

    def take(self, change: Change) -> Outcome:
        """Deal with one file; only what stops every file is raised. What it writes waits for `settle`.

        Raises:
            StorageFailed: the library or the copies cannot be written.
            ModelUnavailable: the tokenizer cannot be loaded.
        """
        file, item = change
        try:
            content = self.files.read(file)
        except Unreadable as error:
            return self._unread(file, item, error)
        now = file._replace(identity=content.identity)
        if item and self._is_known(item, content):
            return Outcome(touched=(item.item_id, now), report=unchanged(item))
        moved = self._take_moved(content.checksum) if item is None else None
        before = item or moved or self._take_gone(file.path, content.checksum)
        base = Item(
            item_id=before.item_id if before else self.new_id(),
            path=file.path,
            disk_name=file.disk_name,
            identity=content.identity,
            state=ItemState.NEW,
            asset_id=before.asset_id if before else None,
            checksum=content.checksum,
            active_doc_id=before.active_doc_id if before else None,
        )
        kind = ItemKind.RENAMED if moved else ItemKind.UPDATED if item else ItemKind.NEW
        return self._make(now, content, base, kind, moved.path if moved else None)

    def settle(self) -> None:
        """Write what was taken in, in its order and in one transaction: a disk flush costs more than a document.

        Raises:
            StorageFailed: the library or the copies cannot be written; nothing of it is kept.
        """
        writes, self._writes = self._writes, []
        if not writes:
            return
        self.assets.settle()
        with self.together():
            for write in writes:
                write()

    @property
    def unsettled(self) -> int:
        """Return how many files wait to be written."""
        return len(self._writes)

    def _make(
        self, file: ScannedFile, content: FileBytes, base: Item, kind: ItemKind, moved_from: str | None
    ) -> Outcome:
        media_type = self.files.media_type(file.path, content.data)
        fingerprint = self.maker.fingerprint(media_type)
        if fingerprint is None:
            sentence = f"{_FAMILIES.get(media_type, 'files of this kind are')} not read by this version"
            known = unsupported_fingerprint(media_type)
            return self._set_aside(base, ItemState.UNSUPPORTED, UNSUPPORTED, sentence, known, content)
        try:
            made = self.maker.make(file.path, content, media_type)
        except Unreadable as error:
            sentence = _with_hint(error)
            return self._set_aside(base, ItemState.FAILED, error.reason, sentence, fingerprint, content)
        except CannotRun:
            raise
        except Exception:  # noqa: BLE001
            # A parser that stumbles over one file costs that file only.
            _log.exception("%s could not be parsed", file.path)
            sentence = "something unexpected went wrong while reading it; please report it with `kb doctor`'s output"
            return self._set_aside(base, ItemState.FAILED, "internal", sentence, fingerprint, content)
        if not made.chunks:
            return self._set_aside(base, ItemState.EMPTY, "empty", _empty(base), fingerprint, content)
        asset = self.assets.keep(file, content, media_type)
        item = replace(base, state=ItemState.READY, reason=None, asset_id=asset.asset_id, fingerprint=fingerprint)
        self._writes.append(partial(self.documents.stage, item, asset, made.document, made.chunks, self.model))
        return Outcome(
            replace(_report(kind, asset, made), item_id=base.item_id, renamed_from=moved_from),
            staged=made.document.doc_id,
            characters=sum(len(chunk.text) for chunk in made.chunks),
        )

    def _set_aside(  # noqa: PLR0917 - the parts of one item
        self, base: Item, state: ItemState, word: str, sentence: str, fingerprint: str, content: FileBytes
    ) -> Outcome:
        """Keep the item with its reason; a good version made from earlier content stays active."""
        aside = replace(base, state=state, reason=f"{word}: {sentence}", fingerprint=fingerprint)
        self._writes.append(partial(self.items.save_item, aside))
        kind = ItemKind.ERROR if state is ItemState.FAILED else ItemKind.SKIPPED
        asset = asset_id_of(content.checksum)
        return Outcome(_reason_report(kind, base, word, sentence, asset, len(content.data)))

    def _unread(self, file: ScannedFile, item: Item | None, error: Unreadable) -> Outcome:
        sentence = _with_hint(error)
        if error.reason == "vanished":
            report = None if item else ItemReport(ItemKind.ERROR, file.path, error=sentence, reason=error.reason)
            return Outcome(report, vanished=item)
        reason = f"{error.reason}: {sentence}"
        if item and (item.state, item.reason, item.identity) == (ItemState.FAILED, reason, file.identity):
            return Outcome(unchanged(item))
        base = item or Item(self.new_id(), file.path, file.disk_name, file.identity, ItemState.NEW)
        # No fingerprint: whether it can be read now is not told by its stat, so the next run tries again.
        failed = replace(base, disk_name=file.disk_name, identity=file.identity, fingerprint=None)
        self._writes.append(partial(self.items.save_item, replace(failed, state=ItemState.FAILED, reason=reason)))
        return Outcome(_reason_report(ItemKind.ERROR, base, error.reason, sentence))

    def _is_known(self, item: Item, content: FileBytes) -> bool:
        same = item.checksum == content.checksum and self.maker.is_current(item.fingerprint)
        return same and not (self.retry and wants_retry(item))

    def _take_moved(self, checksum: str) -> Item | None:
        paths = self._moved.get(checksum)
        return self.missing.pop(paths.pop()) if paths else None

    def _take_gone(self, path: WorkspacePath, checksum: str) -> Item | None:
        """Return the item of a file that is back as it was: a disk was away for a while, or a rule left it out."""
        if self._gone is None:
            self._gone = self.items.gone_items()
        gone = self._gone.get(path)
        return self._gone.pop(path) if gone and gone.checksum == checksum else None


def _reason_report(  # noqa: PLR0917 - the parts of one line
    kind: ItemKind, item: Item, word: str, sentence: str, asset: AssetId | None = None, byte_len: int | None = None
) -> ItemReport:
    return ItemReport(
        kind,
        item.path,
        item.active_doc_id,
        asset,
        byte_len,
        error=sentence,
        item_id=item.item_id,
        reason=word,
    )


def _report(kind: ItemKind, asset: RawAsset, made: MadeDocument) -> ItemReport:
    document = made.document
    return ItemReport(
        kind=kind,
        doc_path=document.workspace_path,
        doc_id=document.doc_id,
        asset_id=asset.asset_id,
        byte_len=asset.byte_len,
        block_count=len(document.blocks),
        chunk_count=len(made.chunks),
        parser_version=document.parser_version,
        chunker_version=made.chunks[0].chunker_version,
        warnings=document.warnings,
    )


def _empty(base: Item) -> str:
    if base.active_doc_id:
        return "there is no text in it any more; its last version with text is still searched"
    return "there is no text in it"


def _with_hint(error: Unreadable) -> str:
    return f"{error.message}; {error.hint}" if error.hint else error.message
