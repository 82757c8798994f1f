"""What is read of one document to show it: outline, kept chunks, where its bytes are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kb.domain.blocks import BlockKind, Payload
from kb.domain.chunks import StoredChunk
from kb.domain.documents import ParseWarning
from kb.domain.ids import Json
from kb.domain.items import MediaType
from kb.domain.masking import MaskedSecret
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import BlockId, DocumentId
from kb.domain.spans import SourceSpan


@dataclass(frozen=True, slots=True)
class OutlineHeading:
    """A heading of a document, its level (1-6) and its place."""

    level: int
    text: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class DocumentDetails:
    """What `kb show` prints beside the summary; `user` are unknown front matter keys, `masked` the secrets left out."""

    outline: tuple[OutlineHeading, ...]
    aliases: tuple[str, ...]
    user: Mapping[str, Json]
    warnings: tuple[ParseWarning, ...]
    line_count: int
    masked: tuple[MaskedSecret, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptBlock:
    """A block of a kept document, less its text, which stands in its chunks."""

    block_id: BlockId
    kind: BlockKind
    heading_path: tuple[str, ...]
    span: SourceSpan
    payload: Payload


@dataclass(frozen=True, slots=True)
class KeptChunk:
    """A chunk of any kept version; `is_shown` when it passes the final gate now.

    `original` is the same as the file says it, None where a person changed nothing.
    """

    stored: StoredChunk
    is_shown: bool
    original: StoredChunk | None = None


@dataclass(frozen=True, slots=True)
class Original:
    """Where the bytes of one version are.

    Attributes:
        disk_name: relative to the workspace, as the disk spells it.
        storage_path: relative to the data folder when `copied`.
        is_current: whether this is the version the item shows now.
    """

    path: WorkspacePath
    disk_name: str
    doc_id: DocumentId | None
    media: MediaType | None
    checksum: str
    storage_kind: Literal["copied", "reference"]
    storage_path: str
    is_current: bool
