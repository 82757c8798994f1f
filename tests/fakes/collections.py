"""Collections and kept searches in memory, held to the same promises as the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kb.domain.catalogue import Page
from kb.domain.collection_settings import Settings
from kb.domain.collections import Collection, CollectionItem, CollectionRule, ItemFacts, name_key
from kb.domain.errors import Conflict, NotFound
from kb.domain.items import MediaType
from kb.domain.saved_searches import SavedSearch
from tests.builders import NOON


@dataclass
class FakeFiles:
    facts: dict[str, ItemFacts] = field(default_factory=dict)

    def put(self, path: str, tags: Sequence[str] = (), media: MediaType = MediaType.MARKDOWN, *, at: str = "") -> str:
        item_id = next((key for key, one in self.facts.items() if one.path == at), f"item-{path}")
        self.facts[item_id] = ItemFacts(path, frozenset({media.value}), "markdown", frozenset(tags))
        return item_id

    def delete(self, path: str) -> None:
        self.facts = {key: one for key, one in self.facts.items() if one.path != path}


@dataclass
class FakeCollections:
    files: FakeFiles = field(default_factory=FakeFiles)
    kept: dict[str, Collection] = field(default_factory=dict)
    by_hand: dict[tuple[str, str], bool] = field(default_factory=dict)

    def all(self, *, archived: bool = False) -> Sequence[Collection]:
        found = [one for one in self.kept.values() if (one.archived_at is not None) == archived]
        return sorted(found, key=lambda one: one.position)

    def get(self, collection_id: str) -> Collection | None:
        return self.kept.get(collection_id)

    def of(self, item_id: str) -> Sequence[Collection]:
        return [one for one in self.all() if self._holds(one, item_id)]

    def create(
        self, name: str, rules: Sequence[CollectionRule], chunking: Settings | None, retrieval: Settings | None
    ) -> Collection:
        made = f"collection-{len(self.kept)}"
        self._refuse_taken(name, made)
        position = len(self.all())
        self.kept[made] = Collection(
            made, name, position, 1, NOON, NOON, rules=tuple(rules), chunking=chunking, retrieval=retrieval
        )
        return self.kept[made]

    def save(self, changed: Collection, seen: int) -> Collection:
        before = self._expected(changed.collection_id, seen)
        if before.archived_at is None:
            self._refuse_taken(changed.name, changed.collection_id)
        return self._risen(
            replace(
                before,
                name=changed.name,
                rules=changed.rules,
                chunking=changed.chunking,
                retrieval=changed.retrieval,
            )
        )

    def archive(self, collection_id: str, seen: int, *, archived: bool) -> Collection:
        before = self._expected(collection_id, seen)
        if (before.archived_at is not None) == archived:
            return before
        if archived:
            self._risen(replace(before, archived_at=NOON))
        else:
            self._refuse_taken(before.name, collection_id)
            self._risen(replace(before, archived_at=None, position=len(self.all())))
        self._number([one.collection_id for one in self.all()])
        return self.kept[collection_id]

    def move(self, collection_id: str, seen: int, position: int) -> Collection:
        self._risen(self._expected(collection_id, seen))
        others = [one.collection_id for one in self.all() if one.collection_id != collection_id]
        others.insert(position, collection_id)
        self._number(others)
        return self.kept[collection_id]

    def put(self, collection_id: str, seen: int, item_ids: Sequence[str], *, added: bool) -> Collection:
        found = self._expected(collection_id, seen)
        self.by_hand |= {(collection_id, item_id): added for item_id in item_ids}
        return self._risen(found)

    def items(self, collection_id: str, after: str | None = None, limit: int = 100) -> Page[CollectionItem]:
        one = self._required(collection_id)
        held = sorted(
            (facts.path, item_id)
            for item_id, facts in self.files.facts.items()
            if self._holds(one, item_id) and facts.path > (after or "")
        )
        shown = tuple(
            CollectionItem(item_id, path, "ready", self.by_hand.get((collection_id, item_id), False))
            for path, item_id in held[:limit]
        )
        return Page(shown, shown[-1].path if len(held) > limit else None)

    def count(self, collection_id: str) -> int:
        return len(self.items(collection_id, None, 1_000_000).entries)

    def _holds(self, one: Collection, item_id: str) -> bool:
        facts = self.files.facts.get(item_id)
        if facts is None:
            return False
        return self.by_hand.get((one.collection_id, item_id), one.fills_itself_with(facts))

    def _required(self, collection_id: str) -> Collection:
        if collection_id not in self.kept:
            raise NotFound("there is no such collection", hint="list them")
        return self.kept[collection_id]

    def _expected(self, collection_id: str, seen: int) -> Collection:
        found = self._required(collection_id)
        if found.revision != seen:
            raise Conflict(f"it is revision {found.revision} now", hint="look again")
        return found

    def _refuse_taken(self, name: str, own_id: str) -> None:
        if any(name_key(one.name) == name_key(name) and one.collection_id != own_id for one in self.all()):
            raise Conflict("the name is taken", hint="rename the other one first")

    def _risen(self, one: Collection) -> Collection:
        self.kept[one.collection_id] = replace(one, revision=one.revision + 1)
        return self.kept[one.collection_id]

    def _number(self, ids: Sequence[str]) -> None:
        for position, collection_id in enumerate(ids):
            self.kept[collection_id] = replace(self.kept[collection_id], position=position)


@dataclass
class FakeSavedSearches:
    kept: dict[str, SavedSearch] = field(default_factory=dict)

    def all(self) -> Sequence[SavedSearch]:
        return [self.kept[key] for key in sorted(self.kept)]

    def save(self, name: str, request_json: str, *, replaces: bool) -> None:
        if name_key(name) in self.kept and not replaces:
            raise Conflict("it is kept already", hint="choose another name")
        self.kept[name_key(name)] = SavedSearch(name, request_json, NOON, NOON)

    def forget(self, name: str) -> None:
        if self.kept.pop(name_key(name), None) is None:
            raise NotFound("it is not kept", hint="list them")
