"""Keyword search over many chunks beside bare Tantivy and SQLite's FTS5.

    python -m tests.bench.keywords [CHUNKS]

Sentences of all sets of the shared data, shuffled under a seed into chunks as long as real passages, one language each.
All sides answer in this process, each query in turn; times are of the wall, milliseconds.
"""

from __future__ import annotations

import random
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from kb.adapters.tantivy.analysis import query_terms
from kb.adapters.tantivy.index import TantivyTextIndex
from kb.adapters.tantivy.query import FIELDS
from kb.domain.embeddings import ChunkKey
from kb.domain.index import TextEntry, TextSnapshot
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId
from kb.domain.search import SearchFilters
from kb.domain.text import sentences
from tests.bench import material

_SETS = ("xquad-en", "xquad-zh", "xquad-es", "xquad-de", "xquad-ru", "xquad-ar", "xquad-vi", "cmrc2018", "korquad")
_CJK_SHARE = 25_000 / 266_341
_LIMIT = 24
_ROUNDS = 3
_QUERIES = 150
_SHARES = (0.001, 0.01, 0.1, 0.5)


def chunks(count: int, sets: Sequence[material.QuestionSet]) -> Iterator[str]:
    """Yield `count` chunks: the length of a real passage, filled with shuffled sentences of the same set."""
    chance = random.Random(41)
    pools = [[text[s:e] for text in one.passages for s, e in sentences(text)] for one in sets]
    lengths = [[len(text) for text in one.passages] for one in sets]
    is_cjk = [re.search("[\u4e00-\u9fff\uac00-\ud7a3]", pool[0]) is not None for pool in pools]
    share = _CJK_SHARE / max(sum(is_cjk), 1), (1 - _CJK_SHARE) / max(len(pools) - sum(is_cjk), 1)
    weights = [share[0] if cjk else share[1] for cjk in is_cjk]
    decks: list[list[str]] = [[] for _ in pools]
    for place in chance.choices(range(len(pools)), weights, k=count):
        wanted, text = chance.choice(lengths[place]), ""
        while len(text) < wanted:
            if not decks[place]:
                decks[place] = chance.sample(pools[place], len(pools[place]))
            text += decks[place].pop() + " "
        yield text


def entry(key: int, text: str) -> TextEntry:
    """Return a chunk as the index takes it, ten to a document."""
    doc = DocumentId(f"doc-{key // 10}")
    return TextEntry(ChunkKey(key), doc, WorkspacePath(f"notes/{key // 10}.md"), text, "", "en", (), 2, ("note",))


class Bare:
    """The same terms in one flat query on the same folder; the best keys."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        from kb.adapters.tantivy.schema import prepare, schema

        self._tantivy, self._schema = tantivy, schema()
        index = tantivy.Index(self._schema, path=str(folder))
        prepare(index)
        index.reload()
        self._searcher = index.searcher()

    def __call__(self, text: str) -> Any:
        query, should = self._tantivy.Query, self._tantivy.Occur.Should
        found = query_terms(text)
        terms = [(FIELDS[kind], term) for kind, some in found.by_kind for term in some]
        terms += [("head", term) for term in (*found.head_words, *found.head_pairs)]
        either = query.boolean_query([(should, query.term_query(self._schema, *term, "freq")) for term in terms])
        hits = self._searcher.search(either, _LIMIT, count=False).hits
        return self._searcher.fast_field_values("key", [address for _, address in hits])


def times(work: Callable[[str], object], queries: Sequence[str]) -> list[float]:
    """Return the best time of each query in milliseconds, rising."""
    best = [float("inf")] * len(queries)
    for _ in range(_ROUNDS):
        for place, text in enumerate(queries):
            begun = time.perf_counter()
            work(text)
            best[place] = min(best[place], (time.perf_counter() - begun) * 1000)
    return sorted(best)


def line(name: str, rising: Sequence[float]) -> str:
    """Return one row: median and p95."""
    p95 = rising[min(len(rising) - 1, int(len(rising) * 0.95))]
    return f"| {name} | {statistics.median(rising):.2f} | {p95:.2f} |"


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    count = int(arguments[0]) if arguments else 20_000
    sets = material.question_sets(_SETS)
    questions = [(one.name, text) for one in sets for text, _ in one.questions]
    random.Random(43).shuffle(questions)
    with tempfile.TemporaryDirectory() as folder:
        index = TantivyTextIndex(Path(folder) / "tantivy", "bench", tolerant=True)
        begun = time.process_time()
        texts = 0

        def entries() -> Iterator[TextEntry]:
            nonlocal texts
            for key, text in enumerate(chunks(count, sets)):
                texts += len(text.encode())
                fts.execute("INSERT INTO t(rowid, text) VALUES (?, ?)", (key, text))
                yield entry(key, text)

        fts = sqlite3.connect(Path(folder) / "fts.sqlite")
        fts.execute("CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize='unicode61')")
        index.rebuild(TextSnapshot(1, entries()))
        fts.commit()
        size = sum(file.stat().st_size for file in (Path(folder) / "tantivy").iterdir())
        print(f"{count:,} chunks, {texts >> 20} MB of text; both indexes {time.process_time() - begun:.0f} CPU-s;")
        print(f"Tantivy's {size / texts:.2f} of the text\n\n| what | median | p95 |\n|---|---|---|")
        _compare(index, Bare(Path(folder) / "tantivy"), fts, questions)
        _filtered(index, count, [text for name, text in questions if name == "xquad-en"][:50])
        index.close()


def _compare(
    index: TantivyTextIndex, bare: Bare, fts: sqlite3.Connection, questions: Sequence[tuple[str, str]]
) -> None:
    def ours(text: str) -> object:
        return index.search(text, SearchFilters(), _LIMIT)

    def by_fts(text: str) -> object:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        return fts.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ?", (words, _LIMIT)).fetchall()

    every = [text for _, text in questions][:_QUERIES]
    six = [" ".join(words[:6]) for name, text in questions if name == "xquad-en" and len(words := text.split()) > 5][
        :40
    ]
    runs = [run for _, text in questions for run in re.findall("[\u4e00-\u9fff\uac00-\ud7a3]{2,}", text)]
    two = [run[:2] for run in runs][:_QUERIES]
    for name, queries in (("questions of all sets", every), ("six words", six), ("two CJK letters", two)):
        print(line(f"{name}: Kebab", times(ours, queries)))
        print(line(f"{name}: bare Tantivy", times(bare, queries)))
    print(line("six words: FTS5", times(by_fts, six)))
    print(line("six words misspelled: Kebab", times(ours, [_misspelled(text) for text in six])))
    pairs = [" ".join(text.split()[1:3]) for text in six]
    print(line("phrase of two words: holding", times(index.holding, pairs)))
    print(line("CJK phrase: holding", times(index.holding, [run[:4] for run in runs[:40]])))


def _filtered(index: TantivyTextIndex, count: int, queries: Sequence[str]) -> None:
    chance = random.Random(47)
    for share in _SHARES:
        some = sorted(ChunkKey(key) for key in chance.sample(range(count), max(1, int(count * share))))
        rising = times(partial(index.search, filters=SearchFilters(), limit=_LIMIT, allowed=some), queries)
        print(line(f"questions among {share:.1%} of the chunks", rising))


def _misspelled(text: str) -> str:
    return " ".join(f"{word[0]}{word[2]}{word[1]}{word[3:]}" if len(word) > 5 else word for word in text.split())


if __name__ == "__main__":
    main(sys.argv[1:])
