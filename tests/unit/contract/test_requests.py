"""Requests: ranges, strict types, unknown fields."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from kb.contract.answers import AskRequest
from kb.contract.base import Request
from kb.contract.chunks import ChunksRequest
from kb.contract.index import RebuildRequest
from kb.contract.items import ItemsRequest
from kb.contract.search import FindRequest
from kb.contract.viewer import ViewerOpenRequest


def accepts(model: type[Request], **fields: Any) -> bool:
    """Whether a request with these fields is accepted as JSON."""
    try:
        model.model_validate_json(json.dumps(fields))
    except ValidationError:
        return False
    return True


RANGES = [
    # field, lowest, highest, step
    ("top_k", 1, 20, 1),
    ("minimum_vector_similarity", 0.0, 1.0, 0.01),
    ("fts_weight", 0.0, 2.0, 0.01),
    ("vector_weight", 0.0, 2.0, 0.01),
    ("graph_weight", 0.0, 2.0, 0.01),
    ("candidate_multiplier", 2, 10, 1),
    ("context_max_characters", 2_000, 48_000, 1),
    ("adjacent_chunk_count", 0, 2, 1),
]


@pytest.mark.parametrize(("field", "low", "high", "step"), RANGES)
def test_the_ranges_are_those_of_the_prd(field: str, low: float, high: float, step: float) -> None:
    for value in (low, high):
        assert accepts(FindRequest, query="q", **{field: value})
        assert accepts(AskRequest, question="q", **{field: value})
    for value in (low - step, high + step):
        assert not accepts(FindRequest, query="q", **{field: value})
        assert not accepts(AskRequest, question="q", **{field: value})


def test_a_query_has_1_to_4000_characters_and_not_only_blanks() -> None:
    assert accepts(FindRequest, query="字" * 4_000)
    assert not accepts(FindRequest, query="字" * 4_001)
    assert not accepts(FindRequest, query="")
    assert not accepts(FindRequest, query=" \n\t")
    assert not accepts(AskRequest, question="q" * 4_001)
    assert not accepts(AskRequest, question="  ")


def test_what_is_left_out_is_left_to_the_configuration() -> None:
    request = FindRequest.model_validate_json('{"query": "q"}')
    assert request.mode == "hybrid"
    assert request.model_dump(exclude_unset=True) == {"query": "q"}
    assert AskRequest(question="q").retrieval_mode == "always"


def test_an_unknown_field_is_refused_because_it_may_be_a_misspelt_one() -> None:
    assert not accepts(FindRequest, query="q", topK=3)
    assert not accepts(FindRequest, query="q", filters={"tag": ["a"]})


@pytest.mark.parametrize("value", ["6", True, 6.0, [6], {}])
def test_a_number_of_another_type_is_refused(value: object) -> None:
    assert not accepts(FindRequest, query="q", top_k=value)


def test_filters_take_every_condition_of_the_contract() -> None:
    filters = {"tags_any": ["a"], "lang": "ko", "path_glob": "notes/**", "trust_min": "primary", "types": ["note"]}
    assert accepts(FindRequest, query="q", filters=filters)
    assert not accepts(FindRequest, query="q", filters={"trust_min": "absolute"})


def test_at_least_one_weight_is_above_zero() -> None:
    assert not accepts(FindRequest, query="q", fts_weight=0, vector_weight=0, graph_weight=0)
    assert accepts(FindRequest, query="q", fts_weight=0, vector_weight=0.1, graph_weight=0)


def test_pages_are_bounded() -> None:
    assert accepts(ItemsRequest, limit=500)
    assert not accepts(ItemsRequest, limit=501)
    assert accepts(ChunksRequest, doc="a.md", limit=200)
    assert not accepts(ChunksRequest, doc="a.md", limit=201)


def test_a_viewer_opens_a_citation_or_a_chunk_and_not_both() -> None:
    assert accepts(ViewerOpenRequest, citation="a.md#L1")
    assert accepts(ViewerOpenRequest, chunk_id="c", quote="words")
    assert not accepts(ViewerOpenRequest)
    assert not accepts(ViewerOpenRequest, citation="a.md#L1", chunk_id="c")


def test_a_rebuild_of_nothing_is_refused() -> None:
    assert not accepts(RebuildRequest, text=False, vectors=False)
