from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kb.adapters.sqlite.answers import SqliteAnswerStore
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.integrity import SqliteIntegrity
from kb.adapters.sqlite.payloads import metadata_from, payload_json, provenance_from, warnings_from
from kb.domain.blocks import Code, Heading, MediaRef, Prose, Table
from kb.domain.failures import StorageFailed
from kb.domain.inlines import Link, Styled
from tests.builders import staged
from tests.contracts.library import Ports
from tests.contracts.records import a_record


def versions(library: Library) -> list[tuple[int, str]]:
    return library.rows("SELECT number, state FROM document_versions ORDER BY number")


def test_a_text_that_comes_back_is_a_third_version(library: Library, ports: Ports) -> None:
    for text in ("First.", "Second.", "First."):
        ports.publish(staged("a.md", text))
    assert versions(library) == [(1, "superseded"), (2, "superseded"), (3, "ready")]
    assert SqliteIntegrity(library).check().problems == ()


def test_the_key_of_a_purged_chunk_is_never_given_again(library: Library, ports: Ports) -> None:
    ports.publish(staged("a.md", "First."))
    (key,) = ports.gate.visible([1]) or (None,)  # type: ignore[list-item]
    assert key == 1
    ports.items.delete_items([staged("a.md").item.item_id])
    ports.documents.purge(0)
    assert library.rows("SELECT count(*) FROM chunks") == [(0,)]
    ports.publish(staged("a.md", "First."))
    assert library.rows("SELECT chunk_key FROM chunks") == [(2,)]


def test_a_document_that_an_answer_shows_is_not_purged(library: Library, ports: Ports) -> None:
    cited, other = staged("a.md", "Cited."), staged("b.md", "Not cited.")
    ports.publish(cited, other)
    SqliteAnswerStore(library).keep(a_record("t1", cited.document.doc_id))
    ports.publish(staged("a.md", "New a."), staged("b.md", "New b."))
    assert list(ports.documents.purge(0)) == [other.asset.storage_path]
    assert {text for (text,) in library.rows("SELECT text FROM chunks")} == {"Cited.", "New a.", "New b."}


def test_purge_takes_vectors_that_no_text_needs(library: Library, ports: Ports) -> None:
    ports.publish(staged("a.md", "Shared.", "Alone."), staged("b.md", "Shared."))
    ports.embed()
    ports.publish(staged("a.md", "New."))
    ports.documents.purge(0)
    kept = library.rows("SELECT c.text FROM vectors v JOIN chunks c ON c.text_hash = v.text_hash")
    assert kept == [("Shared.",)]
    assert library.rows("SELECT count(*) FROM vectors") == [(1,)]


def test_purge_leaves_the_chunks_of_the_way_in_use(library: Library, ports: Ports) -> None:
    ports.publish(staged("a.md", "Same."))
    ports.publish(staged("a.md", "Same.", policy="policy-2"))
    assert list(ports.documents.purge(0)) == []
    assert library.rows("SELECT count(*) FROM chunks") == [(1,)]
    assert ports.texts() == ["Same."]
    assert SqliteIntegrity(library).check().problems == ()


def test_deleting_an_item_keeps_its_text_until_purge(library: Library, ports: Ports) -> None:
    one = staged("a.md", "Kept for a while.")
    ports.publish(one)
    ports.items.delete_items([one.item.item_id])
    assert library.rows("SELECT text FROM chunks") == [("Kept for a while.",)]
    assert list(ports.documents.purge(0)) == [one.asset.storage_path]
    assert library.rows("SELECT text FROM chunks") == []
    assert library.rows("SELECT count(*) FROM items") == [(0,)]


def test_metadata_steps_and_warnings_are_kept(library: Library, ports: Ports) -> None:
    one = staged("a.md", "Text.", tags=("b", "a", "b"))
    ports.publish(one)
    (row,) = library.rows(
        "SELECT metadata_json, provenance_json, warnings_json, created_at, updated_at, source_type, trust_level"
        " FROM documents"
    )
    assert metadata_from(row[0], row[3:]) == one.document.metadata
    assert provenance_from(row[1]) == one.document.provenance
    assert warnings_from(row[2]) == one.document.warnings
    assert library.rows("SELECT tag FROM document_tags ORDER BY tag") == [("a",), ("b",)]


def test_blocks_are_kept_with_their_place(library: Library, ports: Ports) -> None:
    one = staged("a.md", "Text.", title="케밥")
    ports.publish(one)
    rows = library.rows("SELECT block_id, kind, heading_path_json, source_span_json FROM blocks ORDER BY ordinal")
    assert rows == [
        (one.document.blocks[0].block_id, "heading", "[]", '{"kind":"line","start":1,"end":1}'),
        (one.document.blocks[1].block_id, "paragraph", '["케밥"]', '{"kind":"line","start":3,"end":3}'),
    ]


def test_every_kind_of_payload_is_json() -> None:
    payloads = (
        (Prose(), {"kind": "prose"}),
        (
            Prose((Link("a", "b.md", "wiki"), Styled("c", "code")), ordered=True),
            {
                "kind": "prose",
                "inlines": [{"text": "a", "href": "b.md", "kind": "wiki"}, {"text": "c", "style": "code"}],
                "ordered": True,
            },
        ),
        (Heading(2), {"kind": "heading", "level": 2}),
        (Code("py"), {"kind": "code", "language": "py"}),
        (Table(("a",), (("1", "2"),)), {"kind": "table", "headers": ["a"], "rows": [["1", "2"]]}),
        (MediaRef("a.png", "A cat"), {"kind": "media", "src": "a.png", "alt": "A cat"}),
    )
    assert [json.loads(payload_json(payload)) for payload, _ in payloads] == [expected for _, expected in payloads]


def test_staging_an_active_document_again_renews_its_metadata(ports: Ports) -> None:
    ports.publish(staged("a.md", "Text.", tags=("old",)))
    ports.publish(staged("a.md", "Text.", tags=("new",)))
    (entry,) = ports.log.text_snapshot().entries
    assert entry.tags == ("new",)
    changes = ports.log.text_changes(1, 10)
    assert changes is not None
    assert (len(changes.remove), [added.tags for added in changes.add]) == (1, [("new",)])


def test_staging_an_active_document_again_as_it_is_gives_the_text_index_nothing_to_do(
    library: Library, ports: Ports
) -> None:
    one = staged("a.md", "Text.", tags=("b", "a"))
    ports.publish(one)
    for _ in range(2):
        ports.publish(one)
    assert ports.log.text_changes(1, 10) is None
    ports.items.delete_items([one.item.item_id])
    ports.publish(one)
    assert library.rows("SELECT op FROM index_log WHERE projection = 'text' ORDER BY seq")[-1] == ("add",)


def test_two_chunks_with_one_id_are_refused_instead_of_losing_one(library: Library, ports: Ports) -> None:
    one = staged("a.md", "Text.")
    with pytest.raises(StorageFailed, match="2 chunks of a document share 1 ids"):
        ports.stage(replace(one, chunks=one.chunks * 2))
    assert library.rows("SELECT count(*) FROM items") == [(0,)]
