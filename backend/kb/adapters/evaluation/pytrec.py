"""Measures of rankings by pytrec_eval, which is trec_eval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.evaluation.ports import Ranking

_NAMES = {
    "recall_1": "recall@1",
    "recall_3": "recall@3",
    "recall_5": "recall@5",
    "recall_10": "recall@10",
    "recip_rank": "mrr",
    "ndcg_cut_10": "ndcg@10",
}


class PytrecMeasures:
    """Wraps pytrec_eval."""

    def measure(self, rankings: Sequence[Ranking]) -> Mapping[str, Mapping[str, float]]:
        """Return the measures per question; what was not found counts as missing, not as left out."""
        import pytrec_eval

        judged = {one.query_id: dict.fromkeys(one.right, 1) for one in rankings}
        # Falling scores keep the order: trec_eval sorts by score, and equals by name.
        found = {
            one.query_id: {name: float(len(one.names) - place) for place, name in enumerate(one.names)}
            for one in rankings
        }
        evaluator = pytrec_eval.RelevanceEvaluator(judged, {"recall.1,3,5,10", "recip_rank", "ndcg_cut.10"})
        measured = evaluator.evaluate(found)
        return {
            query_id: {_NAMES[name]: float(value) for name, value in figures.items()}
            for query_id, figures in measured.items()
        }
