"""What a check of a library's own state finds."""

from __future__ import annotations

from dataclasses import dataclass

from kb.domain.embeddings import ChunkKey, Vector


@dataclass(frozen=True, slots=True)
class HeldKeys:
    """The chunks a projection should hold once it has come to `position` of the log."""

    position: int
    keys: frozenset[ChunkKey]


@dataclass(frozen=True, slots=True)
class UnfinishedWork:
    """What is still to be done, in numbers: nothing of it is damage.

    Attributes:
        staged: documents read and not yet shown.
        texts: passages without a vector.
        removals: files to be removed from the disk.
        dead_jobs: jobs that were given up.
    """

    staged: int
    texts: int
    removals: int
    dead_jobs: int


@dataclass(frozen=True, slots=True)
class StoredVector:
    """A vector of the library with the chunk it is found by."""

    key: ChunkKey
    vector: Vector


@dataclass(frozen=True, slots=True)
class DamagedVectors:
    """Stored vectors looked at, and how many of them are not what was written or are gone."""

    looked_at: int
    damaged: int
