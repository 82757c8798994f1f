"""Chunks: what is retrieved, and the policy that shapes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from kb.domain.collection_settings import Settings, checked_chunking
from kb.domain.embeddings import ChunkKey
from kb.domain.ids import id_from
from kb.domain.paths import WorkspacePath
from kb.domain.placed import merge_spans
from kb.domain.recipes import BlockId, ChunkId, DocumentId
from kb.domain.spans import Segment, SourceSpan


class ChunkRole(StrEnum):
    """`parent` chunks are context only and never candidates."""

    STANDALONE = "standalone"
    PARENT = "parent"
    CHILD = "child"


@dataclass(frozen=True, slots=True)
class ChunkPolicy:
    """The PRD's chunking settings (section 8.1), in characters; what people give is checked by `with_settings`.

    `max_tokens` is the embedder's window less its prefix and special tokens; None when there is no
    embedder. It is part of the policy because it moves chunk borders.
    """

    mode: Literal["fixed", "structure", "parent-child"] = "structure"
    target_characters: int = 1600
    overlap_characters: int = 160
    parent_characters: int = 4800
    child_characters: int = 900
    max_tokens: int | None = None

    def hash(self) -> str:
        """Return the id of these settings, part of every chunk id."""
        return id_from(
            {
                "kind": "chunk_policy",
                "mode": self.mode,
                "target_characters": self.target_characters,
                "overlap_characters": self.overlap_characters,
                "parent_characters": self.parent_characters,
                "child_characters": self.child_characters,
                "max_tokens": self.max_tokens,
            }
        )

    @property
    def settings(self) -> Settings:
        """Return what people set, without what the model says."""
        return {
            "mode": self.mode,
            "target_characters": self.target_characters,
            "overlap_characters": self.overlap_characters,
            "parent_characters": self.parent_characters,
            "child_characters": self.child_characters,
        }

    def with_settings(self, given: Mapping[str, object]) -> ChunkPolicy:
        """Return the policy with other settings; those not given have the defaults of the PRD.

        Raises:
            InvalidInput: one is unknown, of the wrong kind or out of its range.
        """
        checked: dict[str, Any] = dict(checked_chunking(given))
        return replace(self, **checked)

    def cuts_as(self, other: ChunkPolicy) -> bool:
        """Return whether people who wished for the other got this one: what a mode does not use makes no difference."""
        return self._used() == other._used()

    def _used(self) -> tuple[object, ...]:
        if self.mode == "parent-child":
            return self.mode, self.parent_characters, self.child_characters, self.overlap_characters
        return self.mode, self.target_characters, self.overlap_characters


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of blocks, or a part of them, sized for retrieval.

    Attributes:
        text: what is searched, embedded and quoted; plain text.
        segments: places of the text's characters; overlap text has none, so it never shifts spans.
        ordinal: from 0 in the document.
        token_estimate: tokens of the embedder when there is one, else characters / 4.
    """

    chunk_id: ChunkId
    doc_id: DocumentId
    ordinal: int
    text: str
    heading_path: tuple[str, ...]
    block_ids: tuple[BlockId, ...]
    segments: Sequence[Segment]
    token_estimate: int
    chunker_version: str
    policy_hash: str
    role: ChunkRole = ChunkRole.STANDALONE
    parent_chunk_id: ChunkId | None = None
    lang: str = field(default="und")

    @property
    def source_spans(self) -> tuple[SourceSpan, ...]:
        """Return the merged places of the whole text."""
        return merge_spans(segment.span for segment in self.segments)

    @property
    def section_label(self) -> str | None:
        """Return the innermost heading as people see it, None outside any."""
        return f"§{self.heading_path[-1]}" if self.heading_path else None


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as read from the library, with what is shown of its document.

    Attributes:
        is_edited: a person changed what it says; its places are those of the original.
        is_stale: the file is newer than this, and its newer content could not be read.
    """

    key: ChunkKey
    chunk: Chunk
    item_id: str
    path: WorkspacePath
    title: str
    lang: str
    media: str
    is_stale: bool = False
    is_edited: bool = False
