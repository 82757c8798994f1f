"""JSON Schemas of everything on the wire, made from the models."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import kb.contract
from kb.contract.base import Request, Wire
from kb.contract.facade import contract_groups, methods_of

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
REQUESTS = "requests"


def schema_files() -> dict[str, Schema]:
    """Return the schema of each top-level object by name, and all requests under `requests`."""
    files = {name: _document(f"{name}.v1", _schema(model)) for name, model in sorted(_objects().items())}
    # What is kept of a request is read leniently: it is a reply.
    asked = (model for model in _subclasses(Request) if model.model_config.get("extra") == "forbid")
    requests = sorted(asked, key=lambda model: model.__name__)
    files[REQUESTS] = _document("requests.v1", {"$defs": _definitions(requests)})
    return files


def bundle() -> Schema:
    """Return one schema for TypeScript: every object, and request and reply of every method."""
    methods = methods_of(contract_groups())
    models = [*_objects().values(), *(method.request for method in methods)]
    objects = {name: _reference(model) for name, model in _objects().items()}
    table = {
        f"{method.group}/{method.name}": _object(
            {"request": _reference(method.request), "reply": _reference(method.reply)}, method.summary
        )
        for method in methods
    }
    definitions = _definitions(models)
    definitions["Methods"] = _object(table, "Every call: `POST /api/v1/<key>`.")
    definitions["StreamEvents"] = _object(_stream(), "What a streamed answer may send, by name of the event.")
    definitions["WireObjects"] = _object(objects, "Every top-level object by its name.")
    roots = {name: {"$ref": f"#/$defs/{name}"} for name in ("Methods", "StreamEvents", "WireObjects")}
    return {"$schema": DIALECT, "title": "Contract", **_object(roots, "The wire contract."), "$defs": definitions}


def _document(name: str, schema: Schema) -> Schema:
    return {"$schema": DIALECT, "$id": f"urn:kebab:wire:{name}", **schema}


def _objects() -> dict[str, type[Wire]]:
    found = {}
    for model in _subclasses(Wire):
        version = model.model_fields.get("schema_version")
        if version is not None:
            found[str(version.default).removesuffix(".v1")] = model
    return dict(sorted(found.items()))


def _stream() -> Schema:
    events = importlib.import_module("kb.contract.events")
    replies = get_args(get_type_hints(events.StreamEvent)["data"])
    names = {"RetrievalResponse": "retrieval", "CheckedClaim": "claim", "Problem": "error"}
    return {names.get(model.__name__, model.__name__.lower()): _reference(model) for model in replies}


def _subclasses(base: type[Wire]) -> Iterator[type[Wire]]:
    for module in pkgutil.iter_modules(kb.contract.__path__):
        if module.name != "generate":
            importlib.import_module(f"kb.contract.{module.name}")
    waiting = list(base.__subclasses__())
    while waiting:
        model = waiting.pop()
        waiting.extend(model.__subclasses__())
        if model.__module__.startswith("kb.contract."):
            yield model


def _definitions(models: list[type[Wire]]) -> Schema:
    definitions: Schema = {}
    for model in models:
        schema = _schema(model)
        definitions |= schema.pop("$defs", {})
        definitions[model.__name__] = schema
    return dict(sorted(definitions.items()))


def _schema(model: type[Wire]) -> Schema:
    mode = "validation" if issubclass(model, Request) else "serialization"
    raw = model.model_json_schema(mode=mode, ref_template="#/$defs/{model}")  # type: ignore[arg-type]
    schema: Schema = _tidy(raw)
    return schema


def _reference(model: type[Wire]) -> Schema:
    return {"$ref": f"#/$defs/{model.__name__}"}


def _object(properties: Schema, description: str) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


def _tidy(node: Any) -> Any:  # noqa: ANN401 - a JSON value
    """Drop titles (noise in generated types) and make `schema_version` required: it is always written."""
    if isinstance(node, list):
        return [_tidy(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    tidy = {key: _tidy(value) for key, value in node.items() if not (key == "title" and isinstance(value, str))}
    properties = tidy.get("properties")
    if isinstance(properties, dict) and "const" in properties.get("schema_version", {}):
        properties["schema_version"].pop("default", None)
        tidy["required"] = ["schema_version", *tidy.get("required", [])]
    return tidy
