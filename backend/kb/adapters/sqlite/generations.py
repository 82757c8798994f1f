"""Generations: which there are, by which recipe, how much of each is made, and letting go of one."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.json_text import compact, now_text
from kb.adapters.sqlite.purge import SqlitePurge
from kb.domain.errors import NotFound
from kb.domain.failures import StorageFailed
from kb.domain.generations import Generation, GenerationCounts, GenerationId, GenerationState, Recipe

ACTIVE_VERSION = "v.item_id = i.item_id AND v.doc_id = i.active_doc_id AND v.state = 'ready'"
"""The version v that an item i shows, under whichever generation."""

_COLUMNS = "generation_id, state, fingerprint, recipe_json, created_at, ready_at, switched_at"
_SERVED = f"""
SELECT v.item_id, v.doc_id, v.chunking_key, v.chunk_count, 1 AS whole
FROM items i CROSS JOIN document_versions v ON {ACTIVE_VERSION} WHERE i.deleted_at IS NULL
"""
_BUILT = """
SELECT g.item_id, g.doc_id, g.chunking_key, g.chunk_count, g.fingerprint IS NOT NULL AS whole
FROM generation_documents g CROSS JOIN items i ON i.item_id = g.item_id
WHERE g.generation_id = {generation} AND i.deleted_at IS NULL AND i.active_doc_id IS NOT NULL
"""
_OF_PARSER = """
DELETE FROM generation_documents WHERE doc_id IN (SELECT doc_id FROM documents WHERE parser_version = ?)
"""


class SqliteGenerations:
    """Wraps the library file: the generations of the library."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def all(self) -> tuple[Generation, ...]:
        """Return those that are kept, newest first."""
        rows = self._library.rows(
            f"SELECT {_COLUMNS} FROM generations WHERE state <> 'discarded' ORDER BY generation_id DESC"
        )
        return tuple(map(_generation, rows))

    def get(self, generation: GenerationId) -> Generation:
        """Return one that is kept.

        Raises:
            NotFound: there is none.
        """
        found = next((one for one in self.all() if one.generation_id == generation), None)
        if found is None:
            raise NotFound(
                f"there is no generation {generation}", hint="`kb index generations` lists those that are kept"
            )
        return found

    def serving(self) -> Generation:
        """Return the one that is shown.

        Raises:
            StorageFailed: none is; the library is damaged.
        """
        found = next((one for one in self.all() if one.state is GenerationState.SERVING), None)
        if found is None:
            raise StorageFailed("no generation of this library serves", hint="restore a backup")
        return found

    def set_recipe(self, generation: GenerationId, recipe: Recipe) -> None:
        """Keep the recipe of a generation that is made in place."""
        with self._library.transaction() as connection:
            connection.execute(
                "UPDATE generations SET recipe_json = ?, fingerprint = ? WHERE generation_id = ?",
                (compact(recipe.to_json()), recipe.fingerprint(), generation),
            )

    def begin(self, recipe: Recipe) -> Generation:
        """Return a generation by this recipe that is to be made, gone on with when it was begun; others are let go of.

        One that is ready or retired is taken up too: what it has is kept.
        """
        fingerprint = recipe.fingerprint()
        known = [one for one in self.all() if one.state is not GenerationState.SERVING]
        for other in known:
            is_begun = other.state in {GenerationState.BUILDING, GenerationState.READY}
            if is_begun and other.fingerprint != fingerprint:
                self.discard(other.generation_id)
        same = next((one for one in known if one.fingerprint == fingerprint), None)
        with self._library.transaction() as connection:
            if same is not None:
                number = int(same.generation_id)
                connection.execute(
                    "UPDATE generations SET state = 'building', ready_at = NULL, recipe_json = ?"
                    " WHERE generation_id = ?",
                    (compact(recipe.to_json()), number),
                )
            else:
                (number,) = connection.execute(
                    "INSERT INTO generations (fingerprint, state, recipe_json, created_at)"
                    " VALUES (?,'building',?,?) RETURNING generation_id",
                    (fingerprint, compact(recipe.to_json()), now_text()),
                ).fetchone()
        return self.get(GenerationId(number))

    def make_ready(self, generation: GenerationId) -> None:
        """Say that everything of a generation is made and its indexes hold it."""
        with self._library.transaction() as connection:
            connection.execute(
                "UPDATE generations SET ready_at = ?, state = CASE state WHEN 'building' THEN 'ready' ELSE state END"
                " WHERE generation_id = ?",
                (now_text(), generation),
            )

    def forget(self, keeps: Callable[[str], bool]) -> None:
        """Take documents of parsers whose version it does not keep out of generations that do not serve.

        They are made anew before such a generation serves.
        """
        with self._library.transaction() as connection:
            versions = connection.execute(
                "SELECT DISTINCT d.parser_version FROM generation_documents g JOIN documents d ON d.doc_id = g.doc_id"
            ).fetchall()
            stale = [version for version in versions if not keeps(version[0])]
            connection.executemany(_OF_PARSER, stale)

    def counts(self, generation: Generation) -> GenerationCounts:
        """Return how much of a generation is made."""
        serves = generation.state is GenerationState.SERVING
        source = _SERVED if serves else _BUILT.format(generation=int(generation.generation_id))
        model = generation.recipe.model.fingerprint() if generation.recipe and generation.recipe.model else None
        with self._library.view() as view:
            (total,) = view.execute(f"SELECT count(*) FROM ({_SERVED})").fetchone()
            documents, failed = view.execute(f"SELECT count(*), coalesce(sum(NOT whole), 0) FROM ({source})").fetchone()
            passages, distinct, vectors = view.execute(
                "SELECT count(*), count(DISTINCT c.text_hash), count(x.text_hash)"
                f" FROM ({source}) s CROSS JOIN chunks c ON c.doc_id = s.doc_id AND c.chunking_key = s.chunking_key"
                " LEFT JOIN vectors x ON x.text_hash = c.text_hash AND x.model_key ="
                " (SELECT model_key FROM embedding_models WHERE fingerprint = ?) WHERE c.role <> 'parent'",
                (model,),
            ).fetchone()
        return GenerationCounts(documents, total, passages, vectors, distinct, int(failed))

    def discard(self, generation: GenerationId) -> None:
        """Let go of a generation that does not serve: its documents, passages and vectors, unless others need them."""
        with self._library.transaction() as connection:
            let_go(connection, generation)
        self.sweep()

    def sweep(self) -> None:
        """Remove documents, passages and vectors that no version and no generation needs, some in each transaction."""
        SqlitePurge(self._library).sweep()
        with self._library.transaction() as connection:
            _forget_models(connection)


