"""Answers in memory, held to the same promises as the file."""

from __future__ import annotations

from dataclasses import dataclass, field

from kb.answering.ports import AnswerRecord
from tests.fakes.library import FakeLibrary


@dataclass
class FakeAnswerStore:
    library: FakeLibrary = field(default_factory=FakeLibrary)
    kept: dict[str, AnswerRecord] = field(default_factory=dict)

    def keep(self, record: AnswerRecord) -> None:
        self.kept.pop(record.answer.retrieval.trace_id, None)
        self.kept[record.answer.retrieval.trace_id] = record
        self.library.pinned |= {cited.doc_id for cited in record.answer.citations}
        self.library.pinned |= {packed.doc_id for packed in record.packed}

    def get(self, trace_id: str) -> AnswerRecord | None:
        return self.kept.get(trace_id)

    def recent(self, limit: int) -> list[AnswerRecord]:
        return list(reversed(self.kept.values()))[:limit]
