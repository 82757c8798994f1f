"""What waits for the next commit of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from kb.domain.files import ScannedFile
from kb.domain.recipes import DocumentId, ItemId
from kb.ingest.begun import Outcome

_BATCH_DOCUMENTS = 200
_BATCH_CHARACTERS = 16 << 20
_BATCH_SECONDS = 3.0


@dataclass(slots=True)
class Batch:
    """Staged documents and unchanged files that wait for the next commit."""

    started: float = 0.0
    staged: list[DocumentId] = field(default_factory=list)
    touched: list[tuple[ItemId, ScannedFile]] = field(default_factory=list)
    characters: int = 0

    def add(self, outcome: Outcome) -> None:
        """Take in what became of one file."""
        if outcome.staged:
            self.staged.append(outcome.staged)
        if outcome.touched:
            self.touched.append(outcome.touched)
        self.characters += outcome.characters

    def is_full(self, now: float) -> bool:
        """Return whether it is time to commit."""
        size = max(len(self.staged), len(self.touched) // 10)
        late = bool(self.staged) and now - self.started >= _BATCH_SECONDS
        return size >= _BATCH_DOCUMENTS or self.characters >= _BATCH_CHARACTERS or late
