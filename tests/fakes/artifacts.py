"""Artifacts of documents in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kb.domain.pages import PageText
from kb.domain.recipes import DocumentId
from kb.domain.transcripts import Transcript


@dataclass
class MemoryArtifacts:
    """Pages and transcripts by document; `settled` are those that were made durable."""

    pages: dict[DocumentId, tuple[PageText, ...]] = field(default_factory=dict)
    transcripts: dict[DocumentId, Transcript] = field(default_factory=dict)
    settled: set[DocumentId] = field(default_factory=set)

    def keep(self, doc_id: DocumentId, pages: Sequence[PageText], transcript: Transcript | None) -> None:
        if not pages and transcript is None:
            return
        self.discard([doc_id])
        if pages:
            self.pages[doc_id] = tuple(pages)
        if transcript is not None:
            self.transcripts[doc_id] = transcript

    def page(self, doc_id: DocumentId, page: int) -> PageText | None:
        return next((kept for kept in self.pages.get(doc_id, ()) if kept.page == page), None)

    def transcript(self, doc_id: DocumentId) -> Transcript | None:
        return self.transcripts.get(doc_id)

    def settle(self) -> None:
        self.settled = {*self.pages, *self.transcripts}

    def discard(self, doc_ids: Iterable[DocumentId]) -> None:
        for doc_id in doc_ids:
            self.pages.pop(doc_id, None)
            self.transcripts.pop(doc_id, None)
            self.settled.discard(doc_id)
