"""A file on its way into the library, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.domain.files import FileBytes, ScannedFile
from kb.domain.items import Item, MediaType
from kb.domain.recipes import DocumentId, ItemId
from kb.ingest.makers import DocumentMaker
from kb.ingest.making import Making
from kb.ingest.plan import Change
from kb.ingest.report import ItemKind, ItemReport

# So far ahead of the file whose turn it is are others read and handed to children, which then never wait.
_FILES_AHEAD = 32
_BYTES_AHEAD = 64 << 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file.

    Attributes:
        staged: the document to be activated with the next commit.
        characters: of its chunks, to bound a batch.
        touched: the content is as known: only its stat identity is new.
        vanished: the file went away between scan and reading.
        members: files inside it, to be taken in next.
        pages: it has; of a document without pages 0.
        sound_seconds: it has; of a document without sound 0.
    """

    report: ItemReport | None = None
    staged: DocumentId | None = None
    characters: int = 0
    touched: tuple[ItemId, ScannedFile] | None = None
    vanished: Item | None = None
    members: tuple[Change, ...] = ()
    pages: int = 0
    sound_seconds: int = 0


@dataclass(slots=True)
class Begun:
    """A file on its way: read, and perhaps in the hands of a child."""

    change: Change
    outcome: Outcome | None = None
    making: Making | None = None
    maker: DocumentMaker | None = None
    base: Item | None = None
    kind: ItemKind = ItemKind.NEW
    moved: Item | None = None
    content: FileBytes | None = None
    media_type: MediaType = MediaType.OTHER

    @property
    def held(self) -> int:
        """Return how many bytes it holds."""
        return len(self.content.data) if self.content else 0

    @property
    def is_elsewhere(self) -> bool:
        """Return whether a child is at work on it."""
        return self.making is not None and self.making.is_elsewhere

    def wait(self, seconds: float) -> bool:
        """Wait for what a child does with it; return whether it can be finished at once."""
        return self.making is None or self.making.wait(seconds)

    def progress(self) -> str:
        """Return how far a child is, in words; empty when there is nothing to say."""
        done, total, unit = self.making.progress() if self.making else (0, 0, "")
        return f"{unit} {done} of {total}" if unit and total else ""

    def cancel(self) -> None:
        """Give up."""
        if self.making is not None:
            self.making.cancel()


def has_room(begun: Sequence[Begun]) -> bool:
    """Return whether one more file may be begun: what is parsed here gains nothing from being read ahead."""
    if not begun:
        return True
    return begun[-1].is_elsewhere and len(begun) < _FILES_AHEAD and sum(one.held for one in begun) < _BYTES_AHEAD
