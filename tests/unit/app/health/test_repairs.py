"""A repair of what lies beside the library file: what is damaged is read again, what is gone is removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from kb.app.health.repairing import Repairs, damaged_artifacts
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId

LOST, HARMED, SOUND, GONE = (DocumentId(letter * 32) for letter in "abcd")


@dataclass
class Artifacts:
    held: set[DocumentId]
    harmed: set[DocumentId]

    def documents(self) -> list[DocumentId]:
        return sorted(self.held)

    def damaged(self, doc_ids: Iterable[DocumentId]) -> list[DocumentId]:
        return [doc_id for doc_id in doc_ids if doc_id in self.harmed]

    def discard(self, doc_ids: Iterable[DocumentId]) -> None:
        self.held -= set(doc_ids)


@dataclass
class Upkeep:
    asked: list[DocumentId] = field(default_factory=list)

    def with_artifacts(self) -> Sequence[DocumentId]:
        return [LOST, HARMED, SOUND]

    def read_again(self, doc_ids: Iterable[DocumentId]) -> Sequence[WorkspacePath]:
        self.asked += doc_ids
        return [WorkspacePath(f"{doc_id[0]}.pdf") for doc_id in self.asked]


def a_library() -> Any:
    artifacts = Artifacts({HARMED, SOUND, GONE}, {HARMED, GONE})
    return SimpleNamespace(
        artifacts=artifacts, upkeep=Upkeep(), orphans=lambda: tuple(sorted(artifacts.held - {HARMED, SOUND}))
    )


def test_missing_and_damaged_artifacts_of_shown_documents_are_found_and_no_others() -> None:
    assert damaged_artifacts(a_library()) == [LOST, HARMED]


def test_damaged_ones_are_read_again_and_those_of_gone_documents_removed() -> None:
    parts = a_library()
    said = Repairs(parts)._mend_artifacts()
    assert said == "1 left of documents that are gone were removed, 2 files are read again"
    assert parts.upkeep.asked == [LOST, HARMED]
    assert parts.artifacts.held == {HARMED, SOUND}


def test_beside_another_job_nothing_is_removed() -> None:
    parts = a_library()
    assert Repairs(parts, alone=False)._mend_artifacts() == "2 files are read again"
    assert GONE in parts.artifacts.held
