"""Nothing is shown before the text index has proved that it finds it.

Each document that waits to be shown is asked for with one of its own sentences, and its entries are counted. One that
is not found, or not whole, is not shown: its file keeps the version it had, says so, and is read again by the next run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.domain.failures import StorageFailed
from kb.domain.items import Item
from kb.domain.recipes import DocumentId
from kb.domain.versions import Probe

NOT_FINDABLE = "not_findable"
"""The word of files whose new text the index does not find."""


class StagedVersions(Protocol):
    """Versions that are written and not shown yet."""

    def probes(self, doc_ids: Sequence[DocumentId]) -> Sequence[Probe]:
        """Return what to ask the text index about each of these documents that waits to be shown."""

    def reject(self, reasons: Mapping[DocumentId, str]) -> Sequence[Item]:
        """Let go of staged versions in one transaction; their items fail with the reason and show what they showed."""


class Verifier(Protocol):
    """The text index, asked about what was just committed to it."""

    def missing(self, probes: Sequence[Probe]) -> Mapping[DocumentId, str]:
        """Return documents that are not found or not whole, and why.

        Raises:
            StorageFailed: the index cannot be read.
        """


@dataclass(frozen=True, slots=True)
class Verification:
    """What is asked, and of whom."""

    staged: StagedVersions
    index: Verifier

    def reject_unfindable(self, doc_ids: Sequence[DocumentId]) -> Sequence[Item]:
        """Let go of those of `doc_ids` that the index does not find, and return the items they were to be shown for.

        Raises:
            StorageFailed: the index or the library cannot be used; nothing may be shown then.
        """
        missing = self.index.missing(self.staged.probes(doc_ids)) if doc_ids else {}
        reasons = {
            doc_id: f"{NOT_FINDABLE}: {why}; the next `kb ingest` tries again" for doc_id, why in missing.items()
        }
        return self.staged.reject(reasons) if reasons else ()


def require_entries(name: str, written: int, wanted: int) -> None:
    """Hold a new index to what it was given.

    Raises:
        StorageFailed: it took in more or less.
    """
    if written != wanted:
        raise StorageFailed(
            f"the {name} index of the generation holds {written} entries instead of {wanted}",
            hint="run `kb index build` again; if it happens twice, run `kb doctor`",
        )
