"""Repairs: whatever is derived is made anew from the library, embedding nothing; nothing else is ever removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kb.app.bootstrap import Parts
from kb.app.health.projections import index_checks, is_lost, vector_indexes
from kb.app.health.surroundings import make_private
from kb.domain.errors import KebabError
from kb.domain.failures import StorageFailed
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId
from kb.ingest.projections import catch_up_text, catch_up_vectors

TEXT, VECTORS, SQLITE = "text_index_open", "vector_index_open", "sqlite_open"


@dataclass(slots=True)
class Repaired:
    """What was mended, and what could not be, by the check it belongs to; `read_again` are files to ingest anew."""

    fixed: dict[str, str] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    read_again: tuple[WorkspacePath, ...] = ()


class Repairs:
    """Mends one opened library, on the thread of its jobs.

    Args:
        parts: the library.
        alone: whether no other job is half done: only then files that nothing refers to may be removed.
        should_stop: asked between the steps.
    """

    def __init__(self, parts: Parts, *, alone: bool = True, should_stop: Callable[[], bool] = lambda: False) -> None:
        self._parts = parts
        self._alone = alone
        self._should_stop = should_stop
        self._done = Repaired()

    def run(self, *, deep: bool, everything: bool) -> Repaired:
        """Mend the projections, with `deep` after comparing every entry; with `everything` all that doctor looks at."""
        if deep:
            self._step(SQLITE, self._drop_damaged_vectors)
        # Before the indexes are compared: a vector that is dropped leaves them, too.
        lost = {check.name for check in index_checks(self._parts, deep=deep) if is_lost(check)}
        self._step(TEXT, lambda: self._mend_text(rebuilds="text" in lost))
        self._step(VECTORS, lambda: self._mend_vectors(lost))
        if everything:
            self._step("data_dir_private", self._make_private)
            self._step("artifacts", self._mend_artifacts)
            if self._alone:
                self._step("unfinished_work", self._work_off)
                self._step("leftovers", self._remove_leftovers)
        return self._done

    def _step(self, name: str, mend: Callable[[], str]) -> None:
        if self._should_stop():
            return
        try:
            done = mend()
        except KebabError as error:
            self._done.left[name] = error.message
        except OSError as error:
            self._done.left[name] = error.strerror or type(error).__name__
        else:
            if done:
                self._done.fixed[name] = done

    def _drop_damaged_vectors(self) -> str:
        dropped = self._parts.upkeep.drop_damaged_vectors()
        return f"{dropped} damaged vectors dropped; the next `kb ingest` makes them anew" if dropped else ""

    def _mend_text(self, *, rebuilds: bool) -> str:
        parts = self._parts
        if rebuilds:
            count = parts.text_index.rebuild(parts.log.text_snapshot())
            return f"the text index was built anew: {count:,} passages"
        if parts.text_index.position() is None:
            return ""  # nothing to hold yet
        return "the text index caught up" if catch_up_text(parts.log, parts.text_index) else ""

    def _mend_vectors(self, lost: set[str]) -> str:
        parts, model = self._parts, self._parts.model
        if model is None:
            return ""
        done: list[str] = []
        errors: list[str] = []
        for index in vector_indexes(parts):
            if index.name not in lost:
                continue
            writer = next(one for one in parts.vector_indexes if one.name == index.name)
            try:
                count = writer.rebuild(model, parts.log.vector_snapshot(model))
                done.append(f"{index.name} was built anew: {count:,} vectors")
            except StorageFailed as error:
                errors.append(f"{index.name}: {error.message}")
        if parts.chunks.facts(model).vector_position:
            lagging = catch_up_vectors(parts.log, parts.vectors, model, parts.vector_indexes)
            errors += [f"{one.name}: {one.error.message}" for one in lagging]
        if errors:
            self._done.left[VECTORS] = "; ".join(dict.fromkeys(errors))
        return ", ".join(done)

    def _make_private(self) -> str:
        changed = make_private(self._parts.configuration)
        return f"taken away from others: the rights to {changed} files" if changed else ""

    def _mend_artifacts(self) -> str:
        parts = self._parts
        gone = parts.orphans() if self._alone else ()
        parts.artifacts.discard(gone)
        bad = damaged_artifacts(parts)
        self._done.read_again = tuple(parts.upkeep.read_again(bad))
        said = [f"{len(gone)} left of documents that are gone were removed"] if gone else []
        said += [f"{len(self._done.read_again)} files are read again"] if self._done.read_again else []
        return ", ".join(said)

    def _remove_leftovers(self) -> str:
        parts = self._parts
        found = parts.leftovers.find(parts.upkeep.copies())
        gone = parts.leftovers.remove(found)
        if gone < len(found):
            self._done.left["leftovers"] = f"{len(found) - gone} files could not be removed"
        return f"{gone} files nothing needs were removed" if gone else ""

    def _work_off(self) -> str:
        waiting = self._parts.upkeep.unfinished().removals
        left = self._parts.work_off_removals() if waiting else 0
        if left:
            self._done.left["unfinished_work"] = f"{left} files could not be removed yet"
        return f"{waiting - left} files the library no longer holds were removed" if waiting > left else ""


def damaged_artifacts(parts: Parts) -> list[DocumentId]:
    """Return shown documents whose artifacts are damaged or missing; reading their files again makes them."""
    expected = parts.upkeep.with_artifacts()
    have = set(parts.artifacts.documents())
    missing = [doc_id for doc_id in expected if doc_id not in have]
    known = set(parts.artifacts.documents()) - set(parts.orphans())
    return sorted({*missing, *parts.artifacts.damaged(sorted(known))})
