"""The full-text index as ingest writes it and retrieval reads it."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tantivy

from kb.adapters.tantivy import query as queries
from kb.adapters.tantivy.failures import translated
from kb.adapters.tantivy.meta import counted, operations, signatures, unchanged
from kb.adapters.tantivy.ranking import Ranked, among, every_key, places, ranked, ranked_among
from kb.adapters.tantivy.schema import document, prepare, schema
from kb.adapters.tantivy.stamp import (
    STAMP,
    Stamp,
    caught_up,
    is_sound,
    meta_checksum,
    read_stamp,
    remove_orphans,
    write_stamp,
)
from kb.adapters.tantivy.swapping import made_beside, put_back, remove_leftovers, swap
from kb.adapters.tantivy.verification import why_missing
from kb.domain.embeddings import ChunkKey
from kb.domain.failures import StorageFailed
from kb.domain.index import TextChanges, TextEntry, TextSnapshot
from kb.domain.recipes import DocumentId
from kb.domain.search import SearchFilters
from kb.domain.versions import Probe
from kb.retrieval.ports import TextCandidate, TextReply

_HEAP = 64_000_000
"""Bytes a writer may hold before it writes a segment; one thread, so segments come out the same each time."""

_FEW_DEAD = 200
"""Deleted texts that stay in the counts of BM25; of a small library's one note saved again and again they would soon be
most, and its words count as common."""
_LOOSE = 10
_DRIFTS = 10
"""Building a text takes as long as replacing it did: so many for one that was replaced."""
_QUICKLY_BUILT = 5_000
_REBUILD = "`kb index rebuild` makes it anew from the library"


@dataclass(frozen=True, slots=True)
class _Opened:
    """One state of the folder, open for reading; `signature` is the stat of its stamp, `files` that of its files."""

    signature: tuple[int, ...]
    stamp: Stamp
    index: Any
    schema: Any
    searcher: Any
    files: Mapping[str, tuple[int, ...]]
    total: int
    deleted: int


class TantivyTextIndex:
    """Chunks of one library in a Tantivy folder.

    Scores are rounded to four decimals and equal ones ordered by key, so that neither the order of segments
    nor that of additions decides.

    Args:
        folder: the `tantivy` folder of the library; made by the first rebuild, beside it and then swapped in.
        library_id: an index of another library is not read.
        tolerant: a word that no text has also finds those like it, behind everything else.
        damaged: told when a search finds the index missing or damaged; called often, so it must be quick.
    """

    def __init__(
        self, folder: Path, library_id: str, *, tolerant: bool = False, damaged: Callable[[], object] = lambda: None
    ) -> None:
        self._folder = folder
        self._stamp_file = str(folder / STAMP)  # looked at by every search
        self._library_id = library_id
        self._tolerant = tolerant
        self._damaged = damaged
        self._opened: _Opened | None = None
        self._planned: tuple[_Opened, str, queries.Plan] | None = None
        self._opening = threading.Lock()
        self._writing = threading.Lock()

    def position(self) -> int | None:
        """Return the log position held; None when missing, damaged, of old make, or mostly deleted texts.

        Raises:
            StorageFailed: the folder may not be read; that is no reason to make it anew.
        """
        opened = self._current()
        if opened is None or opened.deleted > max(_FEW_DEAD, opened.total - opened.deleted):
            return None
        return opened.stamp.position

    def apply(self, changes: TextChanges) -> None:
        """Delete by document, add, commit, stamp; merges are waited for, and the writer is closed again.

        Raises:
            StorageFailed: the index is missing, damaged, locked by another process, or the disk is full.
        """
        with self._writing:
            opened = self._current()
            if opened is not None and opened.stamp.writing:
                self._opened = None  # a commit that failed may have happened all the same
                opened = self._current()
            if opened is None:
                raise _missing()
            if changes.position <= opened.stamp.position:
                return
            with translated("written"):
                if opened.stamp.writing:
                    remove_orphans(self._folder)
                # Without the mark, a kill between the commit and the stamp would look like damage, or lead to a second
                # commit of the same, whose deleted doubles would count in every score.
                marked = replace(
                    opened.stamp,
                    writing=True,
                    target=changes.position,
                    before=operations(self._folder),
                    replaced=opened.stamp.replaced + len(changes.remove),
                )
                with self._opening:  # nobody may check files while a commit changes them
                    write_stamp(self._folder, marked, durable=False)
                    self._opened = replace(opened, signature=self._signature(), stamp=marked)
                with _writer(opened.index) as writer:
                    for doc_id in changes.remove:
                        writer.delete_documents_by_term("doc", doc_id)
                    # A chunk may be there already, from a commit whose stamp was not written any more. Not by
                    # term: given a number, Tantivy's Python binding deletes nothing and says nothing.
                    keys = [entry.key for entry in changes.add]
                    writer.delete_documents_by_query(tantivy.Query.term_set_query(opened.schema, "key", keys))
                    added = _add(writer, changes.add)
                with self._opening:
                    total, deleted = counted(self._folder)
                    gone = opened.total - opened.deleted + added - (total - deleted)
                    stamp = self._stamp(self._folder, changes.position, opened.stamp.replaced + gone)
                    self._opened = self._reading(stamp, opened.index, opened.schema)

    def rebuild(self, snapshot: TextSnapshot) -> int:
        """Build beside the old index and swap; the old one serves until then.

        Raises:
            StorageFailed: another process writes the index, the disk is full, or the folder is not ours to change.
        """
        with self._writing, translated("written"):
            self._refuse_if_locked()
            remove_leftovers(self._folder)
            made = made_beside(self._folder)
            try:
                count = self._build(made, snapshot)
                with self._opening:  # a search that comes now waits for the new folder
                    self._opened = None  # Windows renames no folder whose files are mapped
                    swap(made, self._folder)
            except BaseException:
                shutil.rmtree(made, ignore_errors=True)
                raise
            remove_leftovers(self._folder)
            return count

    def search(
        self, text: str, filters: SearchFilters, limit: int, allowed: Sequence[ChunkKey] | None = None
    ) -> TextReply:
        """Return the best chunks of both channels together, and their rank in each."""
        opened = self._need()
        with self._reads():
            plan = self._plan(opened, text)
            conditions = queries.conditions(filters, opened.searcher, opened.schema)

            def top(query: Any) -> Ranked:  # noqa: ANN401
                if query is None or limit < 1:
                    return []
                chosen = queries.filtered(query, conditions)
                if allowed is None:
                    return ranked(opened.searcher, chosen, limit)
                return ranked_among(opened.searcher, opened.schema, chosen, limit, allowed)

            found = top(plan.both)
            lexical = found if plan.cjk is None else top(plan.lexical)
            cjk = found if plan.lexical is None else top(plan.cjk)
        lexical_places, cjk_places = places(lexical), places(cjk)
        nowhere = (None, None)
        candidates = tuple(
            TextCandidate(key, score, *lexical_places.get(key, nowhere), *cjk_places.get(key, nowhere))
            for score, key in found
        )
        return TextReply(
            candidates, plan.ceiling, plan.lexical_terms, plan.cjk_terms, plan.seen, plan.familiar, plan.similar
        )

    def holding(self, phrase: str) -> Sequence[ChunkKey]:
        """Return the keys of all chunks in which the words of `phrase` stand next to each other, rising.

        Words compare as a search compares them: widths, composed forms, case, Traditional and Simplified Chinese
        are one. Letters of Han, Kana and Hangul also match inside a word, so that a Korean noun is found with its
        particle. A phrase without a word or letter is held by nothing.
        """
        opened = self._need()
        with self._reads():
            return sorted(set(every_key(opened.searcher, queries.phrase(phrase, opened.schema))))

    def scores(self, text: str, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, float]:
        """Return the score over all fields of each of `keys` that shares a term with `text`."""
        opened = self._need()
        with self._reads():
            plan = self._plan(opened, text)
            if plan.both is None or not keys:
                return {}
            chosen = among(plan.both, keys, opened.schema)
            return {key: score for score, key in ranked(opened.searcher, chosen, len(keys))}

    def keys(self) -> Sequence[ChunkKey]:
        """Return the key of every entry, in no order; a key that is held twice comes twice.

        Raises:
            StorageFailed: the index is missing, damaged, or may not be read.
        """
        opened = self._need()
        with self._reads():
            return every_key(opened.searcher, tantivy.Query.all_query())

    def is_loose(self) -> bool:
        """Return whether more than a tenth of the texts in it are deleted ones, which still take their room."""
        opened = self._current()
        return opened is None or opened.deleted * _LOOSE > opened.total

    def drifts(self) -> bool:
        """Return whether texts that were replaced since it was built move its scores, and building it costs little.

        Then two libraries that hold the same give other scores, in a late decimal or where words are few.
        """
        opened = self._current()
        if opened is None or not opened.stamp.replaced:
            return False
        held = opened.total - opened.deleted
        return held <= min(opened.stamp.replaced * _DRIFTS, _QUICKLY_BUILT)

    def missing(self, probes: Sequence[Probe]) -> Mapping[DocumentId, str]:
        """Return documents that are not held whole or not found by one of their own sentences, and why.

        Raises:
            StorageFailed: the index cannot be read.
        """
        opened = self._need()
        with translated("read"):
            found = {p.doc_id: why_missing(p, opened.searcher, opened.schema, opened.total) for p in probes}
        return {doc_id: why for doc_id, why in found.items() if why}

    def close(self) -> None:
        """Let go of the mapped files."""
        self._opened = self._planned = None

    def _plan(self, opened: _Opened, text: str) -> queries.Plan:
        """Return the plan of a question; the last one is kept, since `scores` follows `search`."""
        kept = self._planned
        if kept is None or kept[0] is not opened or kept[1] != text:
            made = queries.plan(text, opened.searcher, opened.schema, opened.total, tolerant=self._tolerant)
            kept = opened, text, made
            self._planned = kept
        return kept[2]

    def _need(self) -> _Opened:
        opened = self._current()
        if opened is None:
            self._damaged()
            raise _missing()
        return opened

    @contextlib.contextmanager
    def _reads(self) -> Iterator[None]:
        """Translate; a state that cannot be read is not used again before its files were checked anew."""
        try:
            with translated("read"):
                yield
        except StorageFailed:
            self._opened = None
            self._damaged()
            raise

    def _current(self) -> _Opened | None:
        """Return the state on disk, opening it only when the stamp or a file is another than last time."""
        opened = self._opened
        if opened is not None and self._holds(opened):
            return opened
        with self._opening, translated("read"):
            if self._opened is None or not self._holds(self._opened):
                self._opened = self._open(self._signature())
            return self._opened

    def _holds(self, opened: _Opened) -> bool:
        """Return whether the stamp and the mapped files are what they were: reading one that was cut kills us."""
        return opened.signature == self._signature() and unchanged(
            self._folder, opened.files, while_writing=opened.stamp.writing
        )

    def _open(self, signature: tuple[int, ...]) -> _Opened | None:
        if not signature and put_back(self._folder):
            signature = self._signature()
        stamp = read_stamp(self._folder) if signature else None
        if stamp is None or stamp.library_id != self._library_id or not is_sound(self._folder, stamp):
            return None
        fields = schema()
        try:
            index = tantivy.Index(fields, path=str(self._folder))
            prepare(index)
            return replace(self._reading(caught_up(self._folder, stamp), index, fields), signature=signature)
        except (ValueError, KeyError):
            return None

    def _reading(self, stamp: Stamp, index: Any, fields: Any) -> _Opened:  # noqa: ANN401
        """Return the state last committed; the files were checked, or just written."""
        files = signatures(self._folder)
        index.reload()
        return _Opened(self._signature(), stamp, index, fields, index.searcher(), files, *counted(self._folder))

    def _signature(self) -> tuple[int, ...]:
        try:
            facts = os.stat(self._stamp_file)  # noqa: PTH116 - a Path made anew costs more than the call
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise StorageFailed("the text index may not be read", hint="check the rights of the data folder") from error
        return facts.st_ino, facts.st_mtime_ns, facts.st_size

    def _build(self, folder: Path, snapshot: TextSnapshot) -> int:
        index = tantivy.Index(schema(), path=str(folder))
        prepare(index)
        with _writer(index) as writer:
            count = _add(writer, snapshot.entries)
        self._stamp(folder, snapshot.position)
        return count

    def _stamp(self, folder: Path, position: int, replaced: int = 0) -> Stamp:
        stamp = Stamp(self._library_id, position, meta_checksum(folder), replaced=replaced)
        write_stamp(folder, stamp)
        return stamp

    def _refuse_if_locked(self) -> None:
        """Raise when a writer holds the folder; a folder Tantivy cannot open has none."""
        opened = self._current()
        if opened is not None:
            with _writer(opened.index, commit=False):
                pass


def _missing() -> StorageFailed:
    return StorageFailed("the text index is missing, damaged or of an older version", hint=_REBUILD)


@contextlib.contextmanager
def _writer(index: Any, *, commit: bool = True) -> Iterator[Any]:  # noqa: ANN401
    """Give a writer; commit what was done, or nothing when it failed, and release the lock."""
    writer = index.writer(_HEAP, 1)
    try:
        yield writer
        if commit:
            writer.commit()
    except BaseException:
        with contextlib.suppress(ValueError, OSError):
            writer.rollback()
        raise
    finally:
        writer.wait_merging_threads()


def _add(writer: Any, entries: Iterable[TextEntry]) -> int:  # noqa: ANN401
    count = 0
    for entry in entries:
        writer.add_document(document(entry))
        count += 1
    return count
