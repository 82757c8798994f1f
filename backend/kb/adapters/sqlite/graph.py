"""The links between items that may be seen, as the graph channel walks them."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.gate import VISIBLE_BY_DOCUMENT, VISIBLE_CHUNKS, VISIBLE_DOCUMENTS
from kb.domain.embeddings import ChunkKey
from kb.domain.links import LinkKind
from kb.domain.recipes import ItemId
from kb.retrieval.graph_ports import Neighbour, Passage

_AT_FIRST = 3
_EVERYTHING = 2_000
_COUNTED = 1_000
_PART = 500

_STORED = """
SELECT item, kind, max(fragment), max(weight) FROM (
  SELECT to_item AS item, kind, fragment, weight FROM edges WHERE from_item = ?1 AND state = 'active'
  UNION ALL
  SELECT from_item, kind, '', weight FROM edges WHERE to_item = ?1 AND state = 'active')
GROUP BY item, kind ORDER BY max(weight) DESC, item, kind LIMIT ?2
"""
_OWN_TAGS = """
SELECT t.tag FROM document_tags t JOIN items i ON i.active_doc_id = t.doc_id
WHERE i.item_id = ? ORDER BY t.tag LIMIT 50
"""
_TAGGED = f"""
SELECT i.item_id FROM document_tags t CROSS JOIN {VISIBLE_DOCUMENTS} AND i.active_doc_id = t.doc_id AND t.tag = ?
ORDER BY i.item_id LIMIT ?
"""
_SHOWN = f"SELECT i.item_id FROM {VISIBLE_DOCUMENTS} AND i.item_id IN (SELECT value FROM json_each(?))"
_UNTIED = """
SELECT from_item, to_item FROM edges WHERE kind = 'tag' AND state = 'removed' AND (from_item = ?1 OR to_item = ?1)
"""
_DEGREE = """
SELECT (SELECT count(*) FROM (SELECT 1 FROM edges WHERE from_item = ?1 AND state = 'active' LIMIT ?2))
  + (SELECT count(*) FROM (SELECT 1 FROM edges WHERE to_item = ?1 AND state = 'active' LIMIT ?2))
"""


class SqliteGraph:
    """Wraps the library file: a `LinkGraph`.

    Args:
        library: the file.
        most_tag_items: a tag that more documents have joins none.
    """

    def __init__(self, library: Library, most_tag_items: int) -> None:
        self._library = library
        self._most_tag_items = most_tag_items

    def items_of(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, ItemId]:
        """Return the item of each of `keys` that may be seen now."""
        found: dict[ChunkKey, ItemId] = {}
        for start in range(0, len(keys), _PART):
            part = keys[start : start + _PART]
            marks = ",".join("?" * len(part))
            sql = f"SELECT c.chunk_key, min(i.item_id) FROM {VISIBLE_CHUNKS} AND c.chunk_key IN ({marks})"
            for key, item in self._library.rows(f"{sql} GROUP BY c.chunk_key", part):
                found[ChunkKey(key)] = ItemId(item)
        return found

    def neighbours(self, items: Sequence[ItemId], most: int) -> Sequence[Neighbour]:
        """Return up to `most` links of each item, what says most first, in a fixed order."""
        found: list[Neighbour] = []
        for item in items:
            rows = self._library.rows(_STORED, (item, most))
            links = [Neighbour(item, ItemId(other), LinkKind(kind), fragment) for other, kind, fragment, _ in rows]
            links += [Neighbour(item, other, LinkKind.TAG) for other, _ in self.tagged_alike(item, most - len(links))]
            found += links
        shown = self._shown({link.item for link in found})
        return [link for link in found if link.item in shown]

    def degrees(self, items: Sequence[ItemId]) -> Mapping[ItemId, int]:
        """Return how many links each item has, counted to 1,000 at most in each direction; shared tags do not count."""
        return {item: int((self._library.row(_DEGREE, (item, _COUNTED)) or (0,))[0]) for item in items}

    def passages(self, item: ItemId, *, everything: bool) -> Sequence[Passage]:
        """Return the first passages of an item that may be seen, in order; with `everything` up to 2,000."""
        sql = (
            f"SELECT c.chunk_key, c.heading_path_json FROM {VISIBLE_BY_DOCUMENT} AND i.item_id = ?"
            " ORDER BY c.ordinal LIMIT ?"
        )
        rows = self._library.rows(sql, (item, _EVERYTHING if everything else _AT_FIRST))
        return [Passage(ChunkKey(key), tuple(json.loads(path))) for key, path in rows]

    def tagged_alike(self, item: ItemId, most: int) -> Sequence[tuple[ItemId, str]]:
        """Return up to `most` items that share a tag with `item`, with the first such tag."""
        if most < 1:
            return []
        untied = {other for pair in self._library.rows(_UNTIED, (item,)) for other in pair}
        found: dict[ItemId, str] = {}
        for tag, others in self._joined_by(item):
            for other in others:
                if other != item and other not in untied:
                    found.setdefault(other, tag)
        return list(found.items())[:most]

    def _joined_by(self, item: ItemId) -> Iterator[tuple[str, Sequence[ItemId]]]:
        for (tag,) in self._library.rows(_OWN_TAGS, (item,)):
            others = self._library.rows(_TAGGED, (tag, self._most_tag_items + 1))
            if len(others) <= self._most_tag_items:
                yield tag, [ItemId(other) for (other,) in others]

    def _shown(self, items: set[ItemId]) -> set[ItemId]:
        rows = self._library.rows(_SHOWN, (json.dumps(sorted(items)),)) if items else []
        return {ItemId(item) for (item,) in rows}
