"""Collections and kept searches of another library."""

from __future__ import annotations

from pathlib import Path

from kb.adapters.sqlite.collections import SqliteCollections
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.documents import SqliteDocumentWriter
from kb.adapters.sqlite.merging import SqliteMerge
from kb.adapters.sqlite.saved_searches import SqliteSavedSearches
from kb.domain.collections import CollectionRule, RuleKind
from tests.builders import MODEL, staged


def filled(folder: Path, *paths: str) -> Library:
    library = Library(folder)
    writer = SqliteDocumentWriter(library)
    for path in paths:
        one = staged(path, f"Text of {path}.")
        writer.stage(one.item, one.asset, one.document, one.chunks, MODEL)
        writer.activate([one.document.doc_id])
    return library


def test_what_is_absent_is_taken_in_and_what_is_here_stays_as_it_is(tmp_path: Path) -> None:
    there = filled(tmp_path / "there", "a.md", "b.md")
    others = SqliteCollections(there)
    tax = others.create("Tax", (CollectionRule(RuleKind.FOLDER, "tax"),), None, {"top_k": 3})
    others.put(tax.collection_id, 1, ["item-a.md", "item-b.md"], added=True)
    others.create("HERE", (), None, {"top_k": 9})
    SqliteSavedSearches(there).save("mine", '{"query":"there"}', replaces=False)
    SqliteSavedSearches(there).save("theirs", '{"query":"there"}', replaces=False)
    there.close()

    here = filled(tmp_path / "here", "a.md")
    own = SqliteCollections(here)
    own.create("Here", (), None, {"top_k": 1})
    SqliteSavedSearches(here).save("Mine", '{"query":"here"}', replaces=False)
    merge = SqliteMerge(here)
    for _ in range(2):
        merge.take_answers(tmp_path / "there" / "kb.sqlite")

    assert [(one.name, one.position, one.retrieval) for one in own.all()] == [
        ("Here", 0, {"top_k": 1}),
        ("Tax", 1, {"top_k": 3}),
    ]
    # An item that is not here cannot be in anything.
    assert [item.path for item in own.items(tax.collection_id).entries] == ["a.md"]
    assert [(one.name, one.request_json) for one in SqliteSavedSearches(here).all()] == [
        ("Mine", '{"query":"here"}'),
        ("theirs", '{"query":"there"}'),
    ]
    here.close()
