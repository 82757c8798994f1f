"""How much disk each part of a data folder takes."""

from __future__ import annotations

from pathlib import Path

from kb.adapters.files.disk import taken_bytes
from kb.domain.embeddings import EmbeddingModel

_PARTS = {
    "text_index": ("tantivy",),
    "vector_indexes": ("vectors", "chroma"),
    "generations": ("generations",),
    "copies": ("assets",),
    "artifacts": ("artifacts",),
}
_CHROMA_ITSELF, _CHROMA_VECTOR = 4 << 20, 1_200
_LIBRARY = ("kb.sqlite", "kb.sqlite-wal", "kb.sqlite-shm")


def sizes_of(data_dir: Path) -> dict[str, int]:
    """Return bytes by part; `total` is their sum."""
    sizes = {"library": sum(_size(data_dir / name) for name in _LIBRARY)}
    sizes |= {part: sum(taken_bytes(data_dir / name) for name in names) for part, names in _PARTS.items()}
    return {**sizes, "total": sum(sizes.values())}


def is_chroma_loose(index_folder: Path, model: EmbeddingModel, count: int) -> bool:
    """Return whether the graph takes twice what a fresh one of `count` vectors does: deleted ones are never let go of.

    A fresh one is taken for 4 MiB, four bytes a dimension and 1,200 a vector for links, ids and its own tables. Of 384
    dimensions it was .6 MB for 100 vectors, 4.1 for 1,000 and 28.9 for 10,000, where this gives 4.5, 6.9 and 31.6.
    """
    fresh = _CHROMA_ITSELF + count * (4 * model.dimensions + _CHROMA_VECTOR)
    return taken_bytes(index_folder / "chroma" / model.fingerprint()) > 2 * fresh


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
