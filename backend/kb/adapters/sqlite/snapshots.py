"""All that an index should hold at one moment: of what serves, and of a generation that is being made."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from kb.adapters.sqlite.connection import Connection, Library, Row
from kb.adapters.sqlite.failures import translated
from kb.adapters.sqlite.float16 import is_sound, unpack
from kb.adapters.sqlite.vectors import set_back
from kb.domain.embeddings import ChunkKey, EmbeddingModel
from kb.domain.index import TextEntry, TextSnapshot, VectorRow, VectorSnapshot
from kb.domain.metadata import kinds_of
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId


def entry_sql(indexed_as: str) -> str:
    """Return the query whose rows `entry_from` reads; `indexed_as` gives the path of a chunk c, NULL leaves it out."""
    return f"""
SELECT c.chunk_key, c.doc_id, {indexed_as} AS path, c.text, d.title, c.heading_path_json, d.lang, d.trust_rank,
  d.source_type, d.media_type, (SELECT json_group_array(tag) FROM document_tags t WHERE t.doc_id = c.doc_id)
FROM chunks c JOIN documents d ON d.doc_id = c.doc_id WHERE c.role <> 'parent' AND path IS NOT NULL
"""


def entry_from(row: Row) -> TextEntry:
    """Read a row of `entry_sql`."""
    headings = [row[4], *json.loads(row[5])]
    return TextEntry(
        key=ChunkKey(row[0]),
        doc_id=DocumentId(row[1]),
        path=WorkspacePath(row[2]),
        text=row[3],
        # A document's title is most often its first heading: once is enough.
        heading=" ".join(dict.fromkeys(headings)),
        lang=row[6],
        tags=tuple(json.loads(row[10])),
        trust_rank=row[7],
        kinds=kinds_of(row[8], row[9]),
    )


def is_sound_row(row: Row) -> bool:
    """Return whether the vector of a row (key, hash, blob, checksum, dimensions) is as it was written."""
    _, _, blob, checksum, dimensions = row
    return blob is not None and is_sound(blob, checksum, dimensions)


def last_position(view: Connection, projection: str) -> int:
    """Return the newest position of a log, `text` or `vector`."""
    row = view.execute("SELECT max(seq) FROM index_log WHERE projection = ?", (projection,)).fetchone()
    return int(row[0] or 0)


def known_model_key(view: Connection, model: EmbeddingModel) -> int:
    """Return the row of a model, 0 when the library does not know it."""
    row = view.execute("SELECT model_key FROM embedding_models WHERE fingerprint = ?", (model.fingerprint(),))
    found = row.fetchone()
    return int(found[0]) if found else 0


def text_snapshot_of(library: Library, sql: str) -> TextSnapshot:
    """Return the entries that `sql`, as of `entry_sql`, finds; the view is held until they are read to their end."""
    view = library.open_view()
    position = last_position(view, "text")

    def entries() -> Iterator[TextEntry]:
        try:
            with translated():
                yield from map(entry_from, view.execute(f"{sql} ORDER BY c.chunk_key"))
        finally:
            view.close()

    return TextSnapshot(position, entries())


def vector_snapshot_of(library: Library, model: EmbeddingModel, sql: str, before: Sequence[int] = ()) -> VectorSnapshot:
    """Return the vectors of `model` that `sql` finds; damaged ones are left out and made again.

    Args:
        library: the file.
        model: whose vectors.
        sql: gives chunk key, text hash, vector, checksum and dimensions; its last value is the model's key.
        before: its values before that one.
    """
    view = library.open_view()
    position = last_position(view, "vector")
    damaged: list[bytes] = []
    count = 0
    with translated():
        key = known_model_key(view, model)
        for row in view.execute(sql, (*before, key)):
            if is_sound_row(row):
                count += 1
            else:
                damaged.append(row[1])

    def rows() -> Iterator[VectorRow]:
        try:
            with translated():
                for row in view.execute(f"{sql} ORDER BY 1", (*before, key)):
                    if is_sound_row(row):
                        yield VectorRow(ChunkKey(row[0]), unpack(row[2]))
        finally:
            view.close()

    set_back(library, key, damaged)
    return VectorSnapshot(position, count, rows())
