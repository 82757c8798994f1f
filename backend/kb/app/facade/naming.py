"""`search.names` and `search.parse`: files by their names, and queries taken apart."""

from __future__ import annotations

from kb.contract import names as wire
from kb.contract.search import Highlight
from kb.retrieval.names import NameHit, NameSearch
from kb.retrieval.query_syntax import parse, to_text


class Naming:
    """Finds files by their names."""

    def __init__(self, names: NameSearch) -> None:
        self._names = names

    def names(self, request: wire.NamesRequest) -> wire.Names:
        """Return items by their names, best first."""
        return wire.Names(items=tuple(map(_item, self._names.named(request.query, request.limit))))


def parsed(request: wire.ParseRequest) -> wire.ParsedQuery:
    """Take a query apart, for its chips."""
    query = parse(request.query)
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
        highlights=tuple(Highlight(start=mark.start, end=mark.end) for mark in hit.highlights),
    )
