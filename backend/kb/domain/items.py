"""Items and assets: what a file of the workspace is to the library, and its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from kb.domain.coverage import CoverageUnit
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
    DOCX = "docx"
    PPTX = "pptx"
    XLSX = "xlsx"
    XLS = "xls"
    ODT = "odt"
    ODS = "ods"
    ODP = "odp"
    RTF = "rtf"
    OFFICE = "office"
    CSV = "csv"
    EML = "eml"
    MBOX = "mbox"
    MSG = "msg"
    MAIL = "mail"
    EPUB = "epub"
    BOOK = "book"
    NOTEBOOK = "notebook"
    FEED = "feed"
    ARCHIVE = "archive"
    OTHER = "other"


FAMILIES: Mapping[MediaType, MediaType] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                MediaType.DOCX,
                MediaType.PPTX,
                MediaType.XLSX,
                MediaType.XLS,
                MediaType.ODT,
                MediaType.ODS,
                MediaType.ODP,
                MediaType.RTF,
            ),
            MediaType.OFFICE,
        ),
        **dict.fromkeys((MediaType.EML, MediaType.MBOX, MediaType.MSG), MediaType.MAIL),
        MediaType.EPUB: MediaType.BOOK,
    }
)
"""The wider kind under which a filter finds a format too; OFFICE, MAIL and BOOK alone are formats nothing reads."""


class ItemState(StrEnum):
    """Whether an item can be searched, and if not, what it waits for."""

    NEW = "new"
    READY = "ready"
    EMPTY = "empty"
    UNSUPPORTED = "unsupported"
    WAITING = "waiting"
    FAILED = "failed"
    DELETED = "deleted"


MEMBER = "!/"
"""Stands between a container and its member in a path: `mail.eml!/report.pdf`."""


@dataclass(frozen=True, slots=True)
class Item:
    """One file of the workspace, known by an id that survives renames.

    Attributes:
        disk_name: the path as the disk spells it; an NFD name stays NFD.
        reason: why it cannot be searched, `word: sentence`; None when it can.
        fingerprint: parser, chunker and policy its active document was made with.
        coverage: what became of its pages, seconds or parts when no document came of it.
        included: False once a person took it out of the library; it is not read then.
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
    coverage: tuple[CoverageUnit, ...] = ()
    included: bool = True

    @property
    def container(self) -> WorkspacePath | None:
        """Return the path of the file on disk that holds this attachment or archive member, None for a plain file."""
        # Names of members hold no mark, but folders of the disk may: `Yahoo!/mail.eml!/report.pdf`.
        depth = self.identity.depth
        return WorkspacePath(self.path.rsplit(MEMBER, depth)[0]) if depth else None


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
