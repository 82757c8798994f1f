"""Rules and settings of a collection, as they are given and as they are shown."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Open, Request, Wire


class RuleGiven(Request):
    """Files that belong by themselves: those below a folder or of a glob, with a tag, or of a type."""

    kind: Literal["folder", "tag", "type"]
    value: str = Field(min_length=1, max_length=1_000)


class OwnChunking(Request):
    """How the files of a collection are cut (PRD section 8.1), in characters; overlap is at most 40 % of the target."""

    mode: Literal["fixed", "structure", "parent-child"] = "structure"
    target_characters: int = Field(default=1_600, ge=400, le=8_000)
    overlap_characters: int = Field(default=160, ge=0, le=3_200)
    parent_characters: int = Field(default=4_800, ge=1_600, le=16_000)
    child_characters: int = Field(default=900, ge=300, le=4_000)


class OwnRetrieval(Request):
    """Settings of searches in one collection (PRD section 7.3); what is left out is as the workspace has it."""

    top_k: int | None = Field(default=None, ge=1, le=20)
    minimum_vector_similarity: float | None = Field(default=None, ge=0, le=1)
    fts_weight: float | None = Field(default=None, ge=0, le=2)
    vector_weight: float | None = Field(default=None, ge=0, le=2)
    graph_weight: float | None = Field(default=None, ge=0, le=2)
    candidate_multiplier: int | None = Field(default=None, ge=2, le=10)
    context_max_characters: int | None = Field(default=None, ge=2_000, le=48_000)
    adjacent_chunk_count: int | None = Field(default=None, ge=0, le=2)
    rerank: Literal["off", "local", "model"] | None = None
    fusion: Literal["score", "rrf"] | None = None


class CollectionRule(Wire):
    """Files that belong by themselves."""

    kind: Annotated[Literal["folder", "tag", "type"], Open]
    value: str


class CollectionChunking(Wire):
    """How the files of a collection are cut, in characters."""

    mode: Annotated[Literal["fixed", "structure", "parent-child"], Open]
    target_characters: int
    overlap_characters: int
    parent_characters: int
    child_characters: int


class CollectionRetrieval(Wire):
    """Settings of searches in one collection; null is as the workspace has it."""

    top_k: int | None = None
    minimum_vector_similarity: float | None = None
    fts_weight: float | None = None
    vector_weight: float | None = None
    graph_weight: float | None = None
    candidate_multiplier: int | None = None
    context_max_characters: int | None = None
    adjacent_chunk_count: int | None = None
    rerank: Annotated[Literal["off", "local", "model"], Open] | None = None
    fusion: Annotated[Literal["score", "rrf"], Open] | None = None
