"""What a run says beside its figures: the fact, and what to do about it."""

from __future__ import annotations

from kb.domain.failures import ModelUnavailable
from kb.domain.items import Item
from kb.domain.search import Degradation
from kb.ingest.projections import Lagging
from kb.ingest.report import Notice
from kb.ingest.verifying import NOT_FINDABLE


def no_vectors(error: ModelUnavailable | None) -> Notice:
    """Say that passages are found by their words only, and why."""
    detail = "search finds words only: there are no vectors"
    because = f" ({error.message})" if error else " without an embedding model"
    hint = (error.hint if error else "") or "`kb doctor` says what is missing; then run `kb ingest` again"
    return Notice(Degradation.NO_EMBEDDING_MODEL, detail + because, hint)


def some_refused(passages: int) -> Notice:
    """Say that the model could not take some passages."""
    detail = f"{passages} passages could not be embedded and are found by their words only"
    return Notice(Degradation.PARTIAL_VECTORS, detail)


def lags(index: Lagging) -> Notice:
    """Say that an index is behind."""
    detail = f"the {index.name} index could not be brought up to date: {index.error.message}"
    return Notice(Degradation.VECTOR_ENGINE_FALLBACK, detail, "run `kb index rebuild`; search goes on without it")


def not_findable(item: Item) -> Notice:
    """Say that a new version is not shown, since the text index does not find it."""
    why = (item.reason or "").partition(": ")[2]
    return Notice(NOT_FINDABLE, f"{item.path}: {why}")
