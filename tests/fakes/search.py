"""Text and vector indexes in plain dictionaries: they behave as the ports promise, and nothing more."""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.failures import Cancelled, StorageFailed
from kb.domain.globs import glob_pattern
from kb.domain.index import TextChanges, TextEntry, TextSnapshot, VectorChanges, VectorSnapshot
from kb.domain.search import SearchFilters
from kb.domain.text import CJK, fold
from kb.retrieval.ports import TextCandidate, TextReply, VectorReply

_WORD = re.compile(rf"[^\W_{CJK}]+")
_RUN = re.compile(f"[{CJK}]+")


@dataclass
class FakeVectors:
    """Both sides of a vector index."""

    name: str = "scan"
    unavailable: bool = False
    _held: dict[str, tuple[int, dict[ChunkKey, Vector]]] = field(default_factory=dict)

    def position(self, model: EmbeddingModel) -> int | None:
        held = self._held.get(model.fingerprint())
        return None if held is None or self.unavailable else held[0]

    def ready(self, model: EmbeddingModel, position: int) -> bool:
        held = self.position(model)
        return held is not None and held >= position

    def apply(self, model: EmbeddingModel, changes: VectorChanges) -> None:
        position, rows = self._need(model)
        if changes.position <= position:
            return
        removed = set(changes.remove)
        kept = {key: vector for key, vector in rows.items() if key not in removed}
        kept.update((row.key, row.vector) for row in changes.add)
        self._held[model.fingerprint()] = changes.position, kept

    def rebuild(self, model: EmbeddingModel, snapshot: VectorSnapshot) -> int:
        rows = {row.key: row.vector for row in snapshot.rows}
        self._held[model.fingerprint()] = snapshot.position, rows
        return len(rows)

    def search(
        self,
        model: EmbeddingModel,
        query: Vector,
        limit: int,
        allowed: Sequence[ChunkKey] | None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> VectorReply:
        rows = self._need(model)[1]
        if should_stop():
            raise Cancelled("the search was stopped")
        chosen = rows if allowed is None else [key for key in allowed if key in rows]
        scored = sorted((-_cosine(query, rows[key]), key) for key in chosen)
        return VectorReply(tuple((key, -score) for score, key in scored[:limit]), len(chosen))

    def similarities(self, model: EmbeddingModel, query: Vector, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, float]:
        rows = self._need(model)[1]
        return {key: _cosine(query, rows[key]) for key in keys if key in rows}

    def background(self, model: EmbeddingModel, query: Vector, sample: Sequence[ChunkKey]) -> Sequence[float]:
        rows = self._need(model)[1]
        return [_cosine(query, rows[key]) for key in sample if key in rows]

    def _need(self, model: EmbeddingModel) -> tuple[int, dict[ChunkKey, Vector]]:
        held = self._held.get(model.fingerprint())
        if held is None or self.unavailable:
            raise StorageFailed("the vector index is missing")
        return held


@dataclass
class FakeText:
    """Both sides of a text index: BM25 without length normalisation over words and bigrams."""

    unavailable: bool = False
    _held: tuple[int, dict[ChunkKey, TextEntry]] | None = None

    def position(self) -> int | None:
        return None if self._held is None or self.unavailable else self._held[0]

    def apply(self, changes: TextChanges) -> None:
        entries = self._need()
        if self._held is not None and changes.position <= self._held[0]:
            return
        removed = set(changes.remove)
        kept = {key: entry for key, entry in entries.items() if entry.doc_id not in removed}
        kept.update((entry.key, entry) for entry in changes.add)
        self._held = changes.position, kept

    def rebuild(self, snapshot: TextSnapshot) -> int:
        entries = {entry.key: entry for entry in snapshot.entries}
        self._held = snapshot.position, entries
        return len(entries)

    def search(
        self, text: str, filters: SearchFilters, limit: int, allowed: Sequence[ChunkKey] | None = None
    ) -> TextReply:
        entries = self._need()
        words, grams = set(_words(text)), set(_grams(text))
        counts = {key: Counter((*_terms(entry.text), *_terms(entry.heading))) for key, entry in entries.items()}
        idf = {term: _idf(sum(term in count for count in counts.values()), len(counts)) for term in words | grams}
        found = []
        for key, entry in entries.items():
            if not _passes(entry, filters) or (allowed is not None and key not in allowed):
                continue
            lexical, cjk = (sum(idf[t] * _weight(counts[key][t]) for t in terms) for terms in (words, grams))
            if lexical + cjk > 0:
                found.append((lexical + cjk, key, lexical, cjk))
        found.sort(key=lambda row: (-row[0], row[1]))
        lexical_ranks = _ranks([(row[2], row[1]) for row in found])
        cjk_ranks = _ranks([(row[3], row[1]) for row in found])
        candidates = tuple(
            TextCandidate(key, score, lexical_ranks.get(key), lexical or None, cjk_ranks.get(key), cjk or None)
            for score, key, lexical, cjk in found[:limit]
        )
        ceiling = 2.2 * sum(idf.values())
        seen = 2.2 * sum(idf[term] for term in idf if any(term in count for count in counts.values()))
        held = {term for count in counts.values() for term in count}
        letters = {letter for term in held if _RUN.match(term) for letter in term}
        known = [word in held for word in words] + [letter in letters for letter in set("".join(grams))]
        familiar = sum(known) / len(known) if known else 0.0
        return TextReply(candidates, ceiling, len(words), len(grams), seen / ceiling if ceiling else 0.0, familiar)

    def scores(self, text: str, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, float]:
        found = self.search(text, SearchFilters(), len(self._need())).candidates
        return {candidate.key: candidate.score for candidate in found if candidate.key in set(keys)}

    def holding(self, phrase: str) -> Sequence[ChunkKey]:
        return sorted(key for key, entry in self._need().items() if _stands_in(phrase, entry.text))

    def _need(self) -> dict[ChunkKey, TextEntry]:
        if self._held is None or self.unavailable:
            raise StorageFailed("the text index is missing")
        return self._held[1]


def _cosine(query: Vector, vector: Vector) -> float:
    numbers = zip(_floats(query), _floats(vector), strict=True)
    return round(sum(a * b for a, b in numbers), 9)


def _floats(vector: Vector) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def _terms(text: str) -> Iterator[str]:
    yield from _words(text)
    yield from _grams(text)


def _words(text: str) -> list[str]:
    return _WORD.findall(fold(text))


def _grams(text: str) -> Iterator[str]:
    for run in _RUN.findall(fold(text)):
        yield from (run[i : i + 2] for i in range(len(run) - 1)) if len(run) > 1 else run


def _stands_in(phrase: str, text: str) -> bool:
    wanted, tokens = _in_order(phrase), _in_order(text)
    while wanted and wanted[-1] == "/":
        wanted.pop()
    return bool(wanted) and any(tokens[at : at + len(wanted)] == wanted for at in range(len(tokens)))


def _in_order(text: str) -> list[str]:
    """Words, and letters of CJK runs with a mark behind each run."""
    found: list[str] = []
    for token in re.findall(rf"{_RUN.pattern}|{_WORD.pattern}", fold(text)):
        found += [*token, "/"] if _RUN.match(token) else [token]
    return found


def _idf(having: int, total: int) -> float:
    return math.log(1 + (total - having + 0.5) / (having + 0.5))


def _weight(count: int) -> float:
    return count * 2.2 / (count + 1.2)


def _ranks(rows: list[tuple[float, ChunkKey]]) -> dict[ChunkKey, int]:
    found = sorted((-score, key) for score, key in rows if score > 0)
    return {key: rank for rank, (_, key) in enumerate(found, 1)}


def _passes(entry: TextEntry, filters: SearchFilters) -> bool:
    return (
        (not filters.tags_any or bool(set(filters.tags_any) & set(entry.tags)))
        and (filters.lang is None or entry.lang == filters.lang or entry.lang.startswith(f"{filters.lang}-"))
        and (filters.path_glob is None or glob_pattern(filters.path_glob).match(entry.path) is not None)
        and (filters.trust_min is None or entry.trust_rank >= filters.trust_min.rank)
        and (not filters.source_types or bool(set(filters.source_types) & set(entry.kinds)))
        and all(_stands_in(phrase, entry.text) for phrase in filters.phrases)
        and not any(_stands_in(phrase, entry.text) for phrase in filters.excluded)
    )
