"""What makes the document of an item: of each the one that cuts it as it is meant to be cut."""

from __future__ import annotations

from typing import Protocol

from kb.domain.files import FileBytes
from kb.domain.items import Item, MediaType
from kb.domain.paths import WorkspacePath
from kb.ingest.making import Making


class DocumentMaker(Protocol):
    """Parse, mask, normalise and chunk, as one step."""

    def fingerprint(self, media_type: MediaType) -> str | None:
        """Return parser, chunker and policy for such files; None when nothing reads them."""

    def is_current(self, fingerprint: str | None) -> bool:
        """Return whether a file with this fingerprint would be treated the same way now, or may stay as it is."""

    def is_latest(self, fingerprint: str | None) -> bool:
        """Return whether a file with this fingerprint would be treated the same way now."""

    def begin(
        self, path: WorkspacePath, content: FileBytes, media_type: MediaType, password: str | None = None
    ) -> Making:
        """Start making the document."""


class ItemMakers(Protocol):
    """Chooses."""

    def of(self, item: Item, media_type: MediaType | None) -> DocumentMaker:
        """Return what makes the document of an item; its type is known when its file was just read."""
