"""What is told while it happens: pieces of an answer, changes of the library, progress."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from kb.contract.answer_parts import Claim
from kb.contract.answers import Answer
from kb.contract.base import Open, Wire, absent_when_none
from kb.contract.jobs import Job
from kb.contract.retrieval import RetrievalResponse
from kb.contract.system import Problem


class Token(Wire):
    """A piece of the answer's text, as it is written. With `withdrawn`, all text so far no longer counts."""

    schema_version: Literal["token.v1"] = "token.v1"
    text: str
    withdrawn: str | None = absent_when_none


class CheckedClaim(Wire):
    """The claim number `index` (from 0) of the answer, checked."""

    schema_version: Literal["claim.v1"] = "claim.v1"
    index: int
    claim: Claim


class StreamEvent(NamedTuple):
    """One event of a streamed answer: `retrieval` first, `answer` or `error` last."""

    name: Literal["retrieval", "token", "claim", "answer", "error"]
    data: RetrievalResponse | Token | CheckedClaim | Answer | Problem


class Event(Wire):
    """Something changed (`changed` says what, so that a page knows what to ask again), or a job moved."""

    schema_version: Literal["event.v1"] = "event.v1"
    kind: Annotated[Literal["changed", "progress"], Open]
    changed: tuple[
        Annotated[Literal["documents", "items", "index", "answers", "jobs", "collections", "settings"], Open], ...
    ] = ()
    job: Job | None = None
