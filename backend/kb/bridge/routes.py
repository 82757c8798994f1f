"""The routes: one for each method of the facade, and the few GETs a viewer needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from kb.bridge.access import COOKIE, Access
from kb.bridge.door import API, HEALTH, SESSION
from kb.bridge.files import Conditions, file_reply
from kb.bridge.openapi import openapi_text
from kb.bridge.replies import Handler, asked, guarded, in_worker, problem_reply, wire_reply
from kb.bridge.streams import Streams
from kb.bridge.workers import Workers
from kb.contract.answers import AskRequest
from kb.contract.facade import Facade, Method, contract_groups, methods_of
from kb.contract.problems import problem
from kb.contract.system import Session, SessionRequest


def add_routes(app: FastAPI, facade: Facade, access: Access, workers: Workers, streams: Streams) -> None:
    """Add every route of contracts section 8."""
    for method in methods_of(contract_groups()):
        call = getattr(getattr(facade, method.group), method.name)
        is_ask = (method.group, method.name) == ("answers", "ask")
        handler = _method_handler(method, call, streams.workers if is_ask else workers)
        if is_ask:
            handler = _ask_handler(handler, facade, streams)
        _add(app, "POST", f"{API}/{method.group}/{method.name}", handler)
    _add(app, "POST", SESSION, _session_handler(access))
    _add(app, "GET", f"{API}/files/{{item_id}}", _file_handler(facade, workers))
    _add(app, "GET", f"{API}/sources/{{item_id}}/markdown", _markdown_handler(facade, workers))
    _add(app, "GET", f"{API}/events", _events_handler(facade, streams))
    _add(app, "GET", HEALTH, _health)
    _add(app, "GET", f"{API}/openapi.json", _openapi)


def _add(app: FastAPI, method: str, path: str, handler: Handler) -> None:
    methods = ["GET", "HEAD"] if method == "GET" else [method]
    app.add_route(path, guarded(handler), methods=methods, include_in_schema=False)


def _method_handler(method: Method, call: Callable[[Any], Any], workers: Workers) -> Handler:
    async def handle(request: Request) -> Response:
        body = await asked(request, method.request)
        return wire_reply(await in_worker(workers, lambda: call(body)))

    return handle


def _ask_handler(whole: Handler, facade: Facade, streams: Streams) -> Handler:
    async def handle(request: Request) -> Response:
        if "text/event-stream" not in request.headers.get("accept", ""):
            return await whole(request)
        return streams.answer(facade, await asked(request, AskRequest))

    return handle


def _session_handler(access: Access) -> Handler:
    async def handle(request: Request) -> Response:
        body = await asked(request, SessionRequest)
        if not access.redeem(body.code):
            hint = "start `kb serve` again for a new address"
            return problem_reply(
                problem(401, "unauthorized", "this address was used already, or is not ours", hint=hint)
            )
        reply = wire_reply(Session(token=access.token))
        reply.set_cookie(COOKIE, access.cookie, path=f"{API}/", httponly=True, samesite="strict")
        return reply

    return handle


def _file_handler(facade: Facade, workers: Workers) -> Handler:
    async def handle(request: Request) -> Response:
        item_id, doc_id = _names(request)
        rendition = request.query_params.get("rendition")
        conditions = Conditions(
            ranges=request.headers.get("range"),
            if_range=request.headers.get("if-range"),
            if_none_match=request.headers.get("if-none-match"),
        )
        is_head = request.method == "HEAD"

        def read() -> Response:
            return file_reply(facade.viewer.file(item_id, doc_id, rendition), conditions, head=is_head)

        reply: Response = await in_worker(workers, read)
        return reply

    return handle


def _markdown_handler(facade: Facade, workers: Workers) -> Handler:
    async def handle(request: Request) -> Response:
        item_id, doc_id = _names(request)
        text = await in_worker(workers, lambda: facade.viewer.markdown(item_id, doc_id))
        return Response(text, media_type="text/markdown")

    return handle


def _events_handler(facade: Facade, streams: Streams) -> Handler:
    async def handle(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        # As the browser sends it when it comes back by itself.
        after = request.headers.get("last-event-id")
        return streams.listen(lambda: facade.events.subscribe(after))

    return handle


async def _health(_request: Request) -> Response:
    return PlainTextResponse("ok")


async def _openapi(_request: Request) -> Response:
    return Response(openapi_text(), media_type="application/json")


def _names(request: Request) -> tuple[str, str | None]:
    return request.path_params["item_id"], request.query_params.get("doc_id")
