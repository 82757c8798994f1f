"""`names.v1` and `parsed_query.v1`: files by their names, and a query taken apart."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Open, Request, Wire
from kb.contract.search import MAX_QUERY, Highlight


class NamesRequest(Request):
    """Part of a file's name, as it is, misspelled, or as Korean initial consonants."""

    query: str = Field(min_length=1, max_length=200, pattern=r"\S")
    limit: int = Field(default=20, ge=1, le=100)


class NamedItem(Wire):
    """An item found by its name; `highlights` are places in `path`."""

    item_id: str
    path: str
    match: Annotated[Literal["exact", "start", "word_start", "inside", "initials", "typo"], Open]
    highlights: tuple[Highlight, ...]


class Names(Wire):
    """Items by their names: exact, then by starts, by words, inside, by initials, misspelled; equals by path."""

    schema_version: Literal["names.v1"] = "names.v1"
    items: tuple[NamedItem, ...]


class ParseRequest(Request):
    """What stands in the search box; empty too."""

    query: str = Field(max_length=MAX_QUERY)


class QueryChip(Wire):
    """A filter or phrase at the code points `start` to `end` (half open) of the query; `value` is without its marks."""

    kind: Annotated[Literal["phrase", "word", "tag", "path", "lang", "type", "trust", "in", "after", "before"], Open]
    value: str
    start: int
    end: int
    negated: bool


class QueryProblem(Wire):
    """What cannot be meant, at the code points `start` to `end` (half open), and the remedy."""

    start: int
    end: int
    message: str
    hint: str


class ParsedQuery(Wire):
    """A query taken apart: `text` is what is looked for, `written` the query in its plainest form."""

    schema_version: Literal["parsed_query.v1"] = "parsed_query.v1"
    chips: tuple[QueryChip, ...]
    text: str
    written: str
    problems: tuple[QueryProblem, ...]
