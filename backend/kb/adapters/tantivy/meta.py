"""Tantivy's `meta.json`: which files make an index, how many texts they hold, and whether they are as when opened."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

META = "meta.json"
_SEGMENT_PARTS = ("term", "idx", "pos", "fieldnorm", "fast", "store")


def operations(folder: Path) -> int:
    """Return Tantivy's number of operations at its last commit; merges leave it as it is."""
    return int(json.loads((folder / META).read_bytes())["opstamp"])


def counted(folder: Path) -> tuple[int, int]:
    """Return (texts BM25 counts, those of them deleted) from `meta.json`.

    Tantivy counts deleted texts in N and in document frequencies until a merge drops them.
    """
    segments = json.loads((folder / META).read_bytes())["segments"]
    deleted = sum((segment["deletes"] or {}).get("num_deleted_docs", 0) for segment in segments)
    return sum(segment["max_doc"] for segment in segments), deleted


def named_files(meta: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    """Yield the name of every file that a `meta.json` names."""
    for segment in meta["segments"]:
        name = str(segment["segment_id"]).replace("-", "")
        yield from (f"{name}.{part}" for part in _SEGMENT_PARTS)
        deletes = segment["deletes"]
        if isinstance(deletes, dict):
            yield f"{name}.{deletes['opstamp']}.del"


def signatures(folder: Path) -> dict[str, tuple[int, ...]]:
    """Return, by name, what the system says of `meta.json` and of every file it names: inode, time of change, size."""
    names = [META, *named_files(json.loads((folder / META).read_bytes()))]
    return {str(folder / name): _signature(str(folder / name)) for name in names}


def unchanged(folder: Path, files: Mapping[str, tuple[int, ...]], *, while_writing: bool) -> bool:
    """Return whether no file changed: Tantivy writes each once. Costs one look at each.

    While a commit of ours is at work, `meta.json` may change and files that merges replaced may go.
    """
    meta = str(folder / META)
    for path, expected in files.items():
        if while_writing and path == meta:
            continue
        try:
            found = _signature(path)
        except OSError:
            if while_writing:
                continue
            return False
        if found != expected:
            return False
    return True


def _signature(path: str) -> tuple[int, ...]:
    facts = os.stat(path)  # noqa: PTH116 - asked of every file by every search
    return facts.st_ino, facts.st_mtime_ns, facts.st_size
