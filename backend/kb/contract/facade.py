"""The whole facade as its callers see it, and the method table read from its annotations."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeGuard, TypeVar, get_type_hints

from kb.contract.base import Request, Wire
from kb.contract.events import Event
from kb.contract.groups import (
    AnswersGroup,
    BackupGroup,
    ChunksGroup,
    GenerationsGroup,
    IndexGroup,
    JobsGroup,
    LibraryGroup,
    SearchGroup,
    SystemGroup,
    VersionsGroup,
    ViewerGroup,
)
from kb.contract.retrieval_groups import ChunkingGroup, CollectionsGroup, ConnectionsGroup, EvaluationGroup, GraphGroup

_Model = TypeVar("_Model", bound=Wire)


class Subscription(Protocol):
    """Events from the moment of subscribing on, or from an earlier one."""

    last_id: str
    """Of the event that `next` gave last."""

    def next(self, timeout_s: float) -> Event | None:
        """Wait for the next event; None when none came in time."""

    def close(self) -> None:
        """Receive no more."""


class EventsGroup(Protocol):
    """What happens in the library."""

    def subscribe(self, after: str | None = None) -> Subscription:
        """Start to listen; with `after`, an event's id, also to what happened since."""


class Facade(Protocol):
    """Everything a page, a command or a shell may ask for."""

    @property
    def library(self) -> LibraryGroup:
        """The workspace and its documents."""

    @property
    def versions(self) -> VersionsGroup:
        """What documents have been, and what is let go of."""

    @property
    def search(self) -> SearchGroup:
        """Finding passages."""

    @property
    def collections(self) -> CollectionsGroup:
        """Named sets of items."""

    @property
    def answers(self) -> AnswersGroup:
        """Answers from the workspace."""

    @property
    def chunks(self) -> ChunksGroup:
        """Chunks as they are stored."""

    @property
    def chunking(self) -> ChunkingGroup:
        """How files are cut."""

    @property
    def viewer(self) -> ViewerGroup:
        """Opening the place of a citation."""

    @property
    def jobs(self) -> JobsGroup:
        """Long work."""

    @property
    def index(self) -> IndexGroup:
        """The projections of the library."""

    @property
    def generations(self) -> GenerationsGroup:
        """Complete sets of index data, of which one serves."""

    @property
    def connections(self) -> ConnectionsGroup:
        """Which models are used, where they run, and their keys."""

    @property
    def graph(self) -> GraphGroup:
        """Links between files."""

    @property
    def evaluation(self) -> EvaluationGroup:
        """How good search is."""

    @property
    def backup(self) -> BackupGroup:
        """The whole library in one file."""

    @property
    def system(self) -> SystemGroup:
        """The program itself."""

    @property
    def events(self) -> EventsGroup:
        """What happens in the library."""


@dataclass(frozen=True, slots=True)
class Method:
    """One call: `POST /api/v1/<group>/<name>`."""

    group: str
    name: str
    request: type[Request]
    reply: type[Wire]
    summary: str


def methods_of(groups: Mapping[str, type]) -> tuple[Method, ...]:
    """Return the methods that take one request and give one reply, by group and name."""
    return tuple(method for group, cls in sorted(groups.items()) for method in _methods(group, cls))


def contract_groups() -> dict[str, type]:
    """Return the groups of `Facade` with the Protocol of each."""
    found = {}
    for name, member in vars(Facade).items():
        if isinstance(member, property) and member.fget is not None:
            found[name] = get_type_hints(member.fget)["return"]
    return found


def _methods(group: str, cls: type) -> Iterator[Method]:
    for name, function in sorted(inspect.getmembers(cls, inspect.isfunction)):
        if name.startswith("_"):
            continue
        hints = get_type_hints(function)
        reply = hints.pop("return", None)
        request = hints.get("request")
        if len(hints) == 1 and _is(request, Request) and _is(reply, Wire):
            summary = (inspect.getdoc(function) or "").partition("\n")[0]
            yield Method(group, name, request, reply, summary)


def _is(candidate: object, cls: type[_Model]) -> TypeGuard[type[_Model]]:
    return isinstance(candidate, type) and issubclass(candidate, cls)
