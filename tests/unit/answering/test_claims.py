from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.answering.claims import Sentence, answer_sentences, citations, claim, locate, narrowed
from kb.answering.drafts import NEAREST, refused
from kb.answering.extractive import EXTRACTIVE
from kb.answering.markers import read_markers
from kb.domain.answers import RefusalReason
from tests.fakes.evidence import hit

TEXT = "Title line of the note\nThe backup runs on Sunday.\nIt takes one hour.\nThe cat sleeps."


def sentences_of(text: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(s.text, s.numbers) for s in answer_sentences(read_markers(text, range(1, 10))[0])]


def test_markers_belong_to_their_sentence_before_or_after_its_stop() -> None:
    assert sentences_of("One [#2]. Two. [#3] Three [#1][#2].") == [("One.", (2,)), ("Two.", (3,)), ("Three.", (1, 2))]
    assert sentences_of("甲[#1]。乙。[#2]丙") == [("甲。", (1,)), ("乙。", (2,)), ("丙", ())]
    assert sentences_of("하나 [#1]. 둘이다. [#2]") == [("하나.", (1,)), ("둘이다.", (2,))]


def test_a_number_named_twice_counts_once() -> None:
    assert sentences_of("One [#2] and more [#2].") == [("One and more.", (2,))]


def test_marks_alone_are_no_claim() -> None:
    assert sentences_of("One [#1].\n---\n") == [("One.", (1,))]


def test_a_quote_is_found_verbatim_or_by_common_words() -> None:
    hits = {1: hit(1, TEXT)}
    for said in ("The backup runs on Sunday", "On Sunday the backup is run."):
        (quote,) = locate(Sentence(said, (1,)), hits)
        assert TEXT[quote.start : quote.end].startswith("The backup runs on Sunday")


def test_a_sentence_that_shares_nothing_with_its_evidence_has_no_quote() -> None:
    assert locate(Sentence("Zebras gallop.", (1,)), {1: hit(1, TEXT)}) == []


def test_a_citation_is_narrowed_to_the_lines_that_hold_the_quotes() -> None:
    hits = {3: hit(3, TEXT, path="ops/backup.md", heading=["Backup"], first_line=10)}
    quotes = [*locate(Sentence("It takes one hour.", (3,)), hits), *locate(Sentence("The cat sleeps.", (3,)), hits)]
    (found,) = citations(quotes, hits, {3: 1})
    assert found.marker == 1
    assert found.citation.to_uri() == "ops/backup.md#L12-L13"
    assert found.citation.section == "§Backup"
    assert found.quote == "It takes one hour"


def test_without_a_quote_the_citation_is_the_whole_chunk() -> None:
    one = hit(1, TEXT, first_line=5)
    assert narrowed(one, []) == one.citation
    assert citations([], {1: one}, {1: 1})[0].quote == TEXT


def test_a_quote_in_text_without_places_cites_the_whole_chunk() -> None:
    text = "overlap\nreal"
    one = hit(1, text)
    (quote,) = locate(Sentence("overlap", (1,)), {1: one})
    bare = hit(1, "\nreal")
    assert narrowed(bare, [type(quote)(1, 0, 0)]) == bare.citation


def test_citations_come_in_the_order_of_their_shown_numbers() -> None:
    hits = {1: hit(1, TEXT), 4: hit(4, TEXT)}
    assert [c.marker for c in citations([], hits, {4: 1, 1: 2})] == [1, 2]
    assert next(c.chunk_id for c in citations([], hits, {4: 1, 1: 2})).endswith("4")


def test_a_models_claim_is_quoted_but_not_judged() -> None:
    hits = {2: hit(2, TEXT)}
    said = Sentence("The backup takes an hour.", (2,))
    made = claim(said, locate(said, hits), hits, {2: 1})
    assert made.markers == (1,)
    assert made.quote in {"It takes one hour.", "The backup runs on Sunday."}
    assert made.support is None


def test_the_nearest_candidates_have_a_score_and_no_marker() -> None:
    hits = [hit(n, TEXT, relevance=0.2) for n in range(1, NEAREST + 2)]
    found = refused("q", hits, RefusalReason.SCORE_GATE, EXTRACTIVE).citations
    assert [(c.marker, c.relevance) for c in found] == [(None, 0.2)] * NEAREST


@given(st.text(alphabet="ab .。\n[#12]가", max_size=80))
def test_every_marker_belongs_to_exactly_one_sentence(text: str) -> None:
    pieces, _ = read_markers(text, [1, 2])
    said = answer_sentences(pieces)
    named = {number for sentence in said for number in sentence.numbers}
    assert named <= {piece.number for piece in pieces}
    if said:
        assert sum(len(s.numbers) for s in said) <= sum(1 for piece in pieces if piece.number)
