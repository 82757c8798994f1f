"""What the stores of collections and of kept searches promise, whatever they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import pytest

from kb.app.facade.collections import CollectionStore
from kb.app.facade.saved_searches import SearchStore
from kb.domain.collections import Collection, CollectionRule, RuleKind
from kb.domain.errors import Conflict, NotFound
from kb.domain.items import MediaType


class Files(Protocol):
    """Fills the library behind a store of collections."""

    def put(self, path: str, tags: Sequence[str] = (), media: MediaType = MediaType.MARKDOWN, *, at: str = "") -> str:
        """Add a file, or let the one that was `at` another path be here; return its item_id."""

    def delete(self, path: str) -> None:
        """Let a file be gone."""


@dataclass(frozen=True)
class CollectionPorts:
    store: CollectionStore
    files: Files

    def make(self, name: str = "All", *rules: CollectionRule) -> Collection:
        return self.store.create(name, rules, None, None)

    def paths(self, collection: Collection) -> list[str]:
        return [item.path for item in self.store.items(collection.collection_id).entries]


def folder(value: str) -> CollectionRule:
    return CollectionRule(RuleKind.FOLDER, value)


class CollectionStoreContract:
    def test_a_collection_reads_back_as_it_was_made(self, ports: CollectionPorts) -> None:
        rules = (folder("notes"), CollectionRule(RuleKind.TAG, "운영"))
        made = ports.store.create("계약", rules, {"mode": "fixed", "target_characters": 800}, {"top_k": 3})
        assert (made.name, made.position, made.revision, made.rules) == ("계약", 0, 1, rules)
        assert made.retrieval == {"top_k": 3}
        assert ports.store.get(made.collection_id) == made
        assert list(ports.store.all()) == [made]
        assert list(ports.store.all(archived=True)) == []

    def test_new_files_fall_into_the_folder_they_match(self, ports: CollectionPorts) -> None:
        made = ports.make("Notes", folder("notes"))
        ports.files.put("notes/a.md")
        ports.files.put("notes/deep/b.md")
        ports.files.put("notes2/c.md")
        ports.files.put("notes.md")
        assert ports.paths(made) == ["notes/a.md", "notes/deep/b.md"]
        assert ports.store.count(made.collection_id) == 2

    def test_a_glob_a_tag_and_a_type_fill_a_collection_together(self, ports: CollectionPorts) -> None:
        rules = (folder("**/*.log"), CollectionRule(RuleKind.TAG, "tax"), CollectionRule(RuleKind.TYPE, "office"))
        made = ports.make("Mixed", *rules)
        ports.files.put("var/x.log", media=MediaType.TEXT)
        ports.files.put("t.md", tags=("tax", "old"))
        ports.files.put("offer.docx", media=MediaType.DOCX)
        ports.files.put("else.md", tags=("taxi",))
        assert ports.paths(made) == ["offer.docx", "t.md", "var/x.log"]

    def test_what_is_put_in_by_hand_is_there_without_a_rule(self, ports: CollectionPorts) -> None:
        item = ports.files.put("a.md")
        ports.files.put("b.md")
        made = ports.make()
        ports.store.put(made.collection_id, 1, [item], added=True)
        (held,) = ports.store.items(made.collection_id).entries
        assert (held.item_id, held.path, held.is_added) == (item, "a.md", True)

    def test_what_is_left_out_stays_out_though_a_rule_matches(self, ports: CollectionPorts) -> None:
        made = ports.make("All", folder("**"))
        item = ports.files.put("a.md")
        ports.files.put("b.md")
        ports.store.put(made.collection_id, 1, [item], added=False)
        assert ports.paths(made) == ["b.md"]
        ports.store.put(made.collection_id, 2, [item], added=True)
        assert ports.paths(made) == ["a.md", "b.md"]

    def test_an_item_is_in_any_number_of_collections_in_their_order(self, ports: CollectionPorts) -> None:
        item = ports.files.put("a/b.md", tags=("x",))
        first, second, third = ports.make("1", folder("a")), ports.make("2"), ports.make("3", folder("b"))
        tagged = ports.make("4", CollectionRule(RuleKind.TAG, "x"))
        ports.store.put(second.collection_id, 1, [item], added=True)
        assert [one.name for one in ports.store.of(item)] == ["1", "2", "4"]
        ports.store.put(first.collection_id, 1, [item], added=False)
        ports.store.archive(tagged.collection_id, 1, archived=True)
        assert [one.name for one in ports.store.of(item)] == ["2"]
        assert ports.paths(third) == []

    def test_a_renamed_file_stays_where_a_person_put_it(self, ports: CollectionPorts) -> None:
        item = ports.files.put("old.md")
        made = ports.make()
        ports.store.put(made.collection_id, 1, [item], added=True)
        assert ports.files.put("new/name.md", at="old.md") == item
        assert ports.paths(made) == ["new/name.md"]

    def test_a_deleted_file_is_gone_from_every_collection(self, ports: CollectionPorts) -> None:
        item = ports.files.put("a.md")
        made = ports.make("All", folder("**"))
        ports.store.put(made.collection_id, 1, [item], added=True)
        ports.files.delete("a.md")
        assert ports.paths(made) == []
        assert list(ports.store.of(item)) == []

    def test_a_change_for_another_revision_is_refused_and_says_which_it_is(self, ports: CollectionPorts) -> None:
        made = ports.make()
        changed = ports.store.save(replace(made, name="Other"), 1)
        assert (changed.name, changed.revision) == ("Other", 2)
        with pytest.raises(Conflict, match="revision 2 now"):
            ports.store.save(replace(made, name="Late"), 1)
        with pytest.raises(Conflict, match="revision 2 now"):
            ports.store.archive(made.collection_id, 1, archived=True)
        with pytest.raises(Conflict, match="revision 2 now"):
            ports.store.move(made.collection_id, 1, 0)
        with pytest.raises(Conflict, match="revision 2 now"):
            ports.store.put(made.collection_id, 1, [], added=True)
        assert ports.store.get(made.collection_id) == changed

    def test_names_that_read_the_same_cannot_both_be_shown(self, ports: CollectionPorts) -> None:
        made = ports.make("Straße Ａ")
        with pytest.raises(Conflict):
            ports.make("STRASSE a")
        other = ports.make("other")
        with pytest.raises(Conflict):
            ports.store.save(replace(other, name="strasse A"), 1)
        ports.store.save(replace(made, name="STRASSE A"), 1)

    def test_an_archived_collection_frees_its_name_and_comes_back_only_while_it_is_free(
        self, ports: CollectionPorts
    ) -> None:
        made = ports.store.archive(ports.make("A").collection_id, 1, archived=True)
        assert (made.revision, made.archived_at is not None) == (2, True)
        other = ports.make("a")
        with pytest.raises(Conflict) as caught:
            ports.store.archive(made.collection_id, 2, archived=False)
        assert "rename" in caught.value.hint
        ports.store.save(replace(other, name="B"), 1)
        back = ports.store.archive(made.collection_id, 2, archived=False)
        assert (back.archived_at, back.position, back.revision) == (None, 1, 3)

    def test_what_is_gone_is_not_found(self, ports: CollectionPorts) -> None:
        assert ports.store.get("nobody") is None
        with pytest.raises(NotFound):
            ports.store.items("nobody")
        with pytest.raises(NotFound):
            ports.store.count("nobody")
        with pytest.raises(NotFound):
            ports.store.move("nobody", 1, 0)

    def test_pages_give_every_file_once(self, ports: CollectionPorts) -> None:
        made = ports.make("All", folder("**"))
        for number in range(7):
            ports.files.put(f"{number}.md")
        seen, after = [], None
        while True:
            page = ports.store.items(made.collection_id, after, 3)
            seen += [item.path for item in page.entries]
            after = page.next
            if after is None:
                break
        assert seen == [f"{number}.md" for number in range(7)]


def check_course(ports: CollectionPorts, steps: Sequence[tuple[str, int, int]]) -> None:
    """Hold a course of moves, renames, archivings and restorings to a list that is moved likewise."""
    kept = [ports.make(f"{number}") for number in range(4)]
    model = [one.collection_id for one in kept]
    for step, which, place in steps:
        seen = ports.store.get(kept[which % 4].collection_id)
        assert seen is not None
        is_shown = seen.collection_id in model
        if step in {"m", "o"} and is_shown:
            after = ports.store.move(seen.collection_id, seen.revision, place)
            model.remove(seen.collection_id)
            model.insert(place, seen.collection_id)
        elif step == "n":
            after = ports.store.save(replace(seen, retrieval={"top_k": place + 1}), seen.revision)
        elif is_shown:
            after = ports.store.archive(seen.collection_id, seen.revision, archived=True)
            model.remove(seen.collection_id)
        else:
            after = ports.store.archive(seen.collection_id, seen.revision, archived=False)
            model.append(seen.collection_id)
        assert after.revision == seen.revision + 1
        shown = ports.store.all()
        assert [one.collection_id for one in shown] == model
        assert [one.position for one in shown] == list(range(len(model)))


class SearchStoreContract:
    def test_kept_searches_come_back_by_name(self, searches: SearchStore) -> None:
        searches.save("b", '{"query":"1"}', replaces=False)
        searches.save("Ａ", '{"query":"2"}', replaces=False)
        assert [(one.name, one.request_json) for one in searches.all()] == [
            ("Ａ", '{"query":"2"}'),
            ("b", '{"query":"1"}'),
        ]

    def test_one_of_the_same_name_is_replaced_only_when_told(self, searches: SearchStore) -> None:
        searches.save("Tax", '{"query":"1"}', replaces=False)
        with pytest.raises(Conflict):
            searches.save("TAX", '{"query":"2"}', replaces=False)
        searches.save("TAX", '{"query":"2"}', replaces=True)
        assert [(one.name, one.request_json) for one in searches.all()] == [("TAX", '{"query":"2"}')]

    def test_a_forgotten_search_is_gone(self, searches: SearchStore) -> None:
        searches.save("Tax", "{}", replaces=False)
        searches.forget("tax")
        assert list(searches.all()) == []
        with pytest.raises(NotFound):
            searches.forget("tax")
