"""One consistent state of the index in memory: mapped rows, which of them live, keys in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb.adapters.vectorscan.columns import Rows
from kb.adapters.vectorscan.stamp import Head, Stamp
from kb.domain.embeddings import ChunkKey


@dataclass(frozen=True, slots=True)
class View:
    """What one stamp says. Never changed: a change makes a new view.

    Attributes:
        rows: the mapped columns; only the first `head.count` rows count.
        alive: one flag per row.
        order: row numbers of living rows by rising key.
        keys: the keys of living rows, rising.
        checksums: CRC-32 per block.
    """

    head: Head
    rows: Rows
    alive: NDArray[np.bool_]
    order: NDArray[np.int64]
    keys: NDArray[np.uint64]
    checksums: tuple[int, ...]

    @classmethod
    def of(cls, head: Head, rows: Rows, alive: NDArray[np.bool_], checksums: tuple[int, ...]) -> View:
        """Return the view of mapped rows."""
        living = np.flatnonzero(alive)
        order = living[np.argsort(rows.keys[living], kind="stable")]
        return cls(head, rows, alive, order, rows.keys[order], checksums)

    @property
    def living(self) -> int:
        """Return how many vectors there are."""
        return len(self.order)

    @property
    def all_alive(self) -> bool:
        """Return whether no row was removed."""
        return len(self.order) == self.head.count

    def find(self, keys: Sequence[ChunkKey]) -> NDArray[np.int64]:
        """Return the rows of those `keys` that have a vector, in the order of the rows."""
        wanted = np.asarray(keys, np.uint64)
        places = np.searchsorted(self.keys, wanted)
        inside = places < len(self.keys)
        found = places[inside][self.keys[places[inside]] == wanted[inside]]
        chosen = np.zeros(self.head.count, np.bool_)
        chosen[self.order[found]] = True
        return np.flatnonzero(chosen)

    def stamp(self) -> Stamp:
        """Return the stamp of this state."""
        dead = np.packbits(~self.alive, bitorder="little").tobytes()
        return Stamp(self.head, dead, self.checksums)


def alive_rows(stamp: Stamp) -> NDArray[np.bool_]:
    """Return one flag per row of a stamp."""
    bits = np.unpackbits(np.frombuffer(stamp.dead, np.uint8), count=stamp.head.count, bitorder="little")
    return np.asarray(bits == 0, np.bool_)
