"""Words the index lacks find those like them: below all that is exact, and without moving any other figure."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import DamerauLevenshtein

from kb.adapters.tantivy.index import TantivyTextIndex
from kb.adapters.tantivy.typos import likes_of
from kb.domain.embeddings import ChunkKey
from kb.retrieval.ports import TextReply
from tests.contracts.text_search import ANY, entry, found, snapshot

_TEXTS = {
    1: "deploying kubernetes to the cluster",
    2: "kubernetes kubernetes upgrade",
    3: "upgrade of the garden fence",
    4: "das Straßencafé und die Übergabe",
    5: "расписание поездов на вокзале",
    6: "학교에서 쿠버네티스를 배운다",
    7: "the marlin is a fish",
    8: "upgrade",
}


class _Words:
    """The part of a searcher that is asked for words."""

    def __init__(self, words: set[str]) -> None:
        self._words = words

    def doc_freq(self, field: str, word: str) -> int:
        return int(field == "words" and word in self._words)

    def terms_with_prefix(self, field: str, start: str) -> list[tuple[str, int]]:
        return [(word, 1) for word in sorted(self._words) if field == "words" and word.startswith(start)]


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TantivyTextIndex, TantivyTextIndex]]:
    """One that tolerates slips, and one that does not, of the same texts."""
    folder = tmp_path_factory.mktemp("library")
    both = TantivyTextIndex(folder / "a", "library", tolerant=True), TantivyTextIndex(folder / "b", "library")
    chance = random.Random(3)
    filler = [
        entry(100 + key, " ".join(chance.choices(["garden", "fence", "the", "river", "of", "stones"], k=9)))
        for key in range(50)
    ]
    for made in both:
        made.rebuild(
            snapshot(
                1, *(entry(key, text, heading="Zeppelin" if key == 7 else "") for key, text in _TEXTS.items()), *filler
            )
        )
    yield both
    for made in both:
        made.close()


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("kubrenetes", [2, 1]), ("kuberntes", [2, 1]), ("kubernetess", [2, 1]), ("jubernetes", [2, 1]),
        ("kuebrnetse", [2, 1]), ("merlin", [7]), ("расписаниа", [5]), ("вакзале", [5]), ("ubergabe", [4]),
    ],
)  # fmt: skip
def test_a_slip_is_forgiven(indexes: tuple[TantivyTextIndex, TantivyTextIndex], query: str, right: list[int]) -> None:
    assert found(indexes[0], query) == right


@pytest.mark.parametrize("query", ["fex", "fshi", "marl", "2o25", "쿠버네디스", "学柼", "mrelni", "zeppelin", "zebra"])
def test_short_far_numbers_cjk_and_words_in_headings_are_not_touched(
    indexes: tuple[TantivyTextIndex, TantivyTextIndex], query: str
) -> None:
    tolerant, strict = (index.search(query, ANY, 99) for index in indexes)
    assert tolerant == strict


def test_what_a_slip_found_comes_after_all_that_is_exact(
    indexes: tuple[TantivyTextIndex, TantivyTextIndex],
) -> None:
    tolerant, strict = (index.search("kubrenetes the upgrade 학교", ANY, 99) for index in indexes)
    exact = {candidate.key for candidate in strict.candidates}
    order = [candidate.key for candidate in tolerant.candidates]
    assert set(order[: len(exact)]) == exact
    assert order[len(exact) :] == []  # both texts with the word hold an exact one as well
    assert order.index(ChunkKey(2)) < order.index(ChunkKey(3))
    alone = indexes[0].search("kubrenetes stones", ANY, 99)
    assert [c.key for c in alone.candidates][-2:] == [2, 1]
    assert alone.candidates[-2].score < alone.candidates[-3].score


_VOCABULARY = sorted({word for text in _TEXTS.values() for word in text.split()} | {"stones", "river", "fence", "of"})


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from([*_VOCABULARY, "kubrenetes", "merlin", "stonse", "rivre", "upgarde", "школа", "хаос"]),
        max_size=6,
    )
)
def test_slips_never_outrank_and_never_move_another_figure(
    indexes: tuple[TantivyTextIndex, TantivyTextIndex], words: list[str]
) -> None:
    tolerant, strict = (index.search(" ".join(words), ANY, 99) for index in indexes)
    assert _figures(tolerant) == _figures(strict)
    exact = [candidate.key for candidate in strict.candidates]
    assert {c.key for c in tolerant.candidates[: len(exact)]} == set(exact)
    assert all(c.score <= tolerant.ceiling for c in tolerant.candidates)
    if not tolerant.similar:
        assert tolerant == strict
    keys = [candidate.key for candidate in tolerant.candidates]
    assert indexes[0].scores(" ".join(words), keys) == {c.key: c.score for c in tolerant.candidates}


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_every_word_one_slip_away_is_found(data: st.DataObject) -> None:
    letters = data.draw(st.sampled_from(["abcé", "abc", "бвгё", "αβγ", "אבג"]))
    word = data.draw(st.text(letters, min_size=4, max_size=9).filter(lambda word: "é" in word or "é" not in letters))
    others = data.draw(st.sets(st.text(letters, min_size=3, max_size=10), max_size=8)) - {word}
    right = {other for other in others if DamerauLevenshtein.distance(word, other) == 1}
    if len(word) >= 8:
        starts = word[:2], word[1] + word[0]
        right |= {o for o in others if DamerauLevenshtein.distance(word, o) == 2 and o.startswith(starts)}
    assert set(likes_of(word, _Words(others))) == right


def _figures(reply: TextReply) -> tuple[float, ...]:
    return reply.ceiling, reply.seen, reply.familiar, reply.lexical_terms, reply.cjk_terms
