"""Index work: what the library tells its projections, in the order it happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kb.domain.embeddings import ChunkKey, Vector
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId


@dataclass(frozen=True, slots=True)
class TextEntry:
    """One chunk as the text index holds it.

    Attributes:
        heading: title and heading path in one text.
        trust_rank: 0 to 2.
        kinds: source type and media type.
    """

    key: ChunkKey
    doc_id: DocumentId
    path: WorkspacePath
    text: str
    heading: str
    lang: str
    tags: tuple[str, ...]
    trust_rank: int
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextChanges:
    """Removals come first: a document both removed and added is replaced.

    `position` is the number of the last change, to be kept by the index with the commit; `add` may be gone through
    more than once, and reads a long document anew each time rather than hold it.
    """

    position: int
    remove: tuple[DocumentId, ...]
    add: Iterable[TextEntry]


@dataclass(frozen=True, slots=True)
class VectorRow:
    """The vector of one chunk."""

    key: ChunkKey
    vector: Vector


@dataclass(frozen=True, slots=True)
class VectorChanges:
    """As `TextChanges`, by chunk."""

    position: int
    remove: tuple[ChunkKey, ...]
    add: tuple[VectorRow, ...]


@dataclass(frozen=True, slots=True)
class TextSnapshot:
    """Everything the text index should hold at `position`."""

    position: int
    entries: Iterator[TextEntry]


@dataclass(frozen=True, slots=True)
class VectorSnapshot:
    """Everything a vector index should hold at `position`, by rising key; `count` rows."""

    position: int
    count: int
    rows: Iterator[VectorRow]
