"""A query taken apart, as the filters of a search."""

from __future__ import annotations

from kb.domain.errors import InvalidInput
from kb.domain.metadata import TrustLevel
from kb.domain.search import SearchFilters
from kb.retrieval.query_syntax import ParsedQuery, PartKind, QueryProblem
from kb.retrieval.query_values import day_of, glob_of


def filters_of(query: ParsedQuery) -> SearchFilters:
    """Return the filters of a query without problems; `collections` holds what was typed, names or ids.

    Raises:
        InvalidInput: the query has a problem, or looks for nothing; the message says at which character.
    """
    if query.problems:
        raise refusal(query.problems[0])
    if not query.text:
        raise InvalidInput("the query only filters and looks for nothing", hint="add a word to look for")

    def values(kind: PartKind, *, negated: bool = False) -> tuple[str, ...]:
        found = (part.value for part in query.parts if part.kind is kind and part.negated is negated)
        return tuple(dict.fromkeys(found))

    def only(kind: PartKind) -> str | None:
        return next(iter(values(kind)), None)

    path, trust, after, before = (only(kind) for kind in _SINGLE)
    return SearchFilters(
        tags_any=values(PartKind.TAG),
        lang=only(PartKind.LANG),
        path_glob=glob_of(path) if path is not None else None,
        trust_min=TrustLevel(trust.casefold()) if trust is not None else None,
        source_types=tuple(value.casefold() for value in values(PartKind.TYPE)),
        collections=values(PartKind.IN),
        changed_from=day_of("after", after) if after is not None else None,
        changed_to=day_of("before", before) if before is not None else None,
        phrases=values(PartKind.PHRASE),
        excluded=(*values(PartKind.WORD, negated=True), *values(PartKind.PHRASE, negated=True)),
    )


def refusal(problem: QueryProblem) -> InvalidInput:
    """Return a problem as the error of a search; the first character is number 1."""
    return InvalidInput(f"{problem.message} (character {problem.start + 1})", hint=problem.hint)


_SINGLE = (PartKind.PATH, PartKind.TRUST, PartKind.AFTER, PartKind.BEFORE)
