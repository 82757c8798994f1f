"""Which items are in a collection: put in by hand, or matched by a rule and not left out. Asked anew every time."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from kb.domain.collection_settings import Settings, checked_chunking, checked_retrieval
from kb.domain.collections import Collection, CollectionRule, ItemFacts, RuleKind
from kb.domain.errors import InvalidInput
from kb.domain.globs import glob_pattern
from kb.domain.metadata import formats_of

_COLUMNS = (
    "k.collection_id, k.name, k.position, k.revision, k.created_at, k.updated_at, k.archived_at, k.rules_json,"
    " k.chunking_json, k.retrieval_json"
)
_BY_HAND = "SELECT item_id FROM collection_items WHERE collection_id = ? AND kind"
_WILD = re.compile(r"[*?\[]")
# No path sorts behind its own start with this behind it.
_LAST = "\U0010ffff"

Fragment = tuple[str, list[Any]]


def collections_of(connection: sqlite3.Connection, item_id: str) -> tuple[Collection, ...]:
    """Return the collections an item is in, archived ones left out, first by position."""
    facts = _facts(connection, item_id)
    if facts is None:
        return ()
    by_hand = dict(
        connection.execute("SELECT collection_id, kind FROM collection_items WHERE item_id = ?", (item_id,)).fetchall()
    )
    return tuple(
        one
        for one in stored_collections(connection)
        if (kind := by_hand.get(one.collection_id)) == "added" or (kind is None and one.fills_itself_with(facts))
    )


def in_collection(collection: Collection) -> Fragment:
    """Return the SQL condition on items i, and its values, under which an item is in a collection.

    The same for all items as `collections_of` is for one. The connection must know globs (`teach_globs`); with
    `i.deleted_at IS NULL` beside it the indexes of paths and tags are used.
    """
    conditions = [f"i.item_id IN ({_BY_HAND} = 'added')"]
    values: list[Any] = [collection.collection_id]
    for rule in collection.rules:
        condition, own = _of_rule(rule)
        # Each rule is a term by itself, so that each may use an index of its own.
        conditions.append(f"({condition} AND i.item_id NOT IN ({_BY_HAND} = 'left_out'))")
        values += (*own, collection.collection_id)
    return f"({' OR '.join(conditions)})", values


def in_any_collection(connection: sqlite3.Connection, collection_ids: Sequence[str]) -> Fragment:
    """Return the SQL condition on items i under which an item is in one of some collections.

    One that is archived or gone holds nothing.
    """
    wanted = set(collection_ids)
    teach_globs(connection)
    parts = [in_collection(one) for one in stored_collections(connection) if one.collection_id in wanted]
    if not parts:
        return "0", []
    within = " OR ".join(condition for condition, _ in parts)
    sql = f"i.item_id IN (SELECT i.item_id FROM items i WHERE i.deleted_at IS NULL AND ({within}))"
    return sql, [value for _, values in parts for value in values]


def stored_collections(
    connection: sqlite3.Connection, where: str = "k.archived_at IS NULL", values: Sequence[str] = ()
) -> list[Collection]:
    """Return the collections that meet a condition on collections k, by position."""
    sql = f"SELECT {_COLUMNS} FROM collections k WHERE {where} ORDER BY k.position, k.name_key"
    rows = connection.execute(sql, values)
    return [_collection(row) for row in rows.fetchall()]


def teach_globs(connection: sqlite3.Connection) -> None:
    """Let a connection know `path_matches(glob, path)`."""
    connection.create_function("path_matches", 2, _path_matches, deterministic=True)


def _of_rule(rule: CollectionRule) -> Fragment:
    match rule.kind:
        case RuleKind.FOLDER:
            return _of_folder(rule)
        case RuleKind.TAG:
            return "i.active_doc_id IN (SELECT doc_id FROM document_tags WHERE tag = ?)", [rule.value]
        case RuleKind.TYPE:
            formats = formats_of((rule.value,))
            marks = ",".join("?" * len(formats))
            # As `CollectionRule.matches`: a source type of `markdown` only says that nothing better is known.
            condition = (
                f"(i.media_type IN ({marks}) OR i.active_doc_id IN (SELECT doc_id FROM documents WHERE media_type IN"
                f" ({marks}) OR (source_type = ? AND source_type <> 'markdown')))"
            )
            return condition, [*formats, *formats, rule.value]


def _of_folder(rule: CollectionRule) -> Fragment:
    glob = rule.glob
    wild = _WILD.search(glob)
    start = glob[: wild.start()] if wild else glob
    below = "i.workspace_path >= ? AND i.workspace_path < ?"
    if rule.folder is not None:
        return below, [rule.folder, rule.folder + _LAST]
    if start:
        return f"{below} AND path_matches(?, i.workspace_path)", [start, start + _LAST, glob]
    return ("1", []) if glob == "**" else ("path_matches(?, i.workspace_path)", [glob])


def _facts(connection: sqlite3.Connection, item_id: str) -> ItemFacts | None:
    row = connection.execute(
        "SELECT i.workspace_path, i.media_type, i.active_doc_id, d.media_type, d.source_type FROM items i"
        " LEFT JOIN documents d ON d.doc_id = i.active_doc_id WHERE i.item_id = ? AND i.deleted_at IS NULL",
        (item_id,),
    ).fetchone()
    if row is None:
        return None
    path, own_type, doc_id, media_type, source_type = row
    tags = connection.execute("SELECT tag FROM document_tags WHERE doc_id = ?", (doc_id,)).fetchall()
    types = frozenset(kind for kind in (own_type, media_type) if kind is not None)
    return ItemFacts(path, types, source_type, frozenset(tag for (tag,) in tags))


def _collection(row: tuple[Any, ...]) -> Collection:
    collection_id, name, position, revision, created, updated, archived, rules_json, chunking_json, retrieval_json = row
    problems: list[str] = []
    rules = _rules(rules_json, problems)
    chunking = _settings(chunking_json, checked_chunking, "how its files are cut", problems)
    retrieval = _settings(retrieval_json, checked_retrieval, "its search settings", problems)
    return Collection(
        collection_id=collection_id,
        name=name,
        position=position,
        revision=revision,
        created_at=datetime.fromisoformat(created),
        updated_at=datetime.fromisoformat(updated),
        archived_at=datetime.fromisoformat(archived) if archived else None,
        rules=rules,
        chunking=chunking,
        retrieval=retrieval,
        problems=tuple(problems),
    )


def _rules(text: str, problems: list[str]) -> tuple[CollectionRule, ...]:
    try:
        found = json.loads(text)
        return tuple(CollectionRule(RuleKind(one["kind"]), one["value"]) for one in found)
    # What is stored may be anything: a list of numbers, a rule whose value is none.
    except (ValueError, KeyError, TypeError, AttributeError, InvalidInput):
        problems.append("its rules cannot be read and are left out: give them anew")
        return ()


def _settings(
    text: str | None, checked: Callable[[Mapping[str, object]], Settings], what: str, problems: list[str]
) -> Settings | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
        if isinstance(found, dict):
            return checked(found)
        reason = "not a set of settings"
    except InvalidInput as error:
        reason = error.message
    except ValueError:
        reason = "damaged"
    problems.append(f"{what} cannot be used and those of the workspace are ({reason}): give them anew")
    return None


def _path_matches(glob: str, path: str) -> bool:
    return _pattern(glob).match(path) is not None


@lru_cache(maxsize=64)
def _pattern(glob: str) -> re.Pattern[str]:
    return glob_pattern(glob)
