"""A chunk leaves its page, slide, sheet or message only to end a sentence."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from hypothesis import given, settings
from hypothesis import strategies as st

from kb.domain.blocks import BlockKind
from kb.domain.chunks import Chunk, ChunkPolicy
from kb.domain.documents import Block, CanonicalDocument
from kb.domain.placed import spans_between
from kb.domain.spans import PageSpan, PartSpan, Segment, SourceSpan
from kb.ingest.chunking import chunk_document
from tests.fakes.parsing import document


def placed(*blocks: list[tuple[str, SourceSpan]], kind: str = "paragraph") -> CanonicalDocument:
    """A document whose blocks are runs of text with their places, a space between."""
    made = document(*[(kind, " ".join(text for text, _ in runs)) for runs in blocks])
    found: list[Block] = []
    for block, runs in zip(made.blocks, blocks, strict=True):
        segments, at = [], 0
        for text, span in runs:
            segments.append(Segment(at, at + len(text), span))
            at += len(text) + 1
        parsed = replace(block.parsed, span=runs[0][1], segments=tuple(segments))
        found.append(replace(block, parsed=parsed))
    return replace(made, blocks=tuple(found))


def page(number: int, text: str, at: int = 0) -> tuple[str, SourceSpan]:
    return text, PageSpan(number, at, at + len(text))


def chunks_of(made: CanonicalDocument, target: int = 1600) -> list[Chunk]:
    return chunk_document(made, ChunkPolicy(target_characters=target, overlap_characters=0), None)


def test_each_page_is_a_chunk_of_its_own_however_short() -> None:
    made = placed([page(1, "One.")], [page(1, "Two.", 5)], [page(2, "Three.")], [page(3, "Four.")])
    assert [chunk.text for chunk in chunks_of(made)] == ["One.\n\nTwo.", "Three.", "Four."]


def test_a_sentence_over_the_end_of_a_page_stays_whole_and_the_next_begins_a_chunk() -> None:
    running = [page(1, "It closes. The boats"), page(2, "wait until dawn. Nobody minds.")]
    first, second = chunks_of(placed([page(1, "Before.", 90)], running, [page(2, "After.", 90)]))
    assert first.text == "Before.\n\nIt closes. The boats wait until dawn."
    assert second.text == "Nobody minds.\n\nAfter."
    assert first.source_spans[-1] == PageSpan(2, 0, 16)
    assert second.source_spans[0].page == 2  # type: ignore[union-attr]
    assert spans_between(second.segments, 0, 6) == (PageSpan(2, 17, 23),)
    assert first.chunk_id != second.chunk_id


def test_a_paragraph_that_breaks_between_sentences_is_cut_there() -> None:
    running = [page(1, "It closes."), page(2, "The boats wait."), page(3, "It opens.")]
    made = chunks_of(placed(running))
    assert [chunk.text for chunk in made] == ["It closes.", "The boats wait.", "It opens."]
    assert len({chunk.chunk_id for chunk in made}) == 3


def test_a_line_end_in_a_paragraph_ends_no_sentence_but_a_row_of_a_table_does() -> None:
    runs = [page(1, "all the\nboats"), page(2, "wait\nuntil dawn.")]
    assert len(chunks_of(placed(runs))) == 1
    (block,) = placed([page(1, "a | 1"), page(2, "b | 2")], kind="table").blocks
    rows = replace(block, parsed=replace(block.parsed, text="a | 1\nb | 2", kind=BlockKind.TABLE))
    made = replace(placed(runs), blocks=(rows,))
    assert [chunk.text for chunk in chunks_of(made)] == ["a | 1", "b | 2"]


def test_slides_sheets_and_messages_are_kept_apart_and_sections_are_not() -> None:
    for part, count in (("slide", 2), ("sheet", 2), ("message", 2), ("section", 1), ("cell", 1)):
        one, two = PartSpan(part, 1), PartSpan(part, 2)  # type: ignore[arg-type]
        assert len(chunks_of(placed([("One.", one)], [("Two.", two)]))) == count, part


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 1), st.text("ab. ", min_size=1).filter(str.strip)), min_size=1, max_size=4),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([20, 60, 1600]),
)
def test_no_letter_is_lost_and_only_the_last_sentence_is_on_another_page(
    blocks: list[list[tuple[int, str]]], target: int
) -> None:
    numbers = accumulate((step for runs in blocks for step, _ in runs), initial=1)
    next(numbers)
    made = placed(*[[page(next(numbers), text.strip()) for _, text in runs] for runs in blocks])
    chunks = chunks_of(made, target)
    letters = "".join(block.parsed.text for block in made.blocks)
    assert "".join("".join(c.text.split()) for c in chunks) == "".join(letters.split())
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    for chunk in chunks:
        pages = [segment.span.page for segment in chunk.segments]  # type: ignore[union-attr]
        later = [s for s in chunk.segments if s.span.page != pages[0]]  # type: ignore[union-attr]
        if later:
            rest = chunk.text[later[0].start :].strip()
            assert not any(end in rest[:-1] for end in (". ", ".\n")), chunk.text
