"""Replies: wire objects, problems, and what is said about an error nobody foresaw."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from kb.bridge.workers import Workers
from kb.contract import base
from kb.contract.problems import problem, problem_of, problem_of_bug, problem_of_invalid
from kb.contract.system import Problem

_LOG = logging.getLogger("kb.bridge")
_Asked = TypeVar("_Asked", bound=base.Request)
_CODES = {404: "no_such_route", 405: "method_not_allowed"}

Handler = Callable[[Request], Awaitable[Response]]


def wire_reply(reply: base.Wire) -> Response:
    """Return a wire object as JSON."""
    return Response(reply.model_dump_json(), media_type="application/json")


def problem_reply(found: Problem) -> Response:
    """Return a problem with its status."""
    return Response(found.model_dump_json(), found.status, media_type="application/problem+json")


def explain(error: Exception) -> Problem:
    """Return what may be said about `error`; a bug goes to the log, with an incident to find it by."""
    known = problem_of(error)
    if known is not None:
        return known
    incident = secrets.token_hex(4)
    _LOG.error("incident %s", incident, exc_info=error)
    return problem_of_bug(incident)


def guarded(handler: Callable[..., Awaitable[Response]]) -> Handler:
    """Turn every error of `handler` into a problem."""

    async def safe(request: Request) -> Response:
        try:
            return await handler(request)
        except ValidationError as error:
            if getattr(error, "__notes__", None) == [_ASKED]:
                return problem_reply(problem_of_invalid(error))
            return problem_reply(explain(error))
        except Exception as error:  # noqa: BLE001 - the edge: nothing may pass it unexplained
            return problem_reply(explain(error))

    return safe


async def asked(request: Request, model: type[_Asked]) -> _Asked:
    """Read the body of a request.

    Raises:
        ValidationError: it is not what `model` says, and that is the caller's fault.
    """
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        # the same error raised by a reply is a bug of ours, not of the caller
        error.add_note(_ASKED)
        raise


async def in_worker(workers: Workers, function: Callable[[], Any]) -> Any:  # noqa: ANN401 - as the function says
    """Run `function` in a worker thread and wait; it goes on when the waiting is cancelled."""
    return await asyncio.wrap_future(workers.submit(function))


async def on_http_error(_request: Request, error: Exception) -> Response:
    """Explain what the router refuses: no such route, another method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = "there is nothing here" if status == 404 else "this route is not called like that"  # noqa: PLR2004
    return problem_reply(problem(status, _CODES.get(status, "bad_request"), detail))


_ASKED = "in the request"
