"""A million passages deleted and purged, while another thread looks through the gate and a third writes.

`PYTHONPATH=backend:. nice python -m tests.bench.deleting [documents] [passages of each]`
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.gate import SqliteGatedChunks
from kb.adapters.sqlite.items import SqliteItemStore
from kb.adapters.sqlite.purge import SqlitePurge
from kb.domain.embeddings import ChunkKey
from kb.domain.recipes import ItemId

_TEXT = "Every passage of this library says something about the weather of a day long ago. " * 2


def main(documents: int = 1_000, passages: int = 1_000) -> None:
    """Make, delete, purge, compact; print seconds, and how long others waited meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder) / "data")
        _fill(library, documents, passages)
        keys = [ChunkKey(1), ChunkKey(passages), ChunkKey(documents * passages)]
        gate, size = SqliteGatedChunks(library), library.path.stat
        looks = _Repeated(lambda: gate.visible(keys))
        writes = _Repeated(lambda: _write(library))
        items = [ItemId(f"i{number}") for number in range(documents - 1)]
        print(f"{documents * passages:,} passages, {size().st_size / 1e6:.0f} MB")
        for name, work in (
            ("nothing", lambda: time.sleep(2)),
            ("delete", lambda: SqliteItemStore(library).delete_items(items)),
            ("purge", lambda: SqlitePurge(library).purge(0)),
            ("compact", library.vacuum),
        ):
            begun = time.perf_counter()
            with looks, writes:
                work()
            took = time.perf_counter() - begun
            print(f"{name:8} {took:7.1f} s   look {looks}   write {writes}   {size().st_size / 1e6:.0f} MB", flush=True)
        library.close()


class _Repeated:
    """Something done over and over on a thread of its own, and how long it took each time."""

    def __init__(self, do: Callable[[], object]) -> None:
        self._do = do
        self._took: list[float] = []
        self._stop = threading.Event()

    def __enter__(self) -> None:
        self._stop.clear()
        self._took.clear()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def __str__(self) -> str:
        took = sorted(self._took) or [0.0]
        at = {share: took[int(len(took) * share / 100.001)] * 1000 for share in (50, 95, 100)}
        return f"p50 {at[50]:.1f} p95 {at[95]:.1f} most {at[100]:.0f} ms"

    def _run(self) -> None:
        while not self._stop.wait(0.05):
            begun = time.perf_counter()
            self._do()
            self._took.append(time.perf_counter() - begun)


def _write(library: Library) -> None:
    with library.transaction() as connection:
        connection.execute("INSERT OR REPLACE INTO settings (key, value) VALUES ('bench', ?)", (str(time.time()),))


def _fill(library: Library, documents: int, passages: int) -> None:
    now = "2026-04-27T00:00:00+00:00"
    with library.transaction() as connection:
        connection.execute("INSERT INTO chunkings VALUES (1, 'bench', 'bench')")
        connection.execute(
            "INSERT INTO embedding_models (model_key, fingerprint, model_id, model_version, provider, dimensions,"
            " created_at) VALUES (1, 'f', 'm', '1', 'bench', 384, ?)",
            (now,),
        )
    for number in range(documents):
        with library.transaction() as connection:
            name = f"{number:032x}"
            connection.execute("INSERT INTO assets VALUES (?, 'markdown', 1, 'c', 'reference', 'p', ?)", (name, now))
            connection.execute(
                "INSERT INTO documents (doc_id, asset_id, workspace_path, title, lang, source_type, trust_level,"
                " trust_rank, media_type, parser_version, schema_version, line_count, block_count, text_lines_json,"
                " warnings_json, metadata_json, provenance_json, created_at, updated_at)"
                " VALUES (?,?,?,'t','en','note','primary',2,'markdown','p',1,1,0,'[]','[]','{}','[]',?,?)",
                (name, name, f"n{number}.md", now, now),
            )
            connection.execute(
                "INSERT INTO items (item_id, workspace_path, disk_name, size, mtime_ns, file_id, state, active_doc_id,"
                " asset_id, created_at, updated_at) VALUES (?,?,?,1,1,'f','ready',?,?,?,?)",
                (f"i{number}", f"n{number}.md", f"n{number}.md", name, name, now, now),
            )
            connection.execute(
                "INSERT INTO document_versions (item_id, number, doc_id, state, chunking_key, chunk_count, created_at)"
                " VALUES (?,1,?,'ready',1,?,?)",
                (f"i{number}", name, passages, now),
            )
            first = number * passages + 1
            connection.executemany(
                "INSERT INTO chunks (chunk_key, chunk_id, doc_id, ordinal, chunking_key, lang, token_estimate,"
                " char_count, text_hash, heading_path_json, block_ids_json, source_spans_json, segments_json, text,"
                " created_at) VALUES (?,?,?,?,1,'en',40,160,?,'[]','[]','[]','[]',?,?)",
                (
                    (key, f"{key:032x}", name, key - first, os.urandom(32), _TEXT, now)
                    for key in range(first, first + passages)
                ),
            )
            connection.execute(
                "INSERT INTO embedding_records SELECT 1, chunk_key, 'committed', 160, text_hash, NULL FROM chunks"
                " WHERE doc_id = ?",
                (name,),
            )
            connection.execute(
                "INSERT INTO vectors SELECT 1, text_hash, 384, zeroblob(768), 0, ? FROM chunks WHERE doc_id = ?",
                (now, name),
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
