"""Asking an index for documents with their own words, and counting what it holds of them."""

from __future__ import annotations

from typing import Any

import tantivy

from kb.adapters.tantivy import query as queries
from kb.adapters.tantivy.ranking import among
from kb.domain.embeddings import ChunkKey
from kb.domain.versions import Probe, own_sentence


def why_missing(probe: Probe, searcher: Any, schema: Any, total: int) -> str | None:  # noqa: ANN401 - untyped library
    """Return why a document cannot be shown; None when it is whole and one of its sentences finds its passage.

    A passage without a word or letter that is searched for is only counted.
    """
    of_document = tantivy.Query.term_query(schema, "doc", probe.doc_id, "basic")
    found = searcher.search(of_document, 1, count=True).count
    if found != probe.entries:
        return f"the text index holds {found} of its {probe.entries} passages"
    plan = queries.plan(own_sentence(probe.text), searcher, schema, total)
    if not plan.lexical_terms + plan.cjk_terms:
        return None
    if plan.both is None:
        return "the text index has none of its words"
    must = tantivy.Occur.Must
    own = among(plan.both, [ChunkKey(probe.key)], schema)
    within = tantivy.Query.boolean_query([(must, own), (must, tantivy.Query.const_score_query(of_document, 0.0))])
    return None if searcher.search(within, 1, count=False).hits else "one of its own sentences does not find it"
