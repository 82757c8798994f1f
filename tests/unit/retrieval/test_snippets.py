"""Snippets, their highlights, and the place they are cited at."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kb.domain.chunks import Chunk
from kb.domain.paths import workspace_path
from kb.domain.places import LinePlace
from kb.domain.recipes import ChunkId, DocumentId
from kb.domain.spans import LineSpan, Segment
from kb.retrieval.snippets import narrowed_citation, own_start, snippet_of
from kb.retrieval.terms import terms_of


def a_chunk(*lines: str, first_line: int = 10) -> Chunk:
    segments, position = [], 0
    for number, line in enumerate(lines, start=first_line):
        segments.append(Segment(position, position + len(line), LineSpan(number, number)))
        position += len(line) + 1
    return Chunk(ChunkId("c"), DocumentId("d"), 0, "\n".join(lines), ("Top", "Part"), (), tuple(segments), 1, "v", "p")


def test_a_short_text_is_shown_whole() -> None:
    snippet = snippet_of("Replace the pack below 3.35 V.", terms_of("pack"), 220)
    assert snippet.text == "Replace the pack below 3.35 V."
    assert snippet.is_full_text
    assert [snippet.text[h.start : h.end] for h in snippet.highlights] == ["pack"]


def test_a_long_text_is_shown_from_the_sentence_of_the_match() -> None:
    text = "Filler sentence number one. " * 20 + "The anchor weighs 85 kg. " + "More filler follows here. " * 20
    snippet = snippet_of(text, terms_of("how heavy is the anchor"), 80)
    assert snippet.text.startswith("The anchor weighs 85 kg.")
    assert not snippet.is_full_text


def test_the_window_with_the_most_different_terms_wins() -> None:
    text = "battery " * 30 + "x " * 100 + "battery voltage under load"
    assert "voltage under load" in snippet_of(text, terms_of("battery voltage load"), 60).text


def test_a_text_without_any_match_is_shown_from_its_beginning() -> None:
    text = "Nothing of the question stands here. " * 20
    snippet = snippet_of(text, terms_of("quaternion"), 60)
    assert text.startswith(snippet.text)
    assert snippet.highlights == ()


@given(st.text(max_size=400), st.text(max_size=40), st.integers(20, 200))
def test_a_snippet_keeps_to_its_size_and_its_highlights_to_the_snippet(text: str, question: str, size: int) -> None:
    snippet = snippet_of(text, terms_of(question), size)
    assert len(snippet.text) <= max(size, len(text) if snippet.is_full_text else 0)
    ends = [0]
    for mark in snippet.highlights:
        assert ends[-1] <= mark.start < mark.end <= len(snippet.text)
        ends.append(mark.end)


def test_a_citation_is_narrowed_to_the_lines_that_hold_the_match() -> None:
    chunk = a_chunk("Batteries last long.", "The anchor weighs 85 kg.", "Chains rust.")
    terms = terms_of("anchor weight")
    citation = narrowed_citation(workspace_path("a.md"), chunk, snippet_of(chunk.text, terms, 220), terms)
    assert citation.place == LinePlace(11, 11)
    assert citation.section == "§Part"


def test_without_a_match_the_whole_chunk_is_cited() -> None:
    chunk = a_chunk("Batteries last long.", "The anchor weighs 85 kg.")
    terms = terms_of("quaternion")
    citation = narrowed_citation(workspace_path("a.md"), chunk, snippet_of(chunk.text, terms, 220), terms)
    assert citation.place == LinePlace(10, 11)


def test_what_a_chunk_repeats_of_the_one_before_is_neither_shown_nor_cited() -> None:
    own = a_chunk("Chains rust.", "The anchor weighs 85 kg.")
    repeated = "The anchor is old.\n"
    segments = tuple(Segment(s.start + len(repeated), s.end + len(repeated), s.span) for s in own.segments)
    chunk = replace(own, text=repeated + own.text, segments=segments)
    terms = terms_of("old anchor")
    begin = own_start(chunk.text, chunk.segments)
    snippet = snippet_of(chunk.text, terms, 220, begin)
    assert snippet.text == "Chains rust. The anchor weighs 85 kg."
    assert [snippet.text[h.start : h.end] for h in snippet.highlights] == ["anchor"]
    assert narrowed_citation(workspace_path("a.md"), chunk, snippet, terms).place == LinePlace(11, 11)


def test_the_number_of_a_list_item_is_part_of_its_line() -> None:
    text = "Before.\n  7. Lower it.\nAfter."
    places = [(0, 7, 1), (13, 22, 2), (24, 29, 3)]
    segments = tuple(Segment(start, end, LineSpan(line, line)) for start, end, line in places)
    chunk = replace(a_chunk("x"), text=text, segments=segments)
    assert own_start(text, segments[1:]) == text.index("  7.")
    terms = terms_of("before 7")
    citation = narrowed_citation(workspace_path("a.md"), chunk, snippet_of(text, terms, 220), terms)
    assert citation.place == LinePlace(1, 2)


def test_rows_of_a_table_keep_lines_of_their_own_in_a_snippet() -> None:
    rows = ("Ferries", "and boats", "Vessel: Kestrel | Skipper: Quill", "Vessel: Pike | Skipper: Varga", "End")
    text = "\n".join(rows)
    snippet = snippet_of(text, terms_of("kestrel varga"), 200)
    assert snippet.text == f"Ferries and boats\n{rows[2]}\n{rows[3]}\nEnd"
    assert [snippet.text[mark.start : mark.end] for mark in snippet.highlights] == ["Kestrel", "Varga"]


@given(st.integers(20, 120), st.integers(0, 60))
def test_a_snippet_of_words_never_begins_inside_one(size: int, before: int) -> None:
    text = "harbours " * before + "kestrel" + " lighthouse" * 30 + " varga" + " cables" * 10
    snippet = snippet_of(text, terms_of("kestrel varga"), size)
    assert set(snippet.text.split()[:1]) <= {"harbours", "kestrel", "lighthouse", "varga"}
