"""A question as a Tantivy query, made of our own terms: no parser, so no text can be a syntax error."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import tantivy

from kb.adapters.tantivy.analysis import RUN_ENDS, Kind, QueryTerms, in_order, query_terms
from kb.adapters.tantivy.schema import encodable
from kb.adapters.tantivy.scripts import stem, triples
from kb.adapters.tantivy.typos import likes_of
from kb.domain.globs import glob_pattern
from kb.domain.metadata import TrustLevel
from kb.domain.search import SearchFilters
from kb.domain.slips import may_be_misspelled

FIELDS: Mapping[Kind, str] = {
    "word": "words",
    "compound": "words",
    "stem": "stem",
    "triple": "gram",
    "pair": "cjk",
    "start": "cjk",
    "single": "cjk1",
}
_WEIGHTS: Mapping[Kind, float] = dict.fromkeys(FIELDS, 1.0) | {"triple": 0.7}
_CJK_KINDS = frozenset({"pair", "start", "single"})
# A text may lack these and still be the best answer, so they raise the ceiling only where the index has them.
_BONUS = frozenset({"compound", "start"})
_HEAD_WEIGHT = 0.3
_MOST_MISSPELLED = 4
_LIKE_WEIGHT, _LIKE_ALONE_WEIGHT = 0.05, 0.1
"""Of words like one that the index lacks: beside words it has, and where it has none."""
_EXACT_FLOOR, _LIKE_CEILING = 0.01, 0.005
"""What any hit by a word of the question has at least, and one by other words at most, where both are looked for."""
_SATURATION = 2.2
"""k1 + 1 of Tantivy's BM25 (k1 = 1.2): the most that repetition can multiply an idf by."""

_GLOB_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|.", re.DOTALL)
_GLOB_RUST = {"**/": "([^/]+/)*", "**": "(.|\n)*", "*": "[^/]*", "?": "[^/]"}
_HIGHEST_TRUST = max(level.rank for level in TrustLevel)


@dataclass(frozen=True, slots=True)
class Plan:
    """A question ready to run.

    Attributes:
        both: query of everything, None when the index has nothing of it.
        lexical: query of the words, None when the index has none of them, nor any like them.
        cjk: the same for the cjk channel.
        ceiling: best score a text could get; terms the index lacks count in full.
        seen: share of the ceiling that terms of the index make up, 0 to 1.
        familiar: share of the words and CJK letters that the index has, 0 to 1.
        similar: words the index lacks, each with those like it that are looked for instead.
    """

    both: Any
    lexical: Any
    cjk: Any
    ceiling: float
    seen: float
    familiar: float
    lexical_terms: int
    cjk_terms: int
    similar: tuple[tuple[str, tuple[str, ...]], ...] = ()


def plan(text: str, searcher: Any, schema: Any, total: int, *, tolerant: bool = False) -> Plan:  # noqa: ANN401
    """Return what to run for a question.

    Args:
        text: anything a person may type.
        searcher: counts in how many of `total` texts a term is.
        schema: of the index.
        total: texts in the index as its BM25 counts them.
        tolerant: words the index lacks also find those like them; that raises no other figure.
    """
    terms = query_terms(text)
    parts: dict[bool, list[tuple[Any, Any]]] = {True: [], False: []}
    seen = unseen = 0.0
    counts = {True: 0, False: 0}
    # Pairs are too rare to tell a language by; letters are not.
    known = [searcher.doc_freq("cjk1", letter) > 0 for letter in terms.letters]
    for kind, found in terms.by_kind:
        field, weight, is_cjk = FIELDS[kind], _WEIGHTS[kind], kind in _CJK_KINDS
        counts[is_cjk] += 0 if kind in {"stem", "start"} else len(found)
        for term in found:
            having = searcher.doc_freq(field, term)
            if kind == "word":
                known.append(having > 0)
            if having:
                seen += weight * _SATURATION * _idf(having, total)
                parts[is_cjk].append(_term(schema, field, term, weight))
            elif kind not in _BONUS:
                unseen += weight * _SATURATION * _idf(0, total)
    for is_cjk, found in ((False, terms.head_words), (True, terms.head_pairs)):
        for term in found:
            if searcher.doc_freq("head", term):
                parts[is_cjk].append(_term(schema, "head", term, _HEAD_WEIGHT))
    ceiling = seen + unseen
    lexical, cjk = _any_of(parts[False]), _any_of(parts[True])
    similar = _similar(terms, searcher) if tolerant else ()
    both = either(lexical, cjk)
    if similar:
        both, lexical = (_or_like(query, similar, searcher, schema, total) for query in (both, lexical))
    return Plan(
        both,
        lexical,
        cjk,
        ceiling,
        seen / ceiling if ceiling else 0.0,
        sum(known) / len(known) if known else 0.0,
        counts[False],
        counts[True],
        similar,
    )


