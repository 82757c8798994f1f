"""Search in process against the same done by hand: the query, the index, one read of the library."""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from tests.bench import material
from tests.bench.measure import Row, alternate, cpu_of_all

_SETS = ("xquad-en", "xquad-zh", "korquad")
_PASSAGES = 240
_LEXICAL, _HYBRID = 300, 150
_CHROMA_S = 20.0
_TOP_K, _CANDIDATES = 6, 24
_FIELDS = {"word": "words", "compound": "words", "stem": "stem", "triple": "gram", "single": "cjk1"} | dict.fromkeys(
    ("pair", "start"), "cjk"
)
_READ = "SELECT chunk_key, text, chunk_id FROM chunks WHERE chunk_key IN ({})"


def keywords(scratch: Path, rounds: int) -> list[Row]:
    """Compare `search.find` in keyword mode with Tantivy and one SQLite read by hand."""
    passages, questions = _material(_LEXICAL)
    workspace = scratch / "passages"
    material.write_passages(workspace, passages)
    with material.opened(scratch / "home-keywords", workspace, vectors=False) as parts:
        material.ingest(parts)
        find = _finder(parts, "lexical")
        by_hand = _ByHand(parts)
        pair = alternate(
            lambda: [find(question) for question in questions],
            lambda: [by_hand.keywords(question) for question in questions],
            rounds=rounds,
        )
        by_hand.close()
    note = f"{len(questions)} questions, {len(passages)} passages"
    return [pair.row("search", "keyword query ÷ Tantivy + one SQLite read, CPU", 3.0, per=len(questions), note=note)]


def hybrid(scratch: Path, rounds: int) -> list[Row]:
    """Compare `search.find` in hybrid mode with embedding, Tantivy, vectors and SQLite by hand."""
    passages, questions = _material(_HYBRID)
    workspace = scratch / "passages-vectors"
    # Enough neighbours for every channel to have its candidates; embedding all would take longer than the measurement.
    material.write_passages(workspace, passages[::3])
    with material.opened(scratch / "home-hybrid", workspace, vectors=True) as parts:
        if parts.embedder is None:
            return [Row("search", "hybrid query: not measured, no embedding model is installed", 0.0, unit="")]
        material.ingest(parts)
        find = _finder(parts, "hybrid")
        engine = _warm(find, questions)
        by_hand = _ByHand(parts, scratch / "chroma")
        pair = alternate(
            lambda: [find(question) for question in questions],
            lambda: [by_hand.hybrid(question) for question in questions],
            rounds=rounds,
            clock=cpu_of_all,
        )
        by_hand.close()
    note = f"{len(questions)} questions, {len(passages[::3])} passages, vectors by {engine}, Chroma by hand in process"
    return [pair.row("search", "hybrid query ÷ its parts by hand, CPU", 1.3, per=len(questions), note=note)]


def _warm(find: Callable[[str], Any], questions: Sequence[str]) -> str:
    """Search until Chroma's process is up, some seconds at most; return the engine that answers."""
    end = time.monotonic() + _CHROMA_S
    while (engine := str(find(questions[0]).diagnostics.vector_engine)) != "chroma" and time.monotonic() < end:
        time.sleep(0.2)
    return engine


class _ByHand:
    """What a program written for this one query would do."""

    def __init__(self, parts: Any, chroma: Path | None = None) -> None:
        import tantivy

        from kb.adapters.tantivy.schema import prepare, schema

        data = parts.configuration.data_dir
        self._schema = schema()
        self._index = tantivy.Index(self._schema, path=str(data / "tantivy"))
        prepare(self._index)
        self._index.reload()
        self._searcher = self._index.searcher()
        self._store = sqlite3.connect(data / "kb.sqlite")
        self._embedder = parts.embedder
        self._collection: Any = self._made_collection(chroma) if chroma else None

    def close(self) -> None:
        self._store.close()

    def keywords(self, question: str) -> list[Any]:
        return self._rows(self._best(question)[:_TOP_K])

    def hybrid(self, question: str) -> list[Any]:
        import numpy as np

        vector = np.frombuffer(self._embedder.embed_query(question), dtype="<f4")
        nearest = self._collection.query(query_embeddings=[vector], n_results=_CANDIDATES, include=["distances"])
        return self._rows(list(dict.fromkeys([*self._best(question), *map(int, nearest["ids"][0])])))

    def _best(self, question: str) -> list[int]:
        """Return the keys of the best chunks for the same terms in one flat OR query."""
        import tantivy

        from kb.adapters.tantivy.analysis import query_terms

        should, query, terms = tantivy.Occur.Should, tantivy.Query, query_terms(question)
        fields = [(_FIELDS[kind], term) for kind, found in terms.by_kind for term in found]
        fields += [("head", term) for term in (*terms.head_words, *terms.head_pairs)]
        parts = [(should, query.term_query(self._schema, field, term, "freq")) for field, term in fields]
        hits = self._searcher.search(query.boolean_query(parts), _CANDIDATES, count=False).hits
        return [int(key) for key in self._searcher.fast_field_values("key", [address for _, address in hits])]

    def _rows(self, keys: Sequence[int]) -> list[Any]:
        return self._store.execute(_READ.format(",".join("?" * len(keys))), keys).fetchall()

    def _made_collection(self, folder: Path) -> Any:
        """Put the vectors of the library into a collection with the settings of ours."""
        import chromadb
        import numpy as np
        from chromadb.config import Settings

        sql = (
            "SELECT r.chunk_key, v.vector FROM embedding_records r"
            " JOIN vectors v ON v.text_hash = r.text_hash AND v.model_key = r.model_key"
        )
        rows = self._store.execute(sql).fetchall()
        client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
        hnsw = {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 16}
        made = client.create_collection("by-hand", embedding_function=None, configuration=cast("Any", {"hnsw": hnsw}))
        vectors = [np.frombuffer(blob, dtype="<f2").astype("<f4") for _, blob in rows]
        made.add(ids=[str(key) for key, _ in rows], embeddings=vectors)
        return made


def _finder(parts: Any, mode: str) -> Callable[[str], Any]:
    from kb.app.facade.search import Search
    from kb.app.facade.why import WhyNot
    from kb.contract.search import FindRequest

    search = Search(
        parts.ready_retriever,
        parts.settings.search,
        kept=parts.saved_searches,
        names=parts.names,
        why_not=WhyNot(parts.expected, parts.asking_retriever),
        counts=parts.search_counters,
    )
    return lambda question: search.find(FindRequest.model_validate({"query": question, "mode": mode}))


def _material(count: int) -> tuple[tuple[str, ...], list[str]]:
    """Return passages of all sets, and `count` questions taken from the sets in turn."""
    sets = material.question_sets(_SETS)
    passages = tuple(passage for one in sets for passage in one.passages[:_PASSAGES])
    turns = itertools.chain.from_iterable(
        zip(*([question for question, gold in one.questions if gold < _PASSAGES] for one in sets), strict=False)
    )
    return passages, list(itertools.islice(turns, count))
