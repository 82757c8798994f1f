"""The whole search over fakes: channels, gate, degradation, order."""

from __future__ import annotations

import pytest

from kb.domain.failures import ModelUnavailable
from kb.domain.search import SearchFilters, SearchMode
from kb.retrieval.results import SearchResult
from kb.retrieval.values import RetrievalSettings, SearchQuery
from tests.unit.retrieval.corpus import Bench, a_bench

TEXTS = ("the anchor weighs much", "battery voltage drops", "chain and shackle", "anchor chain rust", "wave height")


def search(bench: Bench, text: str, mode: str = "hybrid", **settings: object) -> SearchResult:
    query = SearchQuery(text, SearchMode(mode), settings=RetrievalSettings(**settings))  # type: ignore[arg-type]
    return bench.retriever.search(query)


def paths(result: SearchResult) -> list[str]:
    return [hit.stored.path for hit in result.hits]


def reasons(result: SearchResult) -> list[str]:
    return [lost.reason for lost in result.diagnostics.degraded]


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
def test_the_passage_with_the_words_comes_first(mode: str) -> None:
    result = search(a_bench(*TEXTS), "battery voltage drops", mode)
    assert paths(result)[0] == "1.md"
    assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))
    assert reasons(result) == []


def test_the_same_question_gives_the_same_order_a_thousand_times() -> None:
    bench = a_bench(*TEXTS * 3)
    orders = {tuple(paths(search(bench, "anchor chain", top_k=12))) for _ in range(1000)}
    assert len(orders) == 1


def test_equal_scores_are_ordered_by_path() -> None:
    assert paths(search(a_bench("same words", "same words", "same words"), "same words")) == ["0.md", "1.md", "2.md"]


def test_what_the_gate_hides_is_not_seen_and_counted() -> None:
    bench = a_bench(*TEXTS)
    bench.gate.hidden = {1}
    result = search(bench, "battery voltage drops")
    assert "1.md" not in paths(result)
    assert result.diagnostics.removed_by_gate == 1


def test_hidden_candidates_do_not_crowd_out_visible_ones() -> None:
    bench = a_bench(*["anchor"] * 40, "anchor at last")
    bench.gate.hidden = set(range(40))
    assert paths(search(bench, "anchor", "lexical", top_k=1, candidate_multiplier=2)) == ["40.md"]


def test_without_a_model_words_still_find_and_it_is_said() -> None:
    result = search(a_bench(*TEXTS, with_model=False), "battery voltage")
    assert paths(result)[0] == "1.md"
    assert reasons(result) == ["no_embedding_model"]


def test_a_model_that_fails_costs_the_vector_channel_only() -> None:
    bench = a_bench(*TEXTS)
    bench.embedder.broken = ModelUnavailable("the model cannot be loaded")
    result = search(bench, "battery voltage")
    assert paths(result)[0] == "1.md"
    assert reasons(result) == ["query_embedding_failed"]
    assert "vector" not in result.diagnostics.used_channels


def test_without_a_text_index_meaning_still_finds_and_it_is_said() -> None:
    bench = a_bench(*TEXTS)
    bench.text.unavailable = True
    result = search(bench, "battery voltage drops")
    assert paths(result)[0] == "1.md"
    assert reasons(result) == ["lexical_unavailable"]


def test_a_broken_chroma_is_replaced_by_the_scan_and_it_is_said() -> None:
    bench = a_bench(*TEXTS)
    bench.chroma.ready = lambda model, position: True  # type: ignore[method-assign]
    bench.chroma.unavailable = True
    result = search(bench, "battery voltage drops")
    assert result.diagnostics.vector_engine == "scan"
    assert reasons(result) == ["vector_engine_fallback"]


def test_a_chroma_that_is_not_ready_yet_is_no_degradation_unless_it_was_forced() -> None:
    for engine, expected in (("auto", []), ("chroma", ["vector_engine_fallback"])):
        bench = a_bench(*TEXTS, engine=engine)
        bench.chroma.unavailable = True
        assert reasons(search(bench, "battery")) == expected


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_an_exact_index_that_cannot_be_read_costs_exactness_and_not_the_order(mode: str) -> None:
    bench = a_bench(*TEXTS)
    bench.scan.unavailable = True
    result = search(bench, "wave height", mode)
    assert result.diagnostics.vector_engine == "chroma"
    assert paths(result)[0] == "4.md"
    assert len({hit.relevance for hit in result.hits}) > 1
    assert reasons(result) == ["rough_relevance"]


def test_filters_go_to_the_exact_scan() -> None:
    bench = a_bench(*TEXTS)
    query = SearchQuery("anchor chain", SearchMode.VECTOR, SearchFilters(path_glob="2.md"))
    result = bench.retriever.search(query)
    assert paths(result) == ["2.md"]
    assert result.diagnostics.vector_engine == "scan"
    assert result.diagnostics.vectors_scanned == 1


def test_missing_vectors_are_said_with_their_number() -> None:
    bench = a_bench(*TEXTS)
    bench.gate.vectors = 3
    result = search(bench, "battery")
    assert reasons(result) == ["partial_vectors"]
    assert result.diagnostics.degraded[0].detail == "3 of 5 passages have vectors"


def test_a_threshold_drops_only_what_the_words_did_not_find() -> None:
    result = search(a_bench(*TEXTS), "battery", minimum_vector_similarity=1.0)
    assert paths(result) == ["1.md"]
    assert "below_threshold" in reasons(result)


@pytest.mark.parametrize(("weight", "used"), [("fts_weight", {"vector"}), ("vector_weight", {"lexical"})])
def test_a_weight_of_zero_switches_a_channel_off(weight: str, used: set[str]) -> None:
    settings: dict[str, object] = {weight: 0.0}
    result = search(a_bench(*TEXTS), "battery voltage", "hybrid", **settings)
    assert set(result.diagnostics.used_channels) == used
    assert set(result.diagnostics.requested_channels) - {"cjk"} == used


def test_an_empty_library_gives_no_hits_and_no_error() -> None:
    result = search(a_bench(), "anything")
    assert result.hits == ()
    assert result.passages_searched == 0


def test_rrf_orders_by_reciprocal_ranks() -> None:
    result = search(a_bench(*TEXTS), "anchor chain", fusion="rrf", rrf_k=60)
    assert result.diagnostics.fusion == "rrf"
    assert result.hits[0].score == pytest.approx(2 / 61, abs=1e-6)
    assert paths(result)[0] == "3.md"