def _similar(terms: QueryTerms, searcher: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:  # noqa: ANN401
    """Return the first few words that the index has nowhere, in no other form either, with those like them."""
    words = (word for kind, found in terms.by_kind if kind == "word" for word in found if may_be_misspelled(word))
    lacking = (word for word in words if not any(searcher.doc_freq(*form) for form in _forms(word)))
    likes = ((word, likes_of(word, searcher)) for word in islice(lacking, _MOST_MISSPELLED))
    return tuple((word, found) for word, found in likes if found)


def _forms(word: str) -> Iterator[tuple[str, str]]:
    """Yield the fields and terms by which a word is found: stems and letter triples forgive many a slip themselves."""
    yield from (("words", word), ("head", word))
    if short := stem(word):
        yield "stem", short
    yield from (("gram", triple) for triple in triples(word).split())


def _or_like(
    exact: Any,  # noqa: ANN401
    similar: Sequence[tuple[str, Sequence[str]]],
    searcher: Any,  # noqa: ANN401
    schema: Any,  # noqa: ANN401
    total: int,
) -> Any:  # noqa: ANN401
    """Add words like those that the index lacks: what only they find stays below all that `exact` finds.

    Where both are in a text, they raise its score a little. Everything is decided text by text, so that a text has the
    same score whatever else is found.
    """
    should, must, query = tantivy.Occur.Should, tantivy.Occur.Must, tantivy.Query
    best = [[_term(schema, "words", like, 1.0)[1] for like in likes] for _, likes in similar]
    like = query.boolean_query([(should, query.disjunction_max_query(terms)) for terms in best])
    if exact is None:
        return query.boost_query(like, _LIKE_ALONE_WEIGHT)
    most = sum(max(_idf(searcher.doc_freq("words", like), total) for like in likes) for _, likes in similar)
    beside = [(must, query.const_score_query(exact, 0.0)), (must, query.boost_query(like, _LIKE_WEIGHT))]
    return query.boolean_query(
        [
            (should, exact),
            (should, query.const_score_query(exact, _EXACT_FLOOR)),
            (should, query.boolean_query(beside)),
            (should, query.boost_query(like, _LIKE_CEILING / (_SATURATION * most))),
        ]
    )


def filtered(query: Any, conditions: Sequence[tuple[Any, Any]]) -> Any:  # noqa: ANN401
    """Return `query` among the chunks that meet `conditions`; scores stay the same."""
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), *conditions]) if conditions else query


def either(left: Any, right: Any) -> Any:  # noqa: ANN401
    """Return the query that adds up both; None when neither is one."""
    return _any_of([(tantivy.Occur.Should, query) for query in (left, right) if query is not None])


def conditions(filters: SearchFilters, searcher: Any, schema: Any) -> Sequence[tuple[Any, Any]]:  # noqa: ANN401
    """Return what chunks that meet `filters` must and must not match; what the index lacks is left out."""
    musts = [tantivy.Query.const_score_query(query, 0.0) for query in _conditions(filters, searcher, schema)]
    nots = [phrase(text, schema) for text in filters.excluded]
    return [*((tantivy.Occur.Must, query) for query in musts), *((tantivy.Occur.MustNot, query) for query in nots)]


def phrase(text: str, schema: Any) -> Any:  # noqa: ANN401
    """Match chunks in which the words and letters of `text` stand next to each other; nothing without any."""
    tokens = in_order(encodable(text))
    while tokens and tokens[-1] == RUN_ENDS:
        tokens.pop()
    if not tokens:
        return tantivy.Query.empty_query()
    if len(tokens) == 1:
        return tantivy.Query.term_query(schema, "order", tokens[0], "basic")
    return tantivy.Query.phrase_query(schema, "order", tokens)


def _conditions(filters: SearchFilters, searcher: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    yield from (phrase(text, schema) for text in filters.phrases)
    for field, values in (("tags", filters.tags_any), ("kinds", filters.source_types)):
        if values:
            yield _one_of(schema, field, [encodable(value) for value in values])
    if filters.lang is not None:
        yield tantivy.Query.term_query(schema, "lang", encodable(filters.lang), "basic")
    if filters.trust_min is not None:
        yield _one_of(schema, "trust", range(filters.trust_min.rank, _HIGHEST_TRUST + 1))
    if filters.path_glob is not None:
        yield _path_query(unicodedata.normalize("NFC", encodable(filters.path_glob)), searcher, schema)


def _path_query(glob: str, searcher: Any, schema: Any) -> Any:  # noqa: ANN401
    """Match paths as `glob_pattern` does: through a regular expression, or one by one where Rust's differ."""
    pattern = glob_pattern(glob)
    if "[" not in glob:
        try:
            return tantivy.Query.regex_query(schema, "path", _rust_pattern(glob))
        except ValueError:
            pass  # too large an automaton: the long way is exact too
    literal = re.split(r"[*?\[]", glob, maxsplit=1)[0]
    paths = [path for path, _ in searcher.terms_with_prefix("path", literal) if pattern.match(path)]
    return tantivy.Query.term_set_query(schema, "path", paths)


def _rust_pattern(glob: str) -> str:
    escaped = (
        _GLOB_RUST.get(token) or re.sub(r"([\\.+()|\[\]{}^$])", r"\\\1", token) for token in _GLOB_TOKEN.findall(glob)
    )
    return "".join(escaped)


def _one_of(schema: Any, field: str, values: Sequence[str] | Sequence[int]) -> Any:  # noqa: ANN401
    """Match any of a few exact values; a term set query scans the whole dictionary, which takes ten times as long."""
    exact = (tantivy.Query.term_query(schema, field, value, "basic") for value in values)
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in exact])


def _term(schema: Any, field: str, term: str, weight: float) -> tuple[Any, Any]:  # noqa: ANN401
    query = tantivy.Query.term_query(schema, field, term, "freq")
    return tantivy.Occur.Should, query if weight == 1.0 else tantivy.Query.boost_query(query, weight)


def _any_of(parts: list[tuple[Any, Any]]) -> Any:  # noqa: ANN401
    return tantivy.Query.boolean_query(parts) if parts else None


def _idf(having: int, total: int) -> float:
    """Return the idf of BM25 as Tantivy computes it (`bm25.rs`): ln(1 + (N - n + 0.5) / (n + 0.5))."""
    return math.log(1 + (total - having + 0.5) / (having + 0.5))
