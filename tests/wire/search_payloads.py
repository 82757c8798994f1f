"""Examples of what `search` says beside its results."""

from __future__ import annotations

from kb.app.facade.naming import names_to_wire, parsed_to_wire
from kb.app.search_counts import counters_to_wire
from kb.app.wire.search import candidate_to_wire
from kb.contract.counters import SearchCounters
from kb.contract.names import Names, ParsedQuery
from kb.contract.why import ChannelPlace, Why
from kb.domain.counters import Counted
from kb.domain.names import NameHit, NameMatch
from kb.domain.recipes import ItemId
from kb.retrieval.query_syntax import parse
from kb.retrieval.results import Candidate
from kb.retrieval.values import ChannelScores


def why(chunk_id: str, path: str) -> Why:
    """A passage that fusion put behind those that are shown."""
    scores = ChannelScores(lexical_rank=9, lexical_score=4.1, vector_rank=14, vector_similarity=0.81)
    way = Candidate(chunk_id, path, scores, 11, 0.42, 0.42, None, None, None, "top_k")
    return Why(
        step="fusion",
        reason="it is number 11 after fusion, and the first 6 are shown",
        doc_path=path,
        chunk_id=chunk_id,
        rank=11,
        score=0.42,
        needed_rank=6,
        needed_score=0.57,
        channels=(ChannelPlace(channel="lexical", rank=9, score=4.1, of=31, limit=24),),
        candidate=candidate_to_wire(way),
    )


def search_counters() -> SearchCounters:
    """Two days with three searches, one of them degraded."""
    counted = (
        Counted("2026-03-02", "hybrid", "degraded", 1, 1.0, 1.0),
        Counted("2026-03-02", "hybrid", "searches", 2, 31.5, 20.25),
        Counted("2026-03-01", "lexical", "searches", 1, 4.5, 4.5),
    )
    return counters_to_wire(counted, 30)


def names(path: str) -> Names:
    """One file, found by how its name starts."""
    begin = path.rindex("/") + 1
    return names_to_wire([NameHit(ItemId("item"), path, NameMatch.START, ((begin, begin + 2),))])


def parsed_query() -> ParsedQuery:
    """A query with a phrase, a word left out, a filter and a problem."""
    return parsed_to_wire(parse('backup "at three" -draft tag:ops type:'))
