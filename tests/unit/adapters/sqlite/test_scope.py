"""What a search in collections, among items and between days may find."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import product

from kb.adapters.sqlite.collections import SqliteCollections
from kb.adapters.sqlite.connection import Library
from kb.domain.collections import CollectionRule, RuleKind
from kb.domain.items import MediaType
from kb.domain.metadata import SourceType
from kb.domain.search import SearchFilters
from tests.builders import staged
from tests.contracts.library import Ports


def test_a_search_in_collections_finds_what_any_of_them_holds(library: Library, ports: Ports) -> None:
    ports.publish(staged("tax/a.md", "A."), staged("b.md", "B."), staged("c.md", "C."))
    store = SqliteCollections(library)
    tax = store.create("Tax", (CollectionRule(RuleKind.FOLDER, "tax"),), None, None)
    other = store.create("Other", (), None, None)
    store.put(other.collection_id, 1, ["item-b.md"], added=True)
    assert ports.texts(SearchFilters(collections=(tax.collection_id,))) == ["A."]
    assert ports.texts(SearchFilters(collections=(tax.collection_id, other.collection_id))) == ["A.", "B."]


def test_an_empty_an_archived_and_an_unknown_collection_hold_nothing(library: Library, ports: Ports) -> None:
    ports.publish(staged("a.md", "A."))
    store = SqliteCollections(library)
    empty = store.create("Empty", (), None, None)
    all_of_it = store.create("All", (CollectionRule(RuleKind.FOLDER, "**"),), None, None)
    assert ports.texts(SearchFilters(collections=(all_of_it.collection_id,))) == ["A."]
    store.archive(all_of_it.collection_id, 1, archived=True)
    for collection_id in (empty.collection_id, all_of_it.collection_id, "nobody"):
        assert ports.texts(SearchFilters(collections=(collection_id,))) == []


def test_a_search_among_items_finds_in_them_alone(library: Library, ports: Ports) -> None:
    ports.publish(staged("a.md", "A."), staged("b.md", "B."), staged("c.md", "C."))
    assert ports.texts(SearchFilters(items=("item-a.md", "item-c.md"))) == ["A.", "C."]


def test_days_count_from_their_start_to_their_end(library: Library, ports: Ports) -> None:
    for day in (1, 2, 3):
        one = staged(f"{day}.md", f"Day {day}.")
        metadata = replace(one.document.metadata, updated_at=datetime(2026, 3, day, 23, 59, tzinfo=UTC))
        ports.publish(replace(one, document=replace(one.document, metadata=metadata)))
    assert ports.texts(SearchFilters(changed_from=date(2026, 3, 2))) == ["Day 2.", "Day 3."]
    assert ports.texts(SearchFilters(changed_to=date(2026, 3, 2))) == ["Day 1.", "Day 2."]
    assert ports.texts(SearchFilters(changed_from=date(2026, 3, 2), changed_to=date(2026, 3, 2))) == ["Day 2."]


def test_damaged_rules_and_settings_are_left_out_and_said(library: Library, ports: Ports) -> None:
    ports.publish(staged("a.md", "A."))
    store = SqliteCollections(library)
    made = store.create("All", (CollectionRule(RuleKind.FOLDER, "**"),), {"mode": "fixed"}, {"top_k": 3})
    for text in ("{", "5", '"x"', "[1]", '[{"kind":"moon","value":"x"}]', '[{"kind":"tag","value":7}]'):
        with library.transaction() as connection:
            connection.execute(
                "UPDATE collections SET rules_json = ?1, chunking_json = ?1, retrieval_json = ?1", (text,)
            )
        found = store.get(made.collection_id)
        assert found is not None
        assert (found.rules, found.chunking, found.retrieval, len(found.problems)) == ((), None, None, 3)
        assert ports.texts(SearchFilters(collections=(made.collection_id,))) == []
    with library.transaction() as connection:
        connection.execute("UPDATE collections SET rules_json = '[]', retrieval_json = '{\"top_k\":99}'")
    found = store.get(made.collection_id)
    assert found is not None
    assert "top_k is out of its range" in found.problems[1]


def test_the_condition_in_the_file_and_the_rules_of_the_domain_say_the_same(library: Library, ports: Ports) -> None:
    paths = ("a.md", "a/b.md", "a/b/c.txt", "ab/c.md", "[x]/d.md", "노트/메모.md")
    kinds = ((MediaType.MARKDOWN, SourceType.MARKDOWN), (MediaType.DOCX, SourceType.PAPER))
    for number, (path, (media, source)) in enumerate(product(paths, kinds)):
        tags = ("x",) if number % 3 else ("y", "x/y")
        where = path if media is MediaType.MARKDOWN else f"{path}.docx"
        ports.publish(staged(where, f"{number}", tags=tags, media_type=media, source_type=source))
    rules = [CollectionRule(RuleKind.TAG, value) for value in ("x", "y", "X")]
    rules += [CollectionRule(RuleKind.TYPE, value) for value in ("markdown", "office", "paper", "docx", "pdf")]
    globs = ("a", "/a/", "a/*", "**/c.*", "*.md", "**", "[x]", "노트", "a/**/c.txt", ".", "?.md")
    rules += [CollectionRule(RuleKind.FOLDER, value) for value in globs]
    store = SqliteCollections(library)
    items = [item_id for (item_id,) in library.rows("SELECT item_id FROM items ORDER BY item_id")]
    for number, rule in enumerate(rules):
        made = store.create(str(number), (rule,), None, None)
        held = {item.item_id for item in store.items(made.collection_id).entries}
        of_one = {i for i in items if made.collection_id in {one.collection_id for one in store.of(i)}}
        assert (rule, held) == (rule, of_one)
