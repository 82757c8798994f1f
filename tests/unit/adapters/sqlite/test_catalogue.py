from __future__ import annotations

import pytest

from kb.adapters.sqlite.catalogue import SqliteCatalogue
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.integrity import SqliteIntegrity
from kb.adapters.sqlite.runs import SqliteIngestRuns, SqliteSettings
from kb.domain.catalogue import IngestRun
from kb.domain.coverage import CoverageUnit
from kb.domain.items import ItemState
from kb.domain.recipes import ChunkId, DocumentId
from tests.builders import MODEL, NOON, an_item, path_of, staged
from tests.contracts.library import Ports


@pytest.fixture
def catalogue(library: Library) -> SqliteCatalogue:
    return SqliteCatalogue(library)


def test_documents_are_listed_by_path_page_after_page(ports: Ports, catalogue: SqliteCatalogue) -> None:
    paths = ["b.md", "a/z.md", "a/가.md", "c.md", "a/b.md"]
    ports.publish(*(staged(path, "Text.") for path in paths))
    listed: list[str] = []
    after: str | None = None
    while True:
        page = catalogue.documents(after, 2)
        listed += [document.workspace_path for document in page.entries]
        after = page.next
        if after is None:
            break
    assert listed == sorted(paths)


def test_a_document_row_says_what_it_is(ports: Ports, catalogue: SqliteCatalogue) -> None:
    one = staged("a.md", "One.", "Two.", title="Grill", lang="en", tags=("food",), parents=True)
    ports.publish(staged("a.md", "Old."), one)
    ports.vectors.save(MODEL, [(ports.vectors.pending(MODEL, 1)[0], b"\0" * 16)])  # type: ignore[list-item]
    summary = catalogue.document(one.document.doc_id)
    assert summary is not None
    assert (summary.title, summary.tags, summary.source_type, summary.trust_level) == (
        "Grill",
        ("food",),
        "note",
        "primary",
    )
    assert (summary.chunk_count, summary.vector_count, summary.version) == (2, 1, 2)
    assert (summary.byte_len, summary.parser_version, summary.chunker_version) == (one.asset.byte_len, "md-1", "c1")
    assert catalogue.document(DocumentId("f" * 32)) is None


def test_items_are_listed_with_what_was_read_of_them(ports: Ports, catalogue: SqliteCatalogue) -> None:
    ports.publish(staged("a.md", "One.", "Two."))
    ports.items.save_item(an_item("scan.pdf", state=ItemState.WAITING))
    rows = catalogue.items().entries
    said = [(row.item.path, row.item.state.value, row.kinds, row.totals, row.chunk_count) for row in rows]
    nothing = {"text": 0, "ocr": 0, "blank": 0, "failed": 0, "skipped": 0, "waiting": 0}
    assert said == [
        ("a.md", "ready", ("line",), nothing | {"text": 3, "blank": 2}, 2),
        ("scan.pdf", "waiting", ("section",), nothing | {"waiting": 1}, 0),
    ]
    assert [row.item.path for row in catalogue.items(state=ItemState.WAITING).entries] == ["scan.pdf"]
    assert catalogue.items(limit=1).next == "a.md"
    assert [row.item.path for row in catalogue.items(after="a.md").entries] == ["scan.pdf"]
    assert catalogue.item_at(path_of("a.md")) == rows[0]
    assert catalogue.item("item-scan.pdf") == rows[1]
    assert catalogue.item("nobody") is None


def test_coverage_accounts_for_every_line(ports: Ports, catalogue: SqliteCatalogue) -> None:
    one = staged("a.md", "One.", "Two.")
    ports.publish(one)
    assert catalogue.coverage(one.document.doc_id) == (
        CoverageUnit("line", 1, 1, "text"),
        CoverageUnit("line", 2, 2, "blank"),
        CoverageUnit("line", 3, 3, "text"),
        CoverageUnit("line", 4, 4, "blank"),
        CoverageUnit("line", 5, 5, "text"),
    )
    assert catalogue.coverage(DocumentId("f" * 32)) == ()


