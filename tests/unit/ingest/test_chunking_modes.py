"""The modes `fixed` and `parent-child`: nothing lost, nothing too long, parents hold their children in order."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.domain.chunks import Chunk, ChunkPolicy, ChunkRole
from kb.domain.documents import CanonicalDocument
from kb.domain.spans import LineSpan
from kb.ingest.chunking import chunk_document, chunker_version
from tests.fakes.parsing import PieceTokenizer, document
from tests.unit.ingest.test_chunking import LONG, PIECES, covered

FIXED = ChunkPolicy(mode="fixed", target_characters=400, overlap_characters=0)
FAMILY = ChunkPolicy(
    mode="parent-child", target_characters=1600, overlap_characters=0, parent_characters=1600, child_characters=300
)


def _fixed(made: CanonicalDocument, overlap: int = 0) -> list[str]:
    policy = ChunkPolicy(mode="fixed", target_characters=400, overlap_characters=overlap)
    return [chunk.text for chunk in chunk_document(made, policy, None)]


def test_fixed_chunks_fill_up_over_headings_and_paragraphs() -> None:
    pieces = [piece for n in range(12) for piece in (("h1", f"Part {n}"), ("paragraph", LONG[:103]))]
    texts = _fixed(document(*pieces))
    assert all(300 <= len(text) <= 400 for text in texts[:-1])
    assert not any(text.splitlines()[-1].startswith("Part") for text in texts)


@pytest.mark.parametrize(
    ("kind", "text", "end"),
    [
        ("paragraph", "This is a sentence. " * 100, "."),
        ("paragraph", "知识库是一个文件夹！" * 200, "！"),
        ("code", "\n".join(f"value_{n} = call({n})" for n in range(200)), ")"),
        ("paragraph", "\n".join(f"12:00:{n:02} INFO started worker number {n};" for n in range(60)), ";"),
    ],
)
def test_fixed_chunks_end_where_their_kind_of_text_has_a_border(kind: str, text: str, end: str) -> None:
    texts = _fixed(document((kind, text.strip())))
    assert len(texts) > 3
    assert all(len(text) >= 200 for text in texts[:-1])
    assert all(text.endswith(end) for text in texts)


def test_a_fixed_chunk_repeats_the_end_of_the_one_before_without_a_place() -> None:
    numbered = " ".join(f"Sentence number {n} stands here." for n in range(60))
    chunks = chunk_document(
        document(("paragraph", numbered)),
        ChunkPolicy(mode="fixed", target_characters=400, overlap_characters=100),
        None,
    )
    for before, after in pairwise(chunks):
        lead, _, _ = after.text.partition("\n")
        assert before.text.endswith(lead)
        assert lead
        assert after.segments[0].start == len(lead) + 1


def test_children_stand_in_their_parent_and_are_what_is_found() -> None:
    made = document(("h1", "A"), ("paragraph", LONG[:1200]), ("h1", "B"), ("paragraph", LONG[:1000]))
    chunks = chunk_document(made, FAMILY, None)
    parents = [chunk for chunk in chunks if chunk.role is ChunkRole.PARENT]
    assert [parent.heading_path for parent in parents] == [("A",), ("B",)]
    for parent in parents:
        children = [chunk for chunk in chunks if chunk.parent_chunk_id == parent.chunk_id]
        assert len(children) >= 4
        assert all(child.text in parent.text and child.role is ChunkRole.CHILD for child in children)


def test_a_long_table_repeats_its_header_in_parents_and_children() -> None:
    rows = "\n".join(f"row {n} | {'x' * 60}" for n in range(80))
    chunks = chunk_document(document(("table", f"name | value\n{rows}")), FAMILY, None)
    assert {chunk.role for chunk in chunks} == {ChunkRole.PARENT, ChunkRole.CHILD}
    assert all(chunk.text.startswith("name | value\nrow ") for chunk in chunks)
    assert all(chunk.text.count("name | value") == 1 for chunk in chunks)


POLICY = st.builds(
    lambda mode, target, overlap, cap, family: ChunkPolicy(
        mode=mode,
        target_characters=target,
        overlap_characters=target * overlap // 100,
        parent_characters=family[0],
        child_characters=family[1],
        max_tokens=cap,
    ),
    st.sampled_from(["fixed", "parent-child"]),
    st.integers(400, 2000),
    st.integers(0, 40),
    st.sampled_from([None, 60, 120, 500]),
    st.sampled_from([(1600, 300), (1600, 1500), (4800, 900)]),
)


def _parents_hold_their_children(chunks: list[Chunk], policy: ChunkPolicy) -> None:
    parent: Chunk | None = None
    rest = ""
    for chunk in chunks:
        if chunk.role is ChunkRole.PARENT:
            assert not rest.strip()
            parent, rest = chunk, _own(chunk)
            assert len(chunk.text) <= policy.parent_characters
            continue
        assert parent is not None
        assert chunk.parent_chunk_id == parent.chunk_id
        own = _own(chunk)
        assert rest.startswith(own)
        rest = rest[len(own) :]
    assert not rest.strip()


def _own(chunk: Chunk) -> str:
    """Return what has a place, without white space."""
    return "".join("".join(chunk.text[segment.start : segment.end].split()) for segment in chunk.segments)


@settings(max_examples=250, deadline=None)
@given(PIECES, POLICY)
def test_nothing_is_lost_doubled_or_too_long_in_any_mode(pieces: list[tuple[str, str]], policy: ChunkPolicy) -> None:
    made = document(*pieces)
    tokenizer = PieceTokenizer()
    chunks = chunk_document(made, policy, tokenizer)
    found = [chunk for chunk in chunks if chunk.role is not ChunkRole.PARENT]
    covered(made, found)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    assert {(chunk.chunker_version, chunk.policy_hash) for chunk in chunks} <= {
        (chunker_version(policy), policy.hash())
    }
    assert all(chunk.text.strip() and chunk.segments for chunk in chunks)
    if policy.mode == "fixed":
        assert all(len(chunk.text) <= policy.target_characters for chunk in chunks)
    else:
        assert all(len(chunk.text) <= policy.child_characters * 1.25 for chunk in found)
        _parents_hold_their_children(chunks, policy)
    if policy.max_tokens:
        assert all(tokenizer.count(chunk.text) <= policy.max_tokens for chunk in found)
    assert chunk_document(made, policy, PieceTokenizer()) == chunks


def test_each_place_says_what_its_line_says() -> None:
    made = document(*[("paragraph", f"Line {n} of many words.") for n in range(40)])
    for policy in (FIXED, FAMILY):
        for chunk in chunk_document(made, policy, None):
            for segment in chunk.segments:
                assert isinstance(segment.span, LineSpan)
                (line,) = [
                    block.parsed.text
                    for block in made.blocks
                    if block.parsed.span.start == segment.span.start  # type: ignore[union-attr]
                ]
                assert chunk.text[segment.start : segment.end] == line
