"""`graph_state.v1` and `graph_links.v1`: links between files, as one more way to find passages."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Open, Request, Wire

LinkKind = Literal["wiki", "link", "tag", "heading", "manual"]
_Doc = Annotated[str, Field(min_length=1, max_length=4_000)]


class GraphStateRequest(Request):
    """How many targets that are not clear to list."""

    limit: int = Field(default=50, ge=0, le=500)


class OpenTarget(Wire):
    """A link that may mean several files, or none."""

    doc_path: str
    kind: Annotated[Literal["wiki", "link", "heading"], Open]
    target: str
    outcome: Annotated[Literal["ambiguous", "unresolved"], Open]


class GraphState(Wire):
    """The links of the library.

    `state`: off while `graph.enabled` is; on_demand when no links were read yet; waiting when some are not; failed when
    the last reading was. Of links by kind a pair of files that shares two tags counts twice.
    """

    schema_version: Literal["graph_state.v1"] = "graph_state.v1"
    state: Annotated[Literal["off", "on_demand", "waiting", "running", "done", "failed"], Open]
    documents: int
    documents_read: int
    links: dict[str, int]
    removed: int
    ambiguous: int
    unresolved: int
    open_targets: tuple[OpenTarget, ...]
    error: str | None = None


class GraphLinksRequest(Request):
    """A file by its path or id, and which page of its links."""

    doc: _Doc
    cursor: str | None = Field(default=None, max_length=20)
    limit: int = Field(default=100, ge=1, le=500)


class GraphLink(Wire):
    """One link: `out` leads to the other file, `in` comes from it; tags are shared and stand as `out`.

    `evidence`: the words of the link, the tag or heading, or what a person noted. `active` is false once a person took
    it away.
    """

    direction: Literal["out", "in"]
    item_id: str
    doc_path: str
    title: str
    kind: Annotated[LinkKind, Open]
    origin: Annotated[Literal["derived", "manual"], Open]
    active: bool
    evidence: str


class GraphLinks(Wire):
    """A page of the links of a file, those that lead out first."""

    schema_version: Literal["graph_links.v1"] = "graph_links.v1"
    item_id: str
    doc_path: str
    links: tuple[GraphLink, ...]
    next: str | None


class AddLinkRequest(Request):
    """Link two files by hand, in this direction; `note` says why."""

    source: _Doc
    target: _Doc
    note: str = Field(default="", max_length=200)


class LinkRequest(Request):
    """One link by its ends and kind, as `links` lists it."""

    source: _Doc
    target: _Doc
    kind: LinkKind = "manual"