def let_go(connection: sqlite3.Connection, generation: int) -> None:
    """Mark a generation that does not serve discarded; what only it needs is for the next sweep."""
    connection.execute("DELETE FROM generation_documents WHERE generation_id = ?", (generation,))
    connection.execute(
        "UPDATE generations SET state = 'discarded' WHERE generation_id = ? AND state <> 'serving'", (generation,)
    )


def _forget_models(connection: sqlite3.Connection) -> None:
    """Drop the vectors of models that no kept generation names."""
    rows = connection.execute("SELECT recipe_json FROM generations WHERE state <> 'discarded'").fetchall()
    if any(recipe is None for (recipe,) in rows):
        return
    recipes = [Recipe.from_json(json.loads(text)) for (text,) in rows]
    kept = [recipe.model.fingerprint() for recipe in recipes if recipe.model is not None]
    marks = ",".join("?" * len(kept))
    stale = f"SELECT model_key FROM embedding_models WHERE fingerprint NOT IN ({marks})"
    connection.execute(
        f"DELETE FROM vectors WHERE model_key IN ({stale})"
        f" AND model_key NOT IN (SELECT DISTINCT model_key FROM embedding_records)",
        kept,
    )


def _generation(row: Sequence[Any]) -> Generation:
    number, state, fingerprint, recipe, created, ready, switched = row
    return Generation(
        generation_id=GenerationId(number),
        state=GenerationState(state),
        fingerprint=fingerprint,
        recipe=Recipe.from_json(json.loads(recipe)) if recipe else None,
        created_at=datetime.fromisoformat(created),
        ready_at=datetime.fromisoformat(ready) if ready else None,
        switched_at=datetime.fromisoformat(switched) if switched else None,
    )
