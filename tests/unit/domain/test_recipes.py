"""The id recipes: golden vectors, and what changes which id (frozen design section 4.3)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import pytest

from kb.domain.ids import content_hash
from kb.domain.paths import workspace_path
from kb.domain.recipes import asset_id, block_id, chunk_id, document_id, embedding_id, index_id


@dataclass(frozen=True)
class Facts:
    content: bytes = b"# Title\n\nWords.\n"
    path: str = "notes/kb.md"
    parser: str = "markdown-v1"
    chunker: str = "structure-v1"
    policy: str = "p0"
    model: str = "multilingual-e5-small"
    model_version: str = "v1"
    dimensions: int = 384
    index_kind: str = "hnsw"


@dataclass(frozen=True)
class Ids:
    asset: str
    doc: str
    block: str
    chunk: str
    embedding: str
    index: str


def ids(facts: Facts) -> Ids:
    asset = asset_id(content_hash(facts.content))
    doc = document_id(workspace_path(facts.path), asset, facts.parser)
    block = block_id(
        doc,
        block_kind="paragraph",
        heading_path=["Title"],
        ordinal=1,
        source_span={"kind": "line", "start": 3, "end": 3},
    )
    chunk = chunk_id(doc, chunker_version=facts.chunker, block_ids=[block], policy_hash=facts.policy)
    embedding = embedding_id(
        chunk, model_id=facts.model, model_version=facts.model_version, dimensions=facts.dimensions
    )
    index = index_id(
        collection="default",
        embedding_model=facts.model,
        dimensions=facts.dimensions,
        index_version="v1.0",
        index_kind=facts.index_kind,
        index_params_hash="h0",
    )
    return Ids(asset, doc, block, chunk, embedding, index)


def test_ids_are_what_they_have_always_been() -> None:
    assert asdict(ids(Facts())) == GOLDEN


@pytest.mark.parametrize(
    ("change", "affected"),
    [
        ({"content": b"# Title\n\nOther words.\n"}, {"asset", "doc", "block", "chunk", "embedding"}),
        ({"path": "archive/kb.md"}, {"doc", "block", "chunk", "embedding"}),
        ({"parser": "markdown-v2"}, {"doc", "block", "chunk", "embedding"}),
        ({"chunker": "structure-v2"}, {"chunk", "embedding"}),
        ({"policy": "p1"}, {"chunk", "embedding"}),
        ({"model": "bge-m3"}, {"embedding", "index"}),
        ({"model_version": "v2"}, {"embedding"}),
        ({"dimensions": 256}, {"embedding", "index"}),
        ({"index_kind": "flat"}, {"index"}),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_change_reaches_exactly_the_ids_that_depend_on_it(change: dict[str, object], affected: set[str]) -> None:
    before, after = asdict(ids(Facts())), asdict(ids(replace(Facts(), **change)))  # type: ignore[arg-type]
    assert {name for name in before if before[name] != after[name]} == affected


def test_a_path_written_in_another_way_gives_the_same_document() -> None:
    same = ["./notes/kb.md", "notes//kb.md", "notes/./kb.md"]
    assert {ids(replace(Facts(), path=path)).doc for path in same} == {ids(Facts()).doc}


def test_parts_of_split_blocks_have_ids_of_their_own() -> None:
    doc = document_id(workspace_path("a.md"), asset_id("0" * 64), "v1")
    made = {chunk_id(doc, chunker_version="c", block_ids=["b"], policy_hash="p", part=part) for part in (None, 0, 1, 2)}
    assert len(made) == 4


GOLDEN = {
    "asset": "db7428840befae3a545d52a223c89083",
    "doc": "b151711198f7a000778117e867b641e2",
    "block": "33c9f39fbffda7611ad6b870c1c63d6f",
    "chunk": "492b944d99efa6f5c7b0a68595eb4da5",
    "embedding": "0eaae3f993990e5a1a0e135d615b60b5",
    "index": "74039899ec6acacecd99caac6fc2b3f5",
}
