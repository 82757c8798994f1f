"""What can be seen of the library of this process's environment, in plain values that can be compared."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Sequence
from typing import Any

from kb.app.config_file import load_configuration
from kb.app.gateway import open_own_library
from kb.contract.chunks import ChunksRequest
from kb.contract.facade import Facade
from kb.contract.index import VerifyRequest
from kb.contract.library import DocumentsRequest
from kb.contract.search import FindRequest
from kb.contract.system import DoctorRequest
from tests.logical_state import logical_state

QUERIES = ("paragraph of note", "first note", "second third", "pages of a paper", "renamed 2", "common word 7")


def observation(*, whole: bool, queries: Sequence[str] = QUERIES) -> dict[str, Any]:
    """Return documents with their passages and what searches find; and, if `whole`, the rows and every check."""
    configuration = load_configuration()
    with open_own_library(configuration, owner="a test", wait_s=10.0) as facade:
        seen: dict[str, Any] = {"documents": _documents(facade), "searches": _searches(facade, queries)}
        if whole:
            verified = facade.index.verify(VerifyRequest())
            seen["problems"] = [check.model_dump(mode="json") for check in verified.checks if not check.ok]
            doctor = facade.system.doctor(DoctorRequest())
            seen["problems"] += [check.model_dump(mode="json") for check in doctor.checks if not check.ok]
    if whole:
        connection = sqlite3.connect(f"file:{configuration.data_dir / 'kb.sqlite'}?mode=ro", uri=True)
        try:
            seen["rows"] = {name: [repr(row) for row in rows] for name, rows in logical_state(connection).items()}
            seen["problems"] += [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            seen["problems"] += [repr(row) for row in connection.execute("PRAGMA foreign_key_check")]
        finally:
            connection.close()
    return seen


def _documents(facade: Facade) -> dict[str, list[str]]:
    """Return the chunk ids of every document, in order."""
    found: dict[str, list[str]] = {}
    cursor: str | None = None
    while True:
        page = facade.library.documents(DocumentsRequest(cursor=cursor, limit=500))
        for document in page.documents:
            chunks = facade.chunks.list(ChunksRequest(doc=document.doc_id, limit=200))
            found[document.doc_path] = [chunk.chunk_id for chunk in chunks.chunks]
        cursor = page.next
        if cursor is None:
            return found


def _searches(facade: Facade, queries: Sequence[str]) -> list[list[Any]]:
    found = []
    for query in queries:
        for mode in ("lexical", "vector", "hybrid"):
            reply = facade.search.find(FindRequest.model_validate({"query": query, "mode": mode, "top_k": 10}))
            hits = [
                [hit.doc_path, hit.chunk_id, hit.citation.uri, hit.snippet, round(hit.score, 5)]
                for hit in reply.results
            ]
            found.append([query, mode, hits])
    return found


if __name__ == "__main__":
    print(json.dumps(observation(whole=True, queries=sys.argv[1:])))
