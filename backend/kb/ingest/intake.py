"""One file: read, recognised, made into a document and staged, or kept with the reason why not.

A file is begun, which reads it and sends what is not text to a child process, and finished, in the order in which it
was begun: what becomes of a run does not depend on which child is faster.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial

from kb.domain.coverage import CoverageUnit
from kb.domain.documents import Member
from kb.domain.embeddings import EmbeddingModel
from kb.domain.errors import CannotRun, Unreadable
from kb.domain.files import FileBytes, ScannedFile
from kb.domain.ids import uuid7
from kb.domain.items import MEMBER, Item, ItemState
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import ItemId
from kb.domain.recipes import asset_id as asset_id_of
from kb.ingest.begun import Begun, Outcome
from kb.ingest.library_ports import DocumentWriter, ItemStore
from kb.ingest.makers import DocumentMaker, ItemMakers
from kb.ingest.making import MadeDocument, unsupported_fingerprint
from kb.ingest.members import CONTAINERS, Unpacked, known_inside, member_changes, outermost
from kb.ingest.plan import Change
from kb.ingest.ports import ArtifactStore, AssetStore, FileSource
from kb.ingest.reasons import LOCKED, UNEXPECTED, family, why_nothing, with_hint
from kb.ingest.report import UNSUPPORTED, ItemKind, ItemReport, made_report, reason_report, unchanged

_log = logging.getLogger(__name__)


def new_item_id() -> ItemId:
    """Return a fresh UUIDv7."""
    return ItemId(uuid7(time.time_ns() // 1_000_000, os.urandom(10)))


def _units(made: MadeDocument, kind: str) -> int:
    return sum(unit.end - unit.start + 1 for unit in made.document.coverage if unit.kind == kind)


@dataclass(slots=True)
class Intake:
    """Takes files in, one after another, during one run.

    Attributes:
        missing: items whose file is gone; one whose content turns up elsewhere is taken out: it moved.
        model: whose pending records are written; None without an embedder.
        retries: whether an item is made again although unchanged.
        members: known attachments and archive members of the files to read, by file and path; used up.
        password: opens locked files; kept nowhere.
        most_depth: how many containers a file may lie in, and a container less than that.
        unpacked: bounds what comes out of containers in containers.
        together: what the library writes inside is one transaction.
        makers: which maker cuts an item; None when all are cut by `maker`.
    """

    files: FileSource
    assets: AssetStore
    items: ItemStore
    documents: DocumentWriter
    maker: DocumentMaker
    missing: dict[WorkspacePath, Item]
    model: EmbeddingModel | None = None
    artifacts: ArtifactStore | None = None
    retries: Callable[[Item], bool] = lambda _item: False
    members: dict[WorkspacePath, dict[WorkspacePath, Item]] = field(default_factory=dict)
    password: str | None = field(default=None, repr=False)
    most_depth: int = 3
    unpacked: Unpacked = field(default_factory=Unpacked)
    together: Callable[[], AbstractContextManager[object]] = nullcontext
    makers: ItemMakers | None = None
    new_id: Callable[[], ItemId] = new_item_id
    _writes: list[tuple[Item, Callable[[], None]]] = field(default_factory=list)
    _moved: dict[str, list[WorkspacePath]] = field(default_factory=dict)
    _left: dict[str, int] = field(default_factory=dict)
    _open: dict[str, Item] = field(default_factory=dict)
    _gone: dict[WorkspacePath, Item] | None = None

    def __post_init__(self) -> None:
        for path in sorted(self.missing, reverse=True):
            if checksum := self.missing[path].checksum:
                self._moved.setdefault(checksum, []).append(path)

    def begin(self, change: Change) -> Begun:
        """Read a file and send it on its way; only what stops every file is raised.

        Raises:
            StorageFailed: the library cannot be read.
        """
        file, item, content, _ = change
        if item and not item.included:  # inside a container: others are not even planned
            return Begun(change, Outcome(report=unchanged(item)))
        if content is None:
            try:
                content = self.files.read(file)
            except Unreadable as error:
                return Begun(change, self._unread(file, item, error))
        now = file._replace(identity=content.identity)
        change = change._replace(file=now)
        if item and self._is_known(change, item, content):
            return Begun(change, Outcome(touched=(item.item_id, now), report=unchanged(item)))
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
        begun = Begun(change, base=base, kind=kind, moved=moved, content=content)
        begun.media_type = self.files.media_type(file.path, content.data)
        self._start(begun)
        return begun

    def finish(self, begun: Begun) -> Outcome:
        """Say what became of a file, waiting for its child. What it writes waits for `settle`.

        Raises:
            StorageFailed: the library or the copies cannot be written.
            ModelUnavailable: the tokenizer cannot be loaded.
        """
        if begun.outcome is None:
            begun.outcome = self._finished(begun)
        if begun.change.depth:
            self._taken_from(begun.change.file.path.rpartition(MEMBER)[0])
        begun.making = begun.content = None  # a reading that is over need not hold its bytes
        return begun.outcome

    def take(self, change: Change) -> Outcome:
        """Begin and finish one file."""
        return self.finish(self.begin(change))

    def settle(self) -> list[Item]:
        """Write what was taken in, in its order and in one transaction: a disk flush costs more than a document.

        Returns the items of files whose document cannot be kept, which is then said of them; it costs no other file.

        Raises:
            StorageFailed: the library or the copies cannot be written; nothing of it is kept.
        """
        writes, self._writes = self._writes, []
        if not writes:
            return []
        self.assets.settle()
        if self.artifacts is not None:
            self.artifacts.settle()
        try:
            with self.together():
                for _, write in writes:
                    write()
        except CannotRun:
            raise
        except Exception:  # noqa: BLE001 - which of them it was is found out one by one
            return [lost for item, write in writes if (lost := self._written_alone(item, write))]
        return []

    def _written_alone(self, item: Item, write: Callable[[], None]) -> Item | None:
        try:
            with self.together():
                write()
        except CannotRun:
            raise
        except Exception:  # noqa: BLE001
            _log.exception("what was read of %s could not be kept", item.path)
            lost = replace(item, state=ItemState.FAILED, reason=f"internal: {UNEXPECTED}", active_doc_id=None)
            self.items.save_item(lost)
            return lost
        return None

    def give_up(self, begun: Begun) -> None:
        """Take back that a file was begun: who had moved there is missing again."""
        if begun.moved is not None:
            self._miss(begun.moved)

    def forget_gone(self) -> None:
        """Ask anew which items are gone: others have been at work."""
        self._gone = None

    @property
    def unsettled(self) -> int:
        """Return how many files wait to be written."""
        return len(self._writes)

    def _start(self, begun: Begun) -> None:
        path = begun.change.file.path
        if begun.base is None or self.maker.fingerprint(begun.media_type) is None or begun.content is None:
            return
        if begun.change.depth + (begun.media_type in CONTAINERS) > self.most_depth:
            return
        begun.maker = self.makers.of(begun.base, begun.media_type) if self.makers is not None else self.maker
        begun.making = begun.maker.begin(path, begun.content, begun.media_type, self.password)

    def _finished(self, begun: Begun) -> Outcome:
        base, content, media_type = begun.base, begun.content, begun.media_type
        if base is None or content is None:
            raise ValueError("a file is finished that was not begun")
        fingerprint = (begun.maker or self.maker).fingerprint(media_type)
        if fingerprint is None:
            sentence = f"{family(media_type)} not read by this version"
            self._inside(begun.change, ())
            return self._set_aside(
                base, ItemState.UNSUPPORTED, UNSUPPORTED, sentence, unsupported_fingerprint(media_type), content
            )
        if begun.making is None:
            sentence = f"it lies in {begun.change.depth} other containers, and {self.most_depth} deep is the limit"
            return self._set_aside(base, ItemState.FAILED, "nested_too_deep", sentence, fingerprint, content)
        if not self.assets.needs_bytes(begun.change.file, content):
            begun.content = content = content.without_data()
        try:
            made = begun.making.finish()
            self.unpacked.spend(begun.change, made.members)
        except Unreadable as error:
            state = ItemState.WAITING if error.reason == LOCKED else ItemState.FAILED
            return self._set_aside(base, state, error.reason, with_hint(error, content.size), fingerprint, content)
        except CannotRun:
            raise
        except Exception:  # noqa: BLE001
            # A parser that stumbles over one file costs that file only.
            _log.exception("%s could not be parsed", base.path)
            return self._set_aside(base, ItemState.FAILED, "internal", UNEXPECTED, fingerprint, content)
        members = self._inside(begun.change, made.members)
        if made.chunks:
            outcome = self._staged(begun, base, content, made, fingerprint)
        else:
            state, word, sentence = why_nothing(base, made)
            outcome = self._set_aside(base, state, word, sentence, fingerprint, content, made.document.coverage)
        return replace(outcome, members=members)

    def _staged(self, begun: Begun, base: Item, content: FileBytes, made: MadeDocument, fingerprint: str) -> Outcome:
        asset = self.assets.keep(begun.change.file, content, begun.media_type)
        if self.artifacts is not None:
            self.artifacts.keep(made.document.doc_id, made.pages, made.transcript)
        item = replace(base, state=ItemState.READY, reason=None, asset_id=asset.asset_id, fingerprint=fingerprint)
        write = partial(self.documents.stage, self._held(item), asset, made.document, made.chunks, self.model)
        self._writes.append((item, write))
        return Outcome(
            replace(
                made_report(begun.kind, asset, made),
                item_id=base.item_id,
                renamed_from=begun.moved.path if begun.moved else None,
            ),
            staged=made.document.doc_id,
            characters=sum(len(chunk.text) for chunk in made.chunks),
            pages=_units(made, "page"),
            sound_seconds=_units(made, "second"),
        )

    def _inside(self, change: Change, members: Sequence[Member]) -> tuple[Change, ...]:
        """Return the files inside a file as changes to take in; known ones that are not in it any more are missing."""
        known = self.members.get(outermost(change), {})
        found = member_changes(change, members, known)
        kept = {inner.file.path for inner in found}
        beginning = len(change.file.path) + len(MEMBER)
        for path in known_inside(known, change.file.path):
            if path[:beginning] + path[beginning:].partition(MEMBER)[0] not in kept:
                self._miss(known.pop(path))
        for inner in kept:
            known.pop(inner, None)
        if found:
            self._left[change.file.path] = len(found)
        return found

    def _held(self, item: Item) -> Item:
        """Return an item as it is kept for now: a container is read again unless all that is in it was taken in."""
        if not self._left.get(item.path):
            return item
        self._open[item.path] = item
        return replace(item, fingerprint=None)

    def _taken_from(self, container: str) -> None:
        """Count one member as taken in; with the last one the container counts as read."""
        self._left[container] -= 1
        if not self._left[container]:
            item = self._open.pop(container)
            self._writes.append((item, partial(self.items.save_item, item)))

    def _miss(self, item: Item) -> None:
        """Count an item as missing: its content may turn up elsewhere, else it is deleted with the end of the run."""
        self.missing[item.path] = item
        if item.checksum:
            self._moved.setdefault(item.checksum, []).append(item.path)

    def _set_aside(  # noqa: PLR0917 - the parts of one item
        self,
        base: Item,
        state: ItemState,
        word: str,
        sentence: str,
        fingerprint: str,
        content: FileBytes,
        coverage: tuple[CoverageUnit, ...] = (),
    ) -> Outcome:
        """Keep the item with its reason; a good version made from earlier content stays active."""
        aside = replace(base, state=state, reason=f"{word}: {sentence}", fingerprint=fingerprint, coverage=coverage)
        self._writes.append((aside, partial(self.items.save_item, self._held(aside))))
        kind = ItemKind.ERROR if state is ItemState.FAILED else ItemKind.SKIPPED
        asset = asset_id_of(content.checksum)
        return Outcome(reason_report(kind, base, word, sentence, asset, content.size))

    def _unread(self, file: ScannedFile, item: Item | None, error: Unreadable) -> Outcome:
        sentence = with_hint(error)
        if error.reason == "vanished":
            for inside in self.members.pop(file.path, {}).values():
                self._miss(inside)
            report = None if item else ItemReport(ItemKind.ERROR, file.path, error=sentence, reason=error.reason)
            return Outcome(report, vanished=item)
        reason = f"{error.reason}: {sentence}"
        if item and (item.state, item.reason, item.identity) == (ItemState.FAILED, reason, file.identity):
            return Outcome(unchanged(item))
        base = item or Item(self.new_id(), file.path, file.disk_name, file.identity, ItemState.NEW)
        # No fingerprint: whether it can be read now is not told by its stat, so the next run tries again.
        failed = replace(base, disk_name=file.disk_name, identity=file.identity, fingerprint=None)
        failed = replace(failed, state=ItemState.FAILED, reason=reason)
        self._writes.append((failed, partial(self.items.save_item, failed)))
        return Outcome(reason_report(ItemKind.ERROR, base, error.reason, sentence))

    def _is_known(self, change: Change, item: Item, content: FileBytes) -> bool:
        if item.checksum != content.checksum:
            return False
        known = self.members.get(outermost(change), {})
        inside = (known[path] for path in known_inside(known, item.path))
        return not any(self._is_stale(one) for one in (item, *inside))

    def _is_stale(self, item: Item) -> bool:
        return not self.maker.is_current(item.fingerprint) or self.retries(item)

    def _take_moved(self, checksum: str) -> Item | None:
        paths = self._moved.get(checksum)
        while paths:  # one that came back meanwhile is not missing any more
            if (moved := self.missing.pop(paths.pop(), None)) is not None:
                return moved
        return None

    def _take_gone(self, path: WorkspacePath, checksum: str) -> Item | None:
        """Return the item of a file that is back as it was: a disk was away for a while, or a rule left it out."""
        if self._gone is None:
            self._gone = self.items.gone_items()
        gone = self._gone.get(path)
        return self._gone.pop(path) if gone and gone.checksum == checksum else None
