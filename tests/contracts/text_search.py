"""What every text index promises, whatever it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import pytest

from kb.domain.embeddings import ChunkKey
from kb.domain.failures import StorageFailed
from kb.domain.index import TextChanges, TextEntry, TextSnapshot
from kb.domain.metadata import TrustLevel
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId
from kb.domain.search import SearchFilters
from kb.retrieval.ports import TextReply

ANY = SearchFilters()


class TextIndex(Protocol):
    """Both sides of a text index, as one object has them."""

    def position(self) -> int | None: ...
    def apply(self, changes: TextChanges) -> None: ...
    def rebuild(self, snapshot: TextSnapshot) -> int: ...
    def search(
        self, text: str, filters: SearchFilters, limit: int, allowed: Sequence[ChunkKey] | None = None
    ) -> TextReply: ...
    def holding(self, phrase: str) -> Sequence[ChunkKey]: ...
    def scores(self, text: str, keys: list[ChunkKey]) -> Mapping[ChunkKey, float]: ...


def entry(
    key: int,
    text: str,
    *,
    doc: str = "",
    path: str = "",
    heading: str = "",
    lang: str = "en",
    tags: tuple[str, ...] = (),
    trust: TrustLevel = TrustLevel.PRIMARY,
    kinds: tuple[str, ...] = ("markdown", "text/markdown"),
) -> TextEntry:
    return TextEntry(
        ChunkKey(key),
        DocumentId(doc or f"doc-{key}"),
        WorkspacePath(path or f"notes/{key}.md"),
        text,
        heading,
        lang,
        tags,
        trust.rank,
        kinds,
    )


def snapshot(position: int, *entries: TextEntry) -> TextSnapshot:
    return TextSnapshot(position, iter(entries))


def changes(position: int, *, add: tuple[TextEntry, ...] = (), remove: tuple[str, ...] = ()) -> TextChanges:
    return TextChanges(position, tuple(DocumentId(doc) for doc in remove), add)


def found(index: TextIndex, text: str, filters: SearchFilters = ANY, limit: int = 10) -> list[int]:
    return [candidate.key for candidate in index.search(text, filters, limit).candidates]


class TextSearchContract:
    """Subclasses give the fixture `index`, empty and new."""

    def test_a_new_index_holds_nothing_and_says_so(self, index: TextIndex) -> None:
        assert index.position() is None
        with pytest.raises(StorageFailed):
            index.search("word", ANY, 5)
        with pytest.raises(StorageFailed):
            index.apply(changes(1, add=(entry(1, "word"),)))

    def test_after_a_rebuild_it_holds_the_position_and_finds_words(self, index: TextIndex) -> None:
        assert index.rebuild(snapshot(7, entry(1, "the red house"), entry(2, "a blue house"))) == 2
        assert index.position() == 7
        assert found(index, "Red HOUSE") == [1, 2]
        assert found(index, "green") == []

    def test_an_index_of_no_texts_is_an_index(self, index: TextIndex) -> None:
        assert index.rebuild(snapshot(3)) == 0
        assert index.position() == 3
        assert found(index, "word") == []

    def test_changes_replace_remove_and_add_by_document(self, index: TextIndex) -> None:
        index.rebuild(
            snapshot(1, entry(1, "apple", doc="a"), entry(2, "pear", doc="a"), entry(3, "plum apple", doc="b"))
        )
        index.apply(changes(2, remove=("a",), add=(entry(4, "apple tree", doc="a"), entry(5, "quince", doc="c"))))
        assert index.position() == 2
        assert sorted(found(index, "apple")) == [3, 4]
        assert found(index, "pear") == []
        assert found(index, "quince") == [5]

    def test_applying_twice_is_applying_once(self, index: TextIndex) -> None:
        index.rebuild(snapshot(1, entry(1, "apple", doc="a")))
        twice = changes(2, remove=("a",), add=(entry(2, "apple", doc="a"), entry(3, "apple", doc="b")))
        index.apply(twice)
        index.apply(twice)
        assert found(index, "apple") == [2, 3]
        assert index.position() == 2

    def test_a_rebuild_forgets_what_was_there(self, index: TextIndex) -> None:
        index.rebuild(snapshot(1, entry(1, "apple")))
        index.rebuild(snapshot(5, entry(2, "apple")))
        assert found(index, "apple") == [2]
        assert index.position() == 5

    def test_equal_texts_come_in_key_order(self, index: TextIndex) -> None:
        index.rebuild(snapshot(1, *(entry(key, "the same words") for key in (4, 2, 9))))
        index.apply(changes(2, add=(entry(3, "the same words"), entry(1, "the same words"))))
        assert found(index, "same words") == [1, 2, 3, 4, 9]
        assert found(index, "same words", limit=2) == [1, 2]

    def test_more_matching_words_come_first(self, index: TextIndex) -> None:
        index.rebuild(snapshot(1, entry(1, "alpha"), entry(2, "alpha beta"), entry(3, "alpha beta gamma")))
        assert found(index, "alpha beta gamma") == [3, 2, 1]

    def test_headings_count(self, index: TextIndex) -> None:
        index.rebuild(snapshot(1, entry(1, "some text", heading="Deployment"), entry(2, "other text")))
        assert found(index, "deployment") == [1]

    @pytest.mark.parametrize("query", ["학교", "저장", "悬空", "サンドボックス", "ＡＢＣ１２３", "abc123", "일본어"])
    def test_cjk_words_of_two_letters_and_full_width_forms_are_found(self, index: TextIndex, query: str) -> None:
        index.rebuild(
            snapshot(
                1,
                entry(1, "학교에서는 저장을 했다 일본어를", lang="ko"),
                entry(2, "步2 重跑gen-itgc后50条悬空引用清零", lang="zh-Hans"),
                entry(3, "コードはサンドボックスで動く", lang="ja"),
                entry(4, "code ABC123"),
            )
        )
        right = {"학교": 1, "저장": 1, "일본어": 1, "悬空": 2, "サンドボックス": 3}.get(query, 4)
        assert found(index, query)[:1] == [right]

    def test_each_channel_reports_its_ranks_and_scores(self, index: TextIndex) -> None:
        index.rebuild(snapshot(1, entry(1, "tantivy 검색"), entry(2, "tantivy tantivy index"), entry(3, "검색 엔진")))
        reply = index.search("tantivy 검색", ANY, 10)
        assert reply.lexical_terms >= 1
        assert reply.cjk_terms >= 1
        by_key = {candidate.key: candidate for candidate in reply.candidates}
        assert set(by_key) == {1, 2, 3}
        assert by_key[ChunkKey(2)].cjk_rank is None
        assert by_key[ChunkKey(2)].lexical_rank is not None
        assert by_key[ChunkKey(3)].lexical_score is None
        assert by_key[ChunkKey(3)].cjk_rank is not None
        assert reply.candidates[0].key == 1
        assert all(candidate.score <= reply.ceiling for candidate in reply.candidates)

    def test_chosen_chunks_get_the_score_they_would_have_in_a_search(self, index: TextIndex) -> None:
        index.rebuild(snapshot(1, *(entry(key, f"word 단어 {'text ' * key}") for key in range(1, 30)), entry(50, "x")))
        whole = {candidate.key: candidate.score for candidate in index.search("word text 단어", ANY, 50).candidates}
        chosen = [ChunkKey(key) for key in (3, 7, 29, 50, 999)]
        assert index.scores("word text 단어", chosen) == {key: whole[key] for key in chosen if key in whole}
        assert index.scores("word", []) == {}
        assert index.scores("\0 \ud800", chosen) == {}

    def test_words_nobody_wrote_lower_the_share_that_was_seen(self, index: TextIndex) -> None:
        index.rebuild(snapshot(1, entry(1, "alpha"), entry(2, "beta")))
        whole, half = index.search("alpha", ANY, 5), index.search("alpha zeppelin", ANY, 5)
        assert whole.seen == pytest.approx(1)
        assert 0 < half.seen < 1
        assert half.ceiling > whole.ceiling
        assert index.search("zeppelin", ANY, 5).seen == 0

    def test_a_question_of_another_language_is_not_familiar(self, index: TextIndex) -> None:
        index.rebuild(snapshot(1, entry(1, "the mooring of the buoy"), entry(2, "배터리 교체 절차")))
        assert index.search("the capital of France", ANY, 5).familiar == pytest.approx(0.5)
        assert index.search("교리 the", ANY, 5).familiar == 1
        assert index.search("절망 freeze", ANY, 5).familiar == pytest.approx(1 / 3)
        assert index.search("法国的首都", ANY, 5).familiar == 0
        assert index.search("?", ANY, 5).familiar == 0

    @pytest.mark.parametrize(
        ("filters", "right"),
        [
            (SearchFilters(tags_any=("red", "none")), [1, 3]),
            (SearchFilters(lang="zh"), [2, 3]),
            (SearchFilters(lang="zh-Hant"), [3]),
            (SearchFilters(lang="z"), []),
            (SearchFilters(path_glob="notes/*.md"), [1]),
            (SearchFilters(path_glob="notes/**"), [1, 2]),
            (SearchFilters(path_glob="**/b.md"), [2, 3]),
            (SearchFilters(path_glob="**"), [1, 2, 3, 4]),
            (SearchFilters(path_glob="notes/[ab].md"), [1]),
            (SearchFilters(path_glob="*"), [4]),
            (SearchFilters(path_glob="notes/+(x)?"), []),
            (SearchFilters(trust_min=TrustLevel.SECONDARY), [1, 2]),
            (SearchFilters(source_types=("paper", "application/pdf")), [4]),
            (SearchFilters(tags_any=("red",), lang="zh", trust_min=TrustLevel.GENERATED), [3]),
        ],
    )
    def test_filters_choose_chunks_and_nothing_else(
        self, index: TextIndex, filters: SearchFilters, right: list[int]
    ) -> None:
        index.rebuild(
            snapshot(
                1,
                entry(1, "word", path="notes/a.md", tags=("red",)),
                entry(2, "word", path="notes/sub/b.md", lang="zh-Hans", trust=TrustLevel.SECONDARY),
                entry(3, "word", path="길/b.md", lang="zh-Hant-TW", tags=("red", "blue"), trust=TrustLevel.GENERATED),
                entry(4, "word", path="c (1).pdf", kinds=("paper", "application/pdf"), trust=TrustLevel.GENERATED),
            )
        )
        assert found(index, "word", filters) == right
        unfiltered = {c.key: c.score for c in index.search("word", ANY, 10).candidates}
        assert all(c.score == unfiltered[c.key] for c in index.search("word", filters, 10).candidates)

    @pytest.mark.parametrize(
        "text",
        ["C++ (", "https://x.y", "-foo", "AND", '"open', "\0", "\ud800", "🎉", "a:(^", ">>>", "", " ", "x" * 4000,
         'devices usb-c adapter""', "* ?", "word\0word", "[", "\\", "字" * 4000, "OR NOT word~2 word* /re/"],
    )  # fmt: skip
    def test_nothing_a_person_types_is_an_error(self, index: TextIndex, text: str) -> None:
        index.rebuild(snapshot(1, entry(1, "word and C++ and usb-c and foo")))
        reply = index.search(text, ANY, 5)
        assert reply.ceiling >= 0

    def test_the_same_question_gets_the_same_answer(self, index: TextIndex) -> None:
        index.rebuild(snapshot(1, *(entry(key, f"word {'more ' * (key % 7)} text{key % 3}") for key in range(100))))
        first = index.search("word more text1", ANY, 20)
        assert all(index.search("word more text1", ANY, 20) == first for _ in range(20))

    @pytest.mark.parametrize(
        ("phrase", "right"),
        [
            ("quick Brown", [1]),
            ("quick", [1, 2]),
            ("fox brown", [2]),
            ("brown, fox!", [1]),
            ("学校", [4]),
            ("학교", [3]),
            ("학교에서 저장", [3]),
            ("학교 저장", []),
            ("교에", [3]),
            ("서저", []),
            ("悬空引用", [4]),
            ("空引", [4]),
            ("悬空清零", []),
            ("引用 清零", [5]),
            ("gen 后", [5]),
            ("ＱＵＩＣＫ　ｂｒｏｗｎ", [1]),
            ("", []),
            ("?!", []),
            ("\ud800", []),
        ],
    )
    def test_a_phrase_is_held_where_its_words_stand_next_to_each_other(
        self, index: TextIndex, phrase: str, right: list[int]
    ) -> None:
        index.rebuild(
            snapshot(
                1,
                entry(1, "The quick brown fox"),
                entry(2, "a fox, brown and quick"),
                entry(3, "학교에서 저장을 했다"),
                entry(4, "学校的悬空引用"),
                entry(5, "gen后 引用。清零"),
            )
        )
        assert list(index.holding(phrase)) == right
        everything = SearchFilters(phrases=(phrase,))
        assert sorted(found(index, "quick fox 학교 저장 学校 引用 gen", everything)) == right
        others = SearchFilters(excluded=(phrase,))
        assert sorted(found(index, "quick fox 학교 저장 学校 引用 gen", others)) == [
            k for k in range(1, 6) if k not in right
        ]

    @pytest.mark.parametrize("share", [0, 1, 10, 500, 1000])
    def test_only_allowed_chunks_are_found_and_their_scores_stay(self, index: TextIndex, share: int) -> None:
        index.rebuild(snapshot(1, *(entry(key, f"word {'more ' * (key % 5)} 단어") for key in range(1000))))
        whole = index.search("word more 단어", ANY, 1000).candidates
        allowed = [ChunkKey(key) for key in range(1000) if key * 7919 % 1000 < share]
        reply = index.search("word more 단어", ANY, 24, allowed)
        right = [(c.key, c.score) for c in whole if c.key in set(allowed)][:24]
        assert [(c.key, c.score) for c in reply.candidates] == right
        assert reply.ceiling == index.search("word more 단어", ANY, 24).ceiling
