"""A document of any kind reads as Markdown: each of its blocks once, none of its text lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kb.app.rendering import markdown_of
from kb.domain.blocks import BlockKind, Code, Heading, Prose, Table
from kb.domain.chunks import ChunkPolicy
from kb.domain.documents import CanonicalDocument
from kb.domain.reading import KeptBlock
from kb.domain.spans import LineSpan, TimeSpan
from kb.ingest.chunking import chunk_document
from tests.fakes.parsing import document


def rendered(made: CanonicalDocument, policy: ChunkPolicy | None = None) -> str:
    blocks = [
        KeptBlock(b.block_id, b.parsed.kind, b.parsed.heading_path, b.parsed.span, b.parsed.payload)
        for b in made.blocks
    ]
    return markdown_of(blocks, chunk_document(made, policy or ChunkPolicy(), None))


def test_headings_paragraphs_lists_and_code_are_written_as_markdown() -> None:
    made = document(("h1", "Boats"), ("paragraph", "Anchors weigh."), ("list", "- a\n- b"), ("code", "x = `1`"))
    text = rendered(made)
    assert text.startswith("# Boats\n\nAnchors weigh.\n\n- a\n- b\n\n```")
    assert text.endswith("x = `1`\n```\n")


def test_a_table_is_written_from_its_cells_and_a_recording_with_its_times() -> None:
    blocks = [
        KeptBlock("1", BlockKind.TABLE, (), LineSpan(1, 3), Table(("a", "b|c"), (("1", "2"), ("3",)))),  # type: ignore[arg-type]
        KeptBlock("2", BlockKind.PARAGRAPH, (), TimeSpan(3_661_000, 3_662_000), Prose()),  # type: ignore[arg-type]
    ]
    chunk = chunk_document(document(("paragraph", "a | b|c\n\nask not")), ChunkPolicy(), None)[0]
    chunk = type(chunk)(
        **{**{n: getattr(chunk, n) for n in type(chunk).__slots__}, "block_ids": ("1", "2"), "segments": ()}
    )
    assert markdown_of(blocks, [chunk]) == (
        "| a | b\\|c |\n| --- | --- |\n| 1 | 2 |\n| 3 |  |\n\n**1:01:01** ask not\n"
    )


def test_nothing_is_written_of_nothing() -> None:
    assert markdown_of([], []) == ""


PIECES = st.tuples(
    st.sampled_from(["h1", "h2", "paragraph", "list"]),
    st.text("ab c.", min_size=1, max_size=120).map(lambda text: " ".join(text.split())).filter(bool),
)


@settings(deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=8), st.sampled_from([50, 200, 1600]), st.sampled_from([0, 20]))
def test_every_word_of_a_document_is_in_its_markdown_once(
    pieces: list[tuple[str, str]], target: int, overlap: int
) -> None:
    made = document(*pieces)
    policy = ChunkPolicy(target_characters=target, overlap_characters=overlap)
    letters = "".join("".join(block.parsed.text.split()) for block in made.blocks)
    assert "".join(rendered(made, policy).replace("#", "").split()) == letters
    assert rendered(made, policy) == rendered(made, policy)


def test_code_that_holds_a_fence_gets_a_longer_one() -> None:
    block = KeptBlock("1", BlockKind.CODE, (), LineSpan(1, 3), Code("md"))  # type: ignore[arg-type]
    chunk = chunk_document(document(("code", "```\nx\n```")), ChunkPolicy(), None)[0]
    chunk = type(chunk)(**{**{n: getattr(chunk, n) for n in type(chunk).__slots__}, "block_ids": ("1",)})
    assert markdown_of([block], [chunk]) == "````md\n```\nx\n```\n````\n"


def test_a_heading_keeps_its_level() -> None:
    assert Heading(2).level == 2
    assert rendered(document(("h1", "A"), ("h2", "B"), ("paragraph", "c"))) == "# A\n\n## B\n\nc\n"
