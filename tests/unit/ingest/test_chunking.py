"""Chunks: sections and blocks whole where they fit, nothing lost, nothing too long, every place right."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.domain.blocks import BlockKind
from kb.domain.chunks import Chunk, ChunkPolicy
from kb.domain.documents import CanonicalDocument
from kb.domain.errors import InvalidInput
from kb.domain.recipes import chunk_id
from kb.domain.spans import LineSpan
from kb.ingest.chunk_sizes import Measure, Room, estimate
from kb.ingest.chunking import CHUNKER_VERSION, chunk_document
from tests.fakes.parsing import PieceTokenizer, document

SENTENCE = "This sentence has about fifty characters in it all. "
LONG = (SENTENCE * 80).strip()
SMALL = ChunkPolicy(target_characters=400, overlap_characters=0)


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def test_a_short_document_is_one_chunk_with_its_heading_first() -> None:
    made = document(("h1", "Title"), ("paragraph", "One."), ("list", "a\nb"))
    (chunk,) = chunk_document(made, ChunkPolicy(), None)
    assert chunk.text == "Title\nOne.\n\na\nb"
    assert chunk.heading_path == ("Title",)
    assert chunk.source_spans == (LineSpan(1, 1), LineSpan(3, 3), LineSpan(5, 6))
    assert (chunk.lang, chunk.chunker_version, chunk.ordinal) == ("en", CHUNKER_VERSION, 0)


def test_a_heading_starts_a_chunk() -> None:
    made = document(("h1", "A"), ("paragraph", LONG[:900]), ("h1", "B"), ("paragraph", LONG[:900]))
    assert [(c.text[:2], c.heading_path) for c in chunk_document(made, ChunkPolicy(), None)] == [
        ("A\n", ("A",)),
        ("B\n", ("B",)),
    ]


def test_small_sections_of_one_parent_stay_together_up_to_half_the_target() -> None:
    made = document(
        ("h1", "Top"),
        ("paragraph", "Intro."),
        *[piece for n in range(6) for piece in (("h2", f"S{n}"), ("paragraph", LONG[:200]))],
        ("h1", "Other"),
        ("paragraph", "Short."),
    )
    found = [
        (len(re.findall(r"^S\d$", c.text, re.MULTILINE)), c.heading_path)
        for c in chunk_document(made, ChunkPolicy(), None)
    ]
    assert found == [(0, ("Top",)), (3, ("Top",)), (3, ("Top",)), (0, ("Other",))]


def test_a_heading_with_nothing_under_it_joins_the_section_below() -> None:
    made = document(("h1", "Book"), ("h2", "Part"), ("h3", "Chapter"), ("paragraph", LONG[:1400]))
    (chunk,) = chunk_document(made, ChunkPolicy(), None)
    assert chunk.text.startswith("Book\nPart\nChapter\nThis sentence")
    assert chunk.heading_path == ("Book", "Part", "Chapter")


def test_blocks_are_gathered_up_to_the_target_and_never_cut_when_they_fit() -> None:
    pieces = [("paragraph", f"{n} {LONG[:150]}") for n in range(12)]
    chunks = chunk_document(document(("h1", "A"), *pieces), SMALL, None)
    assert all(len(chunk.text) <= 400 for chunk in chunks)
    assert [text for chunk in chunks for text in chunk.text.removeprefix("A\n").split("\n\n")] == [t for _, t in pieces]


@pytest.mark.parametrize("kind", ["code", "table", "list", "paragraph"])
def test_a_block_a_little_over_the_target_stays_whole(kind: str) -> None:
    block = "\n".join(f"line {n} | {SENTENCE}" for n in range(7))
    assert len(block) in range(401, 500)
    chunks = chunk_document(document((kind, block), ("paragraph", LONG[:300])), SMALL, None)
    assert texts(chunks) == [block, LONG[:300].strip()]


def test_a_heading_is_not_left_alone_before_a_long_block() -> None:
    chunks = chunk_document(document(("h1", "A"), ("h2", "B"), ("paragraph", LONG)), SMALL, None)
    assert chunks[0].text.startswith("A\nB\nThis sentence")
    assert all(len(chunk.text) <= 400 for chunk in chunks)


def test_a_long_paragraph_is_cut_at_sentences_and_numbered() -> None:
    made = document(("paragraph", LONG))
    chunks = chunk_document(made, SMALL, None)
    assert " ".join(texts(chunks)) == LONG
    assert all(chunk.text.endswith(".") for chunk in chunks)
    block = made.blocks[0].block_id
    assert [c.chunk_id for c in chunks] == [
        chunk_id(
            made.doc_id,
            chunker_version=CHUNKER_VERSION,
            block_ids=[block],
            policy_hash=SMALL.hash(),
            part=number,
        )
        for number in range(len(chunks))
    ]


def test_chinese_and_korean_are_cut_at_their_own_marks() -> None:
    chinese = "知识库是一个文件夹。原件不会被修改！真的吗？" * 40
    assert all(chunk.text[-1] in "。！？" for chunk in chunk_document(document(("paragraph", chinese)), SMALL, None))
    korean = "지식 기반은 폴더 하나이다. 원본은 그대로 있다. " * 30
    assert all(
        chunk.text.endswith("다.") for chunk in chunk_document(document(("paragraph", korean.strip())), SMALL, None)
    )


def test_overlap_repeats_whole_sentences_and_has_no_place() -> None:
    policy = ChunkPolicy(target_characters=400, overlap_characters=120)
    first, second, *_ = chunk_document(document(("paragraph", LONG)), policy, None)
    lead = second.text[: second.segments[0].start]
    assert lead == SENTENCE * 2 + "\n" or lead == (SENTENCE * 2).strip() + "\n"
    assert first.text.endswith(lead.strip())
    assert len(second.text) <= 400
    assert second.segments[0].start == len(lead)


def test_separate_blocks_do_not_overlap() -> None:
    policy = ChunkPolicy(target_characters=400, overlap_characters=160)
    pieces = [("paragraph", f"{n} {LONG[:300]}".strip()) for n in range(4)]
    assert texts(chunk_document(document(*pieces), policy, None)) == [text for _, text in pieces]


def test_a_cut_table_repeats_its_header_without_a_place() -> None:
    rows = [f"row {n} | {SENTENCE.strip()}" for n in range(40)]
    table = "\n".join(["name | text", *rows])
    chunks = chunk_document(
        document(("table", table)), ChunkPolicy(target_characters=400, overlap_characters=160), None
    )
    assert all(chunk.text.startswith("name | text\n") for chunk in chunks)
    assert [row for chunk in chunks for row in chunk.text.split("\n")[1:]] == rows
    assert all(chunk.segments[0].start == len("name | text\n") for chunk in chunks[1:])
    assert chunks[0].segments[0].start == 0


def test_code_is_cut_between_definitions_then_lines() -> None:
    functions = [f"def f{n}():\n    a = {n}\n\n    return a + {n}" for n in range(60)]
    chunks = chunk_document(document(("code", "\n\n\n".join(functions))), SMALL, None)
    assert all(chunk.text.startswith("def f") for chunk in chunks)
    flat = "\n".join(f"    value_{n} = compute(value_{n - 1}, {n})" for n in range(100))
    chunks = chunk_document(document(("code", flat)), SMALL, None)
    assert "\n".join(texts(chunks)) == flat


def test_list_items_stay_together() -> None:
    items = [f"{n}. item {SENTENCE}\n  with more {SENTENCE}".strip() for n in range(30)]
    chunks = chunk_document(document(("list", "\n".join(items))), SMALL, None)
    assert all(chunk.text.split(".")[0].isdigit() for chunk in chunks)
    assert "\n".join(texts(chunks)) == "\n".join(items)


def test_text_without_borders_is_cut_but_never_inside_a_character() -> None:
    family = "👨‍👩‍👧‍👦"
    for unit in (family, "e\u0301\u0323", "🇰🇷", "각", "👍🏽"):
        for chunk in chunk_document(document(("paragraph", unit * 900)), SMALL, None):
            assert chunk.text == unit * (len(chunk.text) // len(unit))


def test_a_run_of_marks_longer_than_a_chunk_is_cut_all_the_same() -> None:
    text = "a" + "\u0301" * 2_000
    assert "".join(texts(chunk_document(document(("paragraph", text)), SMALL, None))) == text


def test_the_cap_in_tokens_binds_whatever_the_target() -> None:
    tokenizer = PieceTokenizer()
    made = document(
        ("h1", "제목"),
        ("paragraph", "지식기반은폴더하나이다. " * 200),
        ("code", "x=1;" * 500),
        ("table", "가|나\n" * 200),
    )
    policy = ChunkPolicy(target_characters=1600, overlap_characters=160, max_tokens=120)
    chunks = chunk_document(made, policy, tokenizer)
    assert max(tokenizer.count(chunk.text) for chunk in chunks) <= 120
    assert max(chunk.token_estimate for chunk in chunks) <= 120


def test_small_texts_are_not_counted() -> None:
    tokenizer = PieceTokenizer()
    chunk_document(document(("h1", "A"), ("paragraph", "Short words.")), ChunkPolicy(max_tokens=500), tokenizer)
    assert tokenizer.counted == 0


def test_source_code_is_headed_by_the_one_definition_it_is_about() -> None:
    from kb.adapters.parsers.text.code import SourceCodeParser
    from kb.domain.paths import WorkspacePath
    from kb.ingest.normalise import normalise
    from tests.fakes.parsing import NOON, FixedDetector, Utf8Decoder, facts

    body = "".join(f"    x = {n}\n" for n in range(60))
    source = f"def one():\n{body}\ndef two():\n{body}"
    parse = SourceCodeParser(Utf8Decoder()).parse(source.encode(), WorkspacePath("a.py"))
    made = normalise(parse, facts("a.py"), FixedDetector(), lambda: NOON)
    policy = ChunkPolicy(target_characters=800, overlap_characters=0)
    assert [c.heading_path for c in chunk_document(made, policy, None)] == [("one",), ("two",)]
    (both,) = chunk_document(made, ChunkPolicy(), None)
    assert both.heading_path == ()


def test_a_document_without_text_has_no_chunks() -> None:
    assert chunk_document(document(), ChunkPolicy(), None) == []
    assert chunk_document(document(("image_ref", "")), ChunkPolicy(), None) == []


def test_a_picture_without_words_belongs_to_the_chunk_around_it() -> None:
    made = document(("paragraph", "Words."), ("image_ref", ""))
    (chunk,) = chunk_document(made, ChunkPolicy(), None)
    assert chunk.text == "Words."
    assert len(chunk.block_ids) == 2


@pytest.mark.parametrize("mode", ["fixd", "parent_child"])
def test_a_mode_that_is_not_there_is_refused(mode: str) -> None:
    with pytest.raises(InvalidInput, match=mode):
        chunk_document(document(("paragraph", "x")), ChunkPolicy(mode=mode), None)  # type: ignore[arg-type]


WORD = st.sampled_from(
    ["alpha", "beta,", "gamma.", "지식을", "知识", "。", "日本！", "e\u0301", "👨‍👩‍👧", "x=1;", "\n", "\n\n", "  ", "-"]
)
TEXT = (
    st.lists(WORD, min_size=1, max_size=120)
    .map(" ".join)
    .map(lambda t: unicodedata.normalize("NFC", t).strip())
    .filter(bool)
)
KIND = st.sampled_from(["h1", "h2", "h3", "paragraph", "paragraph", "list", "code", "table", "quote", "image_ref"])
PIECES = st.lists(st.tuples(KIND, TEXT), max_size=14).map(
    lambda pieces: [(kind, " ".join(text.split()) if kind[0] == "h" else text) for kind, text in pieces]
)
POLICY = st.builds(
    lambda target, overlap, cap: ChunkPolicy(
        target_characters=target, overlap_characters=target * overlap // 100, max_tokens=cap
    ),
    st.integers(400, 2000),
    st.integers(0, 40),
    st.sampled_from([None, 60, 120, 500]),
)


def covered(made: CanonicalDocument, chunks: list[Chunk]) -> None:
    """Every line with words is in a chunk, in order; what a segment holds is what its block says."""
    lines = {
        span.start
        for block in made.blocks
        for segment in block.parsed.segments
        if isinstance(span := segment.span, LineSpan) and block.parsed.text[segment.start : segment.end].strip()
    }
    found: dict[int, str] = {}
    for chunk in chunks:
        end = 0
        for segment in chunk.segments:
            assert end <= segment.start < segment.end <= len(chunk.text)
            assert isinstance(segment.span, LineSpan)
            end = segment.end
            piece = chunk.text[segment.start : segment.end]
            found[segment.span.start] = found.get(segment.span.start, "") + piece
    assert set(found) >= lines
    assert list(found) == sorted(found)
    for block in made.blocks:
        for segment in block.parsed.segments:
            assert isinstance(segment.span, LineSpan)
            line = block.parsed.text[segment.start : segment.end]
            assert "".join(found.get(segment.span.start, "").split()) == "".join(line.split())


@settings(max_examples=250, deadline=None)
@given(PIECES, POLICY)
def test_nothing_is_lost_doubled_or_too_long(pieces: list[tuple[str, str]], policy: ChunkPolicy) -> None:
    made = document(*pieces)
    tokenizer = PieceTokenizer()
    chunks = chunk_document(made, policy, tokenizer)
    covered(made, chunks)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    assert all(chunk.text.strip() and chunk.segments for chunk in chunks)
    assert all(len(chunk.text) <= policy.target_characters * 1.25 for chunk in chunks)
    if policy.max_tokens:
        assert all(tokenizer.count(chunk.text) <= policy.max_tokens for chunk in chunks)
    used = [block_id for chunk in chunks for block_id in dict.fromkeys(chunk.block_ids)]
    assert [a for a, b in pairwise(used) if a != b] + used[-1:] == list(dict.fromkeys(used))
    assert chunk_document(made, policy, PieceTokenizer()) == chunks


@given(TEXT)
def test_a_text_that_surely_fits_fits(text: str) -> None:
    tokenizer = PieceTokenizer()
    for cap in (10, 40, 160):
        if Measure(tokenizer).surely_fits(text, Room(10_000, cap)):
            assert tokenizer.count(text) <= cap


def test_the_estimate_grows_with_the_script() -> None:
    assert estimate("") == 1
    assert estimate("a" * 400) == 101
    assert estimate("가" * 150) in range(90, 130)


def test_every_kind_of_block_can_be_cut() -> None:
    for kind in BlockKind:
        name = "h1" if kind is BlockKind.HEADING else kind.value
        made = document((name, LONG))
        assert max(len(chunk.text) for chunk in chunk_document(made, SMALL, None)) <= 400
