"""The OpenAPI 3.1 description, from the same table and schemas as the routes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from kb.bridge.door import API
from kb.contract.facade import Method, contract_groups, methods_of
from kb.contract.schemas import bundle

_Json = dict[str, Any]
_PROBLEM: _Json = {
    "description": "What went wrong (RFC 9457).",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


@cache
def openapi_text() -> str:
    """Return the description as JSON."""
    schemas = {name: _moved(schema) for name, schema in bundle()["$defs"].items()}
    for helper in ("Methods", "StreamEvents", "WireObjects"):
        schemas.pop(helper)
    paths = {
        f"{API}/{method.group}/{method.name}": {"post": _operation(method)} for method in methods_of(contract_groups())
    }
    return json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Kebab", "version": "1"},
            "security": [{"token": []}],
            "paths": {**paths, **_others()},
            "components": {
                "schemas": schemas,
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        },
        ensure_ascii=False,
    )


def _operation(method: Method) -> _Json:
    content: _Json = {"application/json": {"schema": _reference(method.reply.__name__)}}
    if (method.group, method.name) == ("answers", "ask"):
        content["text/event-stream"] = {"schema": {"type": "string"}}
    return _described(f"{method.group}.{method.name}", method.summary, content) | {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": _reference(method.request.__name__)}},
        }
    }


def _others() -> _Json:
    by_version = {"name": "doc_id", "in": "query", "required": False, "schema": {"type": "string"}}
    by_item = {"name": "item_id", "in": "path", "required": True, "schema": {"type": "string"}}
    text: _Json = {"schema": {"type": "string"}}
    session = _described(
        "session.open",
        "Trade the one-time code for the token.",
        {"application/json": {"schema": _reference("Session")}},
    )
    code = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
    session["requestBody"] = {"required": True, "content": {"application/json": {"schema": code}}}
    named = {"parameters": [by_item, by_version]}
    return {
        f"{API}/session/open": {"post": session | {"security": []}},
        f"{API}/files/{{item_id}}": {"get": _described("files.get", "Bytes, with ranges.", {"*/*": {}}) | named},
        f"{API}/sources/{{item_id}}/markdown": {
            "get": _described("sources.markdown", "The text of an item.", {"text/markdown": text}) | named
        },
        f"{API}/events": {"get": _described("events.get", "Changes and progress.", {"text/event-stream": text})},
        f"{API}/health": {"get": _described("health.get", "Says ok.", {"text/plain": text}) | {"security": []}},
        f"{API}/openapi.json": {"get": _described("openapi.get", "This.", {"application/json": {}})},
    }


def _described(name: str, summary: str, content: _Json) -> _Json:
    return {
        "operationId": name,
        "summary": summary,
        "responses": {"200": {"description": summary, "content": content}, "default": _PROBLEM},
    }


def _reference(name: str) -> _Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _moved(node: Any) -> Any:  # noqa: ANN401 - a JSON value
    if isinstance(node, list):
        return [_moved(entry) for entry in node]
    if isinstance(node, dict):
        return {key: _moved(value) for key, value in node.items()}
    return node.replace("#/$defs/", "#/components/schemas/") if isinstance(node, str) else node
