"""Items and assets: what a file of the workspace is to the library, and its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from kb.domain.files import FileIdentity
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import AssetId, DocumentId, ItemId


class MediaType(StrEnum):
    """The families of files; which parser reads a file follows from it."""

    MARKDOWN = "markdown"
    TEXT = "text"
    CODE = "code"
    PDF = "pdf"
    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"
    HTML = "html"
    OFFICE = "office"
    MAIL = "mail"
    BOOK = "book"
    ARCHIVE = "archive"
    OTHER = "other"


class ItemState(StrEnum):
    """Whether an item can be searched, and if not, what it waits for."""

    NEW = "new"
    READY = "ready"
    EMPTY = "empty"
    UNSUPPORTED = "unsupported"
    WAITING = "waiting"
    FAILED = "failed"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Item:
    """One file of the workspace, known by an id that survives renames.

    Attributes:
        disk_name: the path as the disk spells it; an NFD name stays NFD.
        reason: why it cannot be searched, `word: sentence`; None when it can.
        fingerprint: parser, chunker and policy its active document was made with.
    """

    item_id: ItemId
    path: WorkspacePath
    disk_name: str
    identity: FileIdentity
    state: ItemState
    reason: str | None = None
    asset_id: AssetId | None = None
    checksum: str | None = None
    active_doc_id: DocumentId | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class RawAsset:
    """The bytes of an item at one moment.

    Attributes:
        checksum: full blake3, 64 hex digits.
        storage_kind: `copied` into the data folder, or `reference` to the original.
        storage_path: relative to the data folder when copied, else the workspace path.
    """

    asset_id: AssetId
    checksum: str
    byte_len: int
    media_type: MediaType
    storage_kind: Literal["copied", "reference"]
    storage_path: str
    discovered_at: datetime
