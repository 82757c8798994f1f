"""`search.names` and `search.parse`: files by their names, and queries taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kb.contract import names as wire
from kb.contract.search import Highlight
from kb.domain.names import NameHit
from kb.retrieval.query_syntax import ParsedQuery, parse, to_text


class NameSearch(Protocol):
    """Files by their names."""

    def named(self, query: str, limit: int) -> Sequence[NameHit]:
        """Return items of the workspace, best first, those equally good by path; none for a query without letters.

        Raises:
            StorageFailed: the library cannot be read.
        """


class Naming:
    """Finds files by their names, and takes queries apart."""

    def __init__(self, names: NameSearch) -> None:
        self._names = names

    def names(self, request: wire.NamesRequest) -> wire.Names:
        """Return items by their names, best first."""
        return names_to_wire(self._names.named(request.query, request.limit))

    def parse(self, request: wire.ParseRequest) -> wire.ParsedQuery:
        """Take a query apart, for its chips."""
        return parsed_to_wire(parse(request.query))


def names_to_wire(hits: Sequence[NameHit]) -> wire.Names:
    """Return named items as `names.v1`."""
    return wire.Names(items=tuple(map(_item, hits)))


def parsed_to_wire(query: ParsedQuery) -> wire.ParsedQuery:
    """Return a query taken apart as `parsed_query.v1`."""
    return wire.ParsedQuery.model_validate(
        {
            "chips": [
                {
                    "kind": part.kind.value,
                    "value": part.value,
                    "start": part.start,
                    "end": part.end,
                    "negated": part.negated,
                }
                for part in query.filters
            ],
            "text": query.text,
            "written": to_text(query),
            "problems": [
                {"start": found.start, "end": found.end, "message": found.message, "hint": found.hint}
                for found in query.problems
            ],
        },
        strict=False,
    )


def _item(hit: NameHit) -> wire.NamedItem:
    return wire.NamedItem(
        item_id=hit.item_id,
        path=hit.path,
        match=hit.match.word,
        highlights=tuple(Highlight(start=start, end=end) for start, end in hit.highlights),
    )
