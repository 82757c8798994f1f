"""Suites: questions with what has to be found, or refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kb.domain.ids import Json, id_from
from kb.domain.search import SearchFilters, SearchMode

Level = Literal["chunk", "span", "doc"]


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that has to be found.

    Attributes:
        level: what a hit is held to: the same chunk, half of the same place, or the same document.
        chunk_id: of level `chunk`.
        uri: the place as a citation; of level `span`, and of a chunk whose place is known.
        doc: the document, as id or path; of level `doc`.
    """

    level: Level
    chunk_id: str | None = None
    uri: str | None = None
    doc: str | None = None

    @property
    def key(self) -> str:
        """Return what names it within its question."""
        return self.chunk_id or self.uri or self.doc or ""


@dataclass(frozen=True, slots=True)
class GoldenQuery:
    """A question and what is right. Nothing expected means: it should be refused.

    Attributes:
        query_id: unique in its suite.
        mode: None takes the mode of the run.
        expected_doc_ids: documents by id.
        expected_docs: documents by workspace path.
        expected_chunk_ids: passages by id.
        expected_spans: places as citation URIs; beside chunk ids, as many, the places of those chunks in order.
        tags: what kind of question it is; figures are given per tag.
    """

    query_id: str
    query: str
    lang: str | None = None
    mode: SearchMode | None = None
    filters: SearchFilters = field(default_factory=SearchFilters)
    expected_doc_ids: tuple[str, ...] = ()
    expected_docs: tuple[str, ...] = ()
    expected_chunk_ids: tuple[str, ...] = ()
    expected_spans: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    note: str = ""

    @property
    def should_refuse(self) -> bool:
        """Return whether nothing in the library answers it."""
        return not self.targets

    @property
    def targets(self) -> tuple[Target, ...]:
        """Return what is expected at the most precise level given: chunks, else places, else documents."""
        if self.expected_chunk_ids:
            places = self.expected_spans or (None,) * len(self.expected_chunk_ids)
            pairs = zip(self.expected_chunk_ids, places, strict=True)
            return tuple(Target("chunk", chunk_id=chunk, uri=uri) for chunk, uri in pairs)
        if self.expected_spans:
            return tuple(Target("span", uri=uri) for uri in self.expected_spans)
        return tuple(Target("doc", doc=doc) for doc in (*self.expected_doc_ids, *self.expected_docs))

    def to_json(self) -> dict[str, Json]:
        """Return all that can change a result."""
        return {
            "id": self.query_id,
            "query": self.query,
            "mode": self.mode.value if self.mode else None,
            "filters": repr(self.filters),
            "targets": [target.key for target in self.targets],
        }


@dataclass(frozen=True, slots=True)
class Suite:
    """Questions under one name, in the order of their file."""

    name: str
    queries: tuple[GoldenQuery, ...]
    description: str = ""

    def hash(self) -> str:
        """Return the id of what is asked and expected; names, notes and tags are no part of it."""
        return id_from({"kind": "suite", "queries": [query.to_json() for query in self.queries]})
