"""Golden queries made of what a person asked and says is right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from kb.answering.ports import AnswerRecord
from kb.contract.suites import EvalAddRequest
from kb.domain.catalogue import ItemRow
from kb.domain.citations import Citation, cite
from kb.domain.documents import DocumentSummary
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.ids import id_from
from kb.domain.paths import WorkspacePath, workspace_path
from kb.domain.reading import KeptChunk
from kb.domain.recipes import ChunkId, DocumentId
from kb.evaluation.suites import GoldenQuery

_ID = re.compile(r"[0-9a-f]{32}\Z")


class Names(Protocol):
    """Documents and files by their names."""

    def document(self, doc_id: DocumentId) -> DocumentSummary | None:
        """Return one document."""

    def item_at(self, path: WorkspacePath) -> ItemRow | None:
        """Return the item at a path."""


class Golden:
    """Makes golden queries.

    Args:
        names: looks documents and files up.
        chunk: looks a chunk up, also of an earlier version.
        answer: looks a kept answer up.
    """

    def __init__(
        self,
        names: Names,
        chunk: Callable[[ChunkId], KeptChunk | None],
        answer: Callable[[str], AnswerRecord | None],
    ) -> None:
        self._names = names
        self._chunk = chunk
        self._answer = answer

    def of(self, request: EvalAddRequest) -> GoldenQuery:
        """Return what is to be added.

        Raises:
            InvalidInput: there is no question, nothing is expected, or what is does not go together.
            NotFound: there is no such answer, document or chunk.
        """
        query, expected, refuse = request.query, request.expected, request.refuse
        if (query is None) == (request.trace_id is None):
            raise InvalidInput("give a question or the trace of an answer", hint="--query Q, or --answer TRACE")
        if request.trace_id is not None:
            query, expected, refuse = self._of_answer(request.trace_id, expected, refuse=refuse)
        if refuse == bool(expected):
            raise InvalidInput(
                "say what is right: documents, citations or chunks, or that it should be refused",
                hint="--expect notes/a.md, --expect notes/a.md#L3-L9, or --refuse",
            )
        question = str(query)
        docs, chunks, spans = self._sorted(expected)
        return GoldenQuery(
            query_id=request.query_id or f"q-{id_from({'kind': 'golden', 'query': question})[:8]}",
            query=question,
            lang=request.lang,
            expected_docs=docs,
            expected_chunk_ids=chunks,
            expected_spans=spans,
            tags=request.tags,
            note=request.note,
        )

    def _of_answer(
        self, trace_id: str, expected: tuple[str, ...], *, refuse: bool
    ) -> tuple[str, tuple[str, ...], bool]:
        record = self._answer(trace_id)
        if record is None:
            raise NotFound(f"there is no kept answer {trace_id[:64]!r}", hint="`kb ask --explain` prints the trace id")
        answer = record.answer
        if expected or refuse:
            return answer.question, expected, refuse
        cited = tuple(dict.fromkeys(str(one.chunk_id) for one in answer.citations if one.marker is not None))
        return answer.question, cited, not answer.grounded

    def _sorted(self, expected: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Return documents, chunks and places; chunks beside places become places."""
        docs: list[str] = []
        spans: list[str] = []
        chunks: list[tuple[str, str]] = []
        for one in dict.fromkeys(expected):
            if "#" in one:
                spans.append(Citation.parse(one).to_uri())
            elif _ID.match(one):
                self._of_id(one, docs, chunks)
            else:
                path = workspace_path(one)
                if self._names.item_at(path) is None:
                    raise NotFound(f"there is no document {path}", hint="`kb list docs` shows what there is")
                docs.append(str(path))
        if docs and (spans or chunks):
            raise InvalidInput("whole documents and places do not go together", hint="expect one kind of them")
        if spans:
            return (), (), (*spans, *(uri for _, uri in chunks))
        return tuple(docs), tuple(chunk for chunk, _ in chunks), tuple(uri for _, uri in chunks)

    def _of_id(self, one: str, docs: list[str], chunks: list[tuple[str, str]]) -> None:
        kept = self._chunk(ChunkId(one))
        if kept is not None:
            chunks.append((one, cite(kept.stored.path, kept.stored.chunk.source_spans, None).to_uri()))
            return
        document = self._names.document(DocumentId(one))
        if document is None:
            raise NotFound(f"there is no document or chunk {one}", hint="`kb search --explain` prints chunk ids")
        docs.append(str(document.workspace_path))
