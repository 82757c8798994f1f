"""What a search says of its steps: links, reranking, filters, stopping, each candidate's way; the same bytes always."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from kb.app.wire.search import result_to_wire
from kb.domain.embeddings import ChunkKey, Vector
from kb.domain.failures import Cancelled, ModelUnavailable
from kb.domain.search import SearchFilters, SearchMode
from kb.retrieval.ports import GraphReply
from kb.retrieval.query_cache import RememberingEmbedder
from kb.retrieval.results import SearchResult
from kb.retrieval.retriever import Retriever, VectorSide
from kb.retrieval.values import RetrievalSettings, SearchQuery
from kb.retrieval.vector_channel import VectorChannel
from tests.unit.retrieval.corpus import Bench, LetterEmbedder, a_bench, letters

TEXTS = ("the anchor weighs much", "battery voltage drops", "chain and shackle", "anchor chain rust", "wave height")


@dataclass
class Links:
    """Gives the same passages whatever the seeds are."""

    found: tuple[tuple[ChunkKey, float], ...] = ()
    asked: list[tuple[list[int], Sequence[ChunkKey] | None]] = field(default_factory=list)

    def related(self, seeds: Sequence[ChunkKey], limit: int, allowed: Sequence[ChunkKey] | None) -> GraphReply:
        self.asked.append(([int(key) for key in seeds], allowed))
        return GraphReply(self.found[:limit], len(self.found))


@dataclass
class Model:
    """Likes long texts; `broken` makes it fail."""

    broken: bool = False
    name: str = "length"

    def scores(self, question: str, texts: Sequence[str], timeout_s: float) -> Sequence[float]:
        if self.broken:
            raise ModelUnavailable("the rerank model did not answer in time")
        return [len(text) / 100 for text in texts]


def with_parts(bench: Bench, graph: Links | None = None, model: Model | None = None) -> Retriever:
    side = VectorSide(bench.embedder, VectorChannel(bench.scan, bench.chroma, "auto"), bench.scan, bench.gate)
    return Retriever(
        bench.gate,
        bench.text,
        side,
        clock_ms=lambda: 0.0,
        new_trace_id=lambda: "ret_1",
        graph=graph,
        reranker=model,
    )


def asked(text: str, mode: SearchMode = SearchMode.HYBRID, **settings: object) -> SearchQuery:
    return SearchQuery(text, mode, settings=RetrievalSettings(**settings))  # type: ignore[arg-type]


def paths(result: SearchResult) -> list[str]:
    return [hit.stored.path for hit in result.hits]


def reasons(result: SearchResult) -> list[str]:
    return [lost.reason for lost in result.diagnostics.degraded]


def test_what_is_linked_is_found_scored_and_said() -> None:
    links = Links(((ChunkKey(4), 0.5),))
    retriever = with_parts(a_bench(*TEXTS), links)
    result = retriever.search(asked("battery voltage", vector_weight=0.0, fts_weight=1.0))
    linked = next(hit for hit in result.hits if hit.stored.path == "4.md")
    assert (linked.scores.graph_rank, linked.scores.graph_score) == (1, 0.5)
    assert result.diagnostics.used_channels[-1] == "graph"
    assert result.diagnostics.candidate_counts["graph"] == 1
    assert links.asked == [([1], None)]


def test_a_link_moves_the_order_and_never_the_relevance() -> None:
    bench = a_bench("anchor one", "anchor one")
    plain = with_parts(bench).search(asked("anchor"))
    linked = with_parts(bench, Links(((ChunkKey(1), 1.0),))).search(asked("anchor"))
    assert (paths(plain), paths(linked)) == (["0.md", "1.md"], ["1.md", "0.md"])
    assert {hit.relevance for hit in plain.hits} == {hit.relevance for hit in linked.hits}


def test_links_that_are_off_are_said_only_when_they_were_asked_for() -> None:
    retriever = with_parts(a_bench(*TEXTS))
    assert reasons(retriever.search(asked("anchor"))) == []
    assert reasons(retriever.search(replace(asked("anchor"), asks_graph=True))) == ["graph_off"]


def test_links_that_lead_nowhere_are_said() -> None:
    assert reasons(with_parts(a_bench(*TEXTS), Links()).search(asked("anchor"))) == ["graph_no_evidence"]


@pytest.mark.parametrize("fusion", ["score", "rrf"])
def test_a_graph_without_links_changes_no_byte_of_the_hits(fusion: str) -> None:
    bench = a_bench(*TEXTS * 4)
    query = asked("anchor chain", fusion=fusion, top_k=12)
    assert with_parts(bench, Links()).search(query).hits == with_parts(bench).search(query).hits


def test_filters_reach_words_vectors_and_links() -> None:
    links = Links()
    query = replace(asked("anchor chain"), filters=SearchFilters(path_glob="3.md"))
    result = with_parts(a_bench(*TEXTS), links).search(query)
    assert paths(result) == ["3.md"]
    assert links.asked[0][1] == [3]


def test_phrases_and_excluded_words_count_for_vectors_too() -> None:
    retriever = with_parts(a_bench(*TEXTS))
    phrase = replace(asked("anchor", SearchMode.VECTOR), filters=SearchFilters(phrases=("anchor chain",)))
    assert paths(retriever.search(phrase)) == ["3.md"]
    excluded = replace(asked("anchor"), filters=SearchFilters(excluded=("anchor",)))
    assert not {"0.md", "3.md"} & set(paths(retriever.search(excluded)))


def test_without_a_text_index_a_phrase_shows_nothing_rather_than_what_may_not_hold_it() -> None:
    bench = a_bench(*TEXTS)
    bench.text.unavailable = True
    result = with_parts(bench).search(replace(asked("anchor"), filters=SearchFilters(phrases=("anchor",))))
    assert result.hits == ()
    assert "lexical_unavailable" in reasons(result)


@pytest.mark.parametrize(("model", "said"), [(None, []), (Model(broken=True), ["rerank_failed"])])
def test_a_rerank_that_is_off_or_fails_leaves_the_fused_order(model: Model | None, said: list[str]) -> None:
    bench = a_bench(*TEXTS * 3)
    plain = with_parts(bench).search(asked("anchor chain"))
    result = with_parts(bench, model=model).search(asked("anchor chain", rerank="model" if model else "off"))
    assert result.hits == plain.hits
    assert reasons(result) == said


def test_a_model_that_was_not_chosen_is_said() -> None:
    assert reasons(with_parts(a_bench(*TEXTS)).search(asked("anchor", rerank="model"))) == ["rerank_failed"]


def test_a_model_orders_the_candidates_and_the_relevance_stays() -> None:
    bench = a_bench(*TEXTS)
    plain = {hit.stored.key: hit.relevance for hit in with_parts(bench).search(asked("anchor")).hits}
    result = with_parts(bench, model=Model()).search(asked("anchor", rerank="model"))
    lengths = [len(hit.stored.chunk.text) for hit in result.hits]
    assert lengths == sorted(lengths, reverse=True)
    assert {hit.stored.key: hit.relevance for hit in result.hits} == plain
    assert result.diagnostics.rerank == "length"


def test_every_candidate_has_a_way_and_a_reason_when_it_is_not_shown() -> None:
    result = with_parts(a_bench(*TEXTS * 4)).search(
        asked("anchor chain", top_k=3, minimum_vector_similarity=0.6, context_max_characters=2_000)
    )
    ways = result.diagnostics.candidates
    assert [one.fused_rank for one in ways] == list(range(1, len(ways) + 1))
    assert [one.rank for one in ways if one.removed_by is None] == [1, 2, 3]
    below = sum(one.removed_by == "threshold" for one in ways)
    assert below == result.diagnostics.removed_by_threshold
    steps = {one.name: (one.before, one.after) for one in result.diagnostics.stages}
    assert steps["threshold"] == (len(ways), len(ways) - below)
    assert steps["top_k"][1] == 3


def test_a_search_that_nobody_waits_for_ends() -> None:
    with pytest.raises(Cancelled):
        with_parts(a_bench(*TEXTS)).search(asked("anchor"), should_stop=lambda: True)


@pytest.mark.parametrize("rerank", ["off", "local"])
def test_the_same_question_gives_the_same_bytes_a_thousand_times(rerank: str) -> None:
    # Ties included: each text is there three times.
    retriever = with_parts(a_bench(*TEXTS * 3), Links(((ChunkKey(4), 0.5), (ChunkKey(9), 0.5))))
    query = asked("anchor chain", top_k=12, rerank=rerank)
    seen = {result_to_wire(retriever.search(query), explain=True).model_dump_json() for _ in range(1000)}
    assert len(seen) == 1


def test_a_question_is_embedded_once_a_model() -> None:
    @dataclass
    class Counting(LetterEmbedder):
        questions: list[str] = field(default_factory=list)

        def embed_query(self, text: str) -> Vector:
            self.questions.append(text)
            return letters(text)

    counting = Counting()
    embedder = RememberingEmbedder(counting, most=2)
    for text in ("a", "a", "b", "a", "c", "a", "b"):
        embedder.embed_query(text)
    assert counting.questions == ["a", "b", "c", "b"]


def test_where_a_passage_stands_is_said_without_any_limit() -> None:
    bench = a_bench(*(f"anchor {number}" for number in range(200)))
    places = with_parts(bench).places(asked("anchor", top_k=1), {ChunkKey(150): "id"})
    assert [(place.channel, place.of, place.limit) for place in places] == [("lexical", 200, 4), ("vector", 200, 4)]
    assert places[0].rank == 151