def test_a_chunk_can_be_inspected_with_its_vectors(ports: Ports, catalogue: SqliteCatalogue) -> None:
    one = staged("a.md", "One.", "Two.", parents=True)
    ports.publish(one)
    ports.embed()
    parent, child = (catalogue.chunk(chunk.chunk_id) for chunk in one.chunks[:2])
    assert parent is not None
    assert child is not None
    assert (parent.visible, parent.embeddings) == (False, ())
    assert (child.visible, child.stored.chunk) == (True, one.chunks[1])
    assert [(e.model_id, e.dimensions, e.state) for e in child.embeddings] == [("e5", 4, "written")]
    assert len(child.embeddings[0].embedding_id) == 32
    assert catalogue.chunk(ChunkId("f" * 32)) is None
    ports.items.delete_items([one.item.item_id])
    assert catalogue.chunk(one.chunks[1].chunk_id) is None


def test_the_chunks_of_a_document_come_in_order_page_after_page(ports: Ports, catalogue: SqliteCatalogue) -> None:
    one = staged("a.md", "One.", "Two.", "Three.")
    ports.publish(one)
    first = catalogue.chunks(one.document.doc_id, limit=2)
    assert [stored.chunk.text for stored in first.entries] == ["One.", "Two."]
    rest = catalogue.chunks(one.document.doc_id, after=int(first.next or 0), limit=2)
    assert ([stored.chunk.text for stored in rest.entries], rest.next) == (["Three."], None)


def test_the_summary_counts_the_whole_library(ports: Ports, catalogue: SqliteCatalogue) -> None:
    ports.publish(staged("a.md", "One.", "Two."))
    ports.items.save_item(an_item("broken.pdf", state=ItemState.FAILED))
    summary = catalogue.summary(MODEL)
    assert dict(summary.items) == {"failed": 1, "ready": 1}
    assert (summary.documents, summary.chunks, summary.vectors, summary.vectors_pending) == (1, 2, 0, 2)
    assert (summary.unread_items, summary.answers) == (1, 0)


def test_a_run_is_kept_and_its_items_follow_each_other(library: Library) -> None:
    runs = SqliteIngestRuns(library)
    run = IngestRun("run-1", {"paths": ["notes"]}, NOON)
    runs.save(run, [{"kind": "new", "doc_path": "a.md"}])
    done = IngestRun("run-1", {"paths": ["notes"]}, NOON, NOON, 5, 1, 1, 1, 1, 1, 0, 42)
    runs.save(done, [{"kind": "error", "doc_path": "b.md"}])
    assert runs.get("run-1") == done
    assert runs.recent(5) == [done]
    first = runs.items("run-1", limit=1)
    assert first.entries == ({"kind": "new", "doc_path": "a.md"},)
    assert runs.items("run-1", after=int(first.next or 0)).entries == ({"kind": "error", "doc_path": "b.md"},)
    assert runs.get("run-2") is None


def test_settings_are_kept_as_json(library: Library) -> None:
    settings = SqliteSettings(library)
    assert settings.get("chunking") is None
    settings.set("chunking", {"mode": "fixed", "target": 900})
    assert settings.get("chunking") == {"mode": "fixed", "target": 900}
    settings.set("chunking", None)
    assert settings.get("chunking") is None


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("DELETE FROM vectors", "2 chunks have lost their vector"),
        ("DELETE FROM chunks WHERE text = 'One.'", "1 documents have lost chunks"),
        ("UPDATE items SET active_doc_id = 'x'", "1 items show a document that is not ready"),
        ("UPDATE document_versions SET state = 'ready'", "1 items have two ready versions"),
    ],
)
def test_a_check_finds_parts_that_disagree(library: Library, ports: Ports, damage: str, problem: str) -> None:
    ports.publish(staged("a.md", "Old."))
    ports.publish(staged("a.md", "One.", "Two."))
    ports.embed()
    assert SqliteIntegrity(library).check().problems == ()
    with library.transaction() as connection:
        connection.execute(damage)
    assert SqliteIntegrity(library).check().problems == (problem,)
