"""A document counts as vectorised when none of its chunks lacks a vector."""

from __future__ import annotations

from pathlib import Path

from kb.adapters.sqlite.catalogue import SqliteCatalogue
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.documents import SqliteDocumentWriter
from kb.adapters.sqlite.vectors import SqliteVectorStore
from tests.builders import MODEL, staged, vector_of


def test_a_document_with_one_chunk_left_is_not_vectorised(tmp_path: Path) -> None:
    library = Library(tmp_path)
    documents, vectors = SqliteDocumentWriter(library), SqliteVectorStore(library)
    for made in (staged("a.md", "one", "two"), staged("b.md", "three")):
        documents.stage(made.item, made.asset, made.document, made.chunks, MODEL)
        documents.activate([made.document.doc_id])
    pending = vectors.pending(MODEL, 10)
    vectors.save(MODEL, [(text, vector_of(text.text)) for text in pending if text.text != "two"])
    summary = SqliteCatalogue(library).summary(MODEL)
    assert (summary.documents, summary.vectorised, summary.chunks, summary.vectors) == (2, 1, 3, 2)
    vectors.save(MODEL, [(text, vector_of(text.text)) for text in vectors.pending(MODEL, 10)])
    assert SqliteCatalogue(library).summary(MODEL).vectorised == 2
    library.close()
