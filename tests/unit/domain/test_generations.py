"""Recipes: what may stay as it is, what is added in place, and what waits for another generation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kb.domain.chunks import ChunkPolicy
from kb.domain.generations import Recipe, is_masked_now
from tests.builders import MODEL

POLICY = ChunkPolicy(max_tokens=480)
RECIPE = Recipe(POLICY, "structure-v1", {"pdf": "pdf-1+mupdf-1+no-ocr+mask-v1", "text": "text-1+mask-v1"}, MODEL, "e5")


def made(version: str, policy: ChunkPolicy = POLICY, chunker: str = "structure-v1") -> str:
    return f"{version}|{chunker}|{policy.hash()}"


@pytest.mark.parametrize(
    ("fingerprint", "stays"),
    [
        (made("text-1+mask-v1"), True),
        (made("text-0+mask-v1"), True),
        (made("text-1+mask-v1", chunker="structure-v0"), True),
        (made("text-1+mask-v1", ChunkPolicy(target_characters=800, max_tokens=480)), False),
        (made("pdf-1+mupdf-1+no-ocr+mask-v1"), False),
        ("unsupported-2:pdf", False),
    ],
    ids=["as it is", "an earlier parser", "an earlier chunker", "cut otherwise", "an engine has come", "unread"],
)
def test_what_another_parser_made_stays_and_what_lacked_an_engine_is_read_again(fingerprint: str, stays: bool) -> None:
    assert RECIPE.accepts(fingerprint, {"pdf": "pdf-2+mupdf-1+ocr-3+mask-v1", "text": "text-2+mask-v1"}) is stays


def test_what_still_lacks_its_engine_stays() -> None:
    assert RECIPE.accepts(made("pdf-1+mupdf-1+no-ocr+mask-v1"), {"pdf": "pdf-2+mupdf-1+no-ocr+mask-v1"})


def test_what_other_rules_masked_is_read_again_in_place_whatever_serves() -> None:
    now = {"pdf": "pdf-1+mupdf-1+no-ocr+mask-v2", "text": "text-1+mask-v2"}
    assert not RECIPE.accepts(made("text-1+mask-v1"), now)
    assert RECIPE.accepts(made("text-1+mask-v2"), now)
    assert RECIPE.joined(replace(RECIPE, parsers=now)).parsers == now


def test_what_a_document_lacks_says_nothing_of_how_it_was_masked() -> None:
    assert is_masked_now("pdf-0+mask-v1+lacking-0a1b", RECIPE.parsers)
    assert not is_masked_now("pdf-1+mask-v0+lacking-0a1b", RECIPE.parsers)


def test_first_vectors_and_new_kinds_of_files_come_in_place() -> None:
    bare = replace(RECIPE, model=None, policy=replace(POLICY, max_tokens=None))
    now = replace(RECIPE, parsers={**RECIPE.parsers, "pdf": "pdf-1+mupdf-1+ocr-3+mask-v1", "epub": "epub-1+mask-v1"})
    joined = bare.joined(now)
    assert joined == now
    assert joined.differences(now) == ()


def test_another_model_or_cut_waits_for_another_generation() -> None:
    other = replace(MODEL, version="2")
    policy = replace(POLICY, target_characters=800)
    now = Recipe(policy, "structure-v2", {"pdf": RECIPE.parsers["pdf"], "text": "text-2+mask-v1"}, other, "other")
    assert RECIPE.joined(now) == RECIPE
    assert RECIPE.differences(now) == (
        f"embedding model: {MODEL.id} ({MODEL.version}) serves, the settings name {MODEL.id} (2)",
        "chunking.target_characters: 1600 serves, the settings say 800",
        "chunker: structure-v1 serves, this version has structure-v2",
        "files are read otherwise by this version: text",
    )


def test_a_model_or_an_engine_that_is_away_changes_nothing() -> None:
    whole = replace(RECIPE, parsers={"pdf": "pdf-1+ocr-3+mask-v1"})
    assert whole.differences(replace(whole, parsers={"pdf": "pdf-1+no-ocr+mask-v1"}, model=None)) == ()


def test_a_recipe_is_kept_and_named_by_all_that_shapes_vectors_and_passages() -> None:
    assert Recipe.from_json(RECIPE.to_json()) == RECIPE
    models = [
        replace(MODEL, id="x"),
        replace(MODEL, version="x"),
        replace(MODEL, provider="x"),
        replace(MODEL, pooling="x"),
        replace(MODEL, query_prefix="x"),
        replace(MODEL, passage_prefix="x"),
        replace(MODEL, endpoint="x"),
    ]
    others = [
        replace(RECIPE, policy=replace(POLICY, overlap_characters=0)),
        replace(RECIPE, chunker="x"),
        replace(RECIPE, parsers={}),
        replace(RECIPE, model=None),
        *(replace(RECIPE, model=model) for model in models),
        replace(RECIPE, model=replace(MODEL, dimensions=7)),
    ]
    names = {RECIPE.fingerprint(), *(one.fingerprint() for one in others)}
    assert len(names) == len(others) + 1
    assert replace(RECIPE, model_name="elsewhere").fingerprint() == RECIPE.fingerprint()
