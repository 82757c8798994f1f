"""Suites as YAML: read strictly, with the line in every error; added to without touching what is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from kb.domain.citations import Citation
from kb.domain.errors import InvalidInput, KebabError
from kb.domain.metadata import TrustLevel
from kb.domain.search import SearchFilters, SearchMode
from kb.evaluation.suites import GoldenQuery, Suite

HEADER = """\
# Golden queries for `kb eval`. One entry of `queries` is one question and what is right:
#   id                  unique in this file
#   query               the question, as typed
#   expected_docs       documents by path in the workspace, or
#   expected_doc_ids    documents by id, or
#   expected_spans      places as citations, such as notes/kb.md#L12-L34: a passage that shares half of it counts, or
#   expected_chunk_ids  passages by id; with as many expected_spans, those are their places
#   Any empty list (`expected_doc_ids: []`) means: nothing answers this, it should be refused.
#   optional: lang, mode (lexical, vector, hybrid), filters (tags_any, lang, path_glob, types, trust_min), tags, note
version: 1
queries:
"""
_EXPECTED = ("expected_doc_ids", "expected_docs", "expected_chunk_ids", "expected_spans")
_TEXTS = ("id", "query", "lang", "mode", "note")
_WIDE = 0xFFFF
_FILTER_TEXTS = ("lang", "path_glob", "trust_min")
_FILTER_LISTS = ("tags_any", "types")


def read_suite(text: str, name: str) -> Suite:
    """Read a suite.

    Raises:
        InvalidInput: it is not one; the message names the line.
    """
    root = _mapping(_composed(text, name), name, ("version", "name", "description", "queries"), "a suite")
    version = root.get("version")
    if version is None or version.value != "1":
        raise _wrong(name, version, "`version` must be 1")
    queries = root.get("queries")
    if queries is None:
        raise _wrong(name, None, "there is no `queries`")
    found: list[GoldenQuery] = []
    lines: dict[str, int] = {}
    for node in _items(queries, name, "queries"):
        golden = _query(node, name)
        if golden.query_id in lines:
            raise _wrong(name, node, f"the id {golden.query_id!r} is that of line {lines[golden.query_id]}, too")
        lines[golden.query_id] = _line(node)
        found.append(golden)
    title = _text(root["name"], name, "name") if "name" in root else name
    description = _text(root["description"], name, "description") if "description" in root else ""
    return Suite(title, tuple(found), description)


def add_query(text: str | None, golden: GoldenQuery, name: str) -> str:
    """Return a suite with one more question at its end; everything before stays as it is, letter by letter.

    Args:
        text: the suite; None for a new one.
        golden: what to add.
        name: of the suite, for errors.

    Raises:
        InvalidInput: the text is no suite, has the id already, or its `queries` are not its last part.
    """
    before = HEADER if text is None else text
    indent = 2
    if text is not None:
        suite = read_suite(text, name)
        if any(one.query_id == golden.query_id for one in suite.queries):
            raise InvalidInput(f"{name} has the id {golden.query_id!r} already", hint="give another --id")
        queries, is_last = _queries_of(text, name)
        if not is_last or (queries.value and queries.flow_style):
            raise _wrong(name, queries, "`queries` must come last and have one entry a line to be added to")
        if queries.value:
            indent = max(0, queries.start_mark.column)
        elif queries.start_mark.index < queries.end_mark.index:
            before = text[: queries.start_mark.index].rstrip(" ") + text[queries.end_mark.index :]
    joined = before + ("" if before.endswith("\n") else "\n") + _entry(golden, indent)
    again = read_suite(joined, name)
    if again.queries[-1].to_json() != golden.to_json():
        raise InvalidInput(f"nothing can be added to {name} where it ends", hint="let `queries` be its last part")
    return joined


def entry_of(golden: GoldenQuery) -> str:
    """Return a question as an entry of `queries`."""
    return _entry(golden, 2)


def _entry(golden: GoldenQuery, indent: int) -> str:
    fields: dict[str, Any] = {"id": golden.query_id, "query": golden.query}
    fields |= {"lang": golden.lang, "mode": golden.mode.value if golden.mode else None}
    fields |= {"filters": _filters_out(golden.filters)}
    fields |= {key: list(getattr(golden, key)) for key in _EXPECTED}
    fields |= {"tags": list(golden.tags), "note": golden.note}
    kept = {key: value for key, value in fields.items() if value}
    if golden.should_refuse:
        kept["expected_doc_ids"] = []
    # JSON is YAML, but for letters that YAML breaks lines at or does not take as they are.
    lines = [f"{key}: {_scalar(value)}" for key, value in kept.items()]
    pad = " " * indent
    return f"{pad}- {lines[0]}\n" + "".join(f"{pad}  {line}\n" for line in lines[1:])


def _scalar(value: object) -> str:
    said = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else _escaped(ord(c)) for c in said)


def _escaped(letter: int) -> str:
    return f"\\U{letter:08x}" if letter > _WIDE else f"\\u{letter:04x}"


def _filters_out(filters: SearchFilters) -> dict[str, Any]:
    found: dict[str, Any] = {
        "tags_any": list(filters.tags_any),
        "lang": filters.lang,
        "path_glob": filters.path_glob,
        "types": list(filters.source_types),
        "trust_min": filters.trust_min.value if filters.trust_min else None,
    }
    return {key: value for key, value in found.items() if value}


def _query(node: Any, name: str) -> GoldenQuery:  # noqa: ANN401 - a node of PyYAML
    fields = _mapping(node, name, (*_TEXTS, *_EXPECTED, "filters", "tags"), "a query")
    texts = {key: _text(fields[key], name, key) for key in _TEXTS if key in fields}
    lists = {key: _texts(fields[key], name, key) for key in (*_EXPECTED, "tags") if key in fields}
    for key in ("id", "query"):
        if not texts.get(key, "").strip():
            raise _wrong(name, node, f"a query needs `{key}`")
    if not any(key in lists for key in _EXPECTED):
        raise _wrong(name, node, f"{texts['id']!r} says nothing is expected: give `expected_docs`, or an empty list")
    chunks, spans = lists.get("expected_chunk_ids", ()), lists.get("expected_spans", ())
    if chunks and spans and len(chunks) != len(spans):
        raise _wrong(name, node, "beside `expected_chunk_ids` there must be as many `expected_spans`")
    for uri in spans:
        _checked(partial(Citation.parse, uri), name, fields["expected_spans"])
    mode = _checked(lambda: SearchMode(texts["mode"]), name, fields["mode"]) if "mode" in texts else None
    golden = GoldenQuery(
        query_id=texts["id"],
        query=texts["query"],
        lang=texts.get("lang"),
        mode=mode,
        tags=lists.get("tags", ()),
        note=texts.get("note", ""),
        expected_doc_ids=lists.get("expected_doc_ids", ()),
        expected_docs=lists.get("expected_docs", ()),
        expected_chunk_ids=chunks,
        expected_spans=spans,
    )
    return replace(golden, filters=_filters(fields["filters"], name)) if "filters" in fields else golden


def _filters(node: Any, name: str) -> SearchFilters:  # noqa: ANN401 - a node of PyYAML
    fields = _mapping(node, name, (*_FILTER_TEXTS, *_FILTER_LISTS), "filters")
    texts = {key: _text(fields[key], name, key) for key in _FILTER_TEXTS if key in fields}
    lists = {key: _texts(fields[key], name, key) for key in _FILTER_LISTS if key in fields}
    trust = None
    if "trust_min" in texts:
        trust = _checked(lambda: TrustLevel(texts["trust_min"]), name, fields["trust_min"])
    return SearchFilters(
        tags_any=lists.get("tags_any", ()),
        lang=texts.get("lang"),
        path_glob=texts.get("path_glob"),
        trust_min=trust,
        source_types=lists.get("types", ()),
    )


def _checked(read: Callable[[], Any], name: str, node: Any) -> Any:  # noqa: ANN401 - what `read` gives
    try:
        return read()
    except KebabError as error:
        raise _wrong(name, node, error.message) from error
    except ValueError as error:
        raise _wrong(name, node, str(error)) from error


def _composed(text: str, name: str) -> Any:  # noqa: ANN401 - a node of PyYAML
    import yaml

    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark else 1
        raise InvalidInput(f"{name}, line {line}: {error.problem}", hint="mend the YAML there") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InvalidInput(f"{name} is not YAML", hint="see the header of a suite that `kb eval add` makes") from error


def _queries_of(text: str, name: str) -> tuple[Any, bool]:
    pairs = _composed(text, name).value
    last_key, last = pairs[-1]
    found = next(value for key, value in pairs if key.value == "queries")
    return found, last_key.value == "queries" and last is found


def _mapping(node: Any, name: str, known: tuple[str, ...], what: str) -> Mapping[str, Any]:  # noqa: ANN401 - a node
    if node is None or node.id != "mapping":
        raise _wrong(name, node, f"{what} must be a mapping")
    found: dict[str, Any] = {}
    for key, value in node.value:
        if key.value not in known:
            raise _wrong(name, key, f"{what} has no key {str(key.value)[:40]!r}; keys are {', '.join(known)}")
        if key.value in found:
            raise _wrong(name, key, f"{key.value!r} is there twice")
        found[key.value] = value
    return found


def _items(node: Any, name: str, what: str) -> list[Any]:  # noqa: ANN401 - a node of PyYAML
    if node.id == "scalar" and node.tag.endswith(":null"):
        return []
    if node.id != "sequence":
        raise _wrong(name, node, f"`{what}` must be a list")
    return list(node.value)


def _text(node: Any, name: str, what: str) -> str:  # noqa: ANN401 - a node of PyYAML
    if node.id != "scalar" or node.tag.endswith(":null"):
        raise _wrong(name, node, f"`{what}` must be a text")
    return str(node.value)


def _texts(node: Any, name: str, what: str) -> tuple[str, ...]:  # noqa: ANN401 - a node of PyYAML
    if node.id != "sequence":
        raise _wrong(name, node, f"`{what}` must be a list")
    return tuple(_text(one, name, what) for one in node.value)


def _line(node: Any) -> int:  # noqa: ANN401 - a node of PyYAML
    return int(node.start_mark.line) + 1


def _wrong(name: str, node: Any, what: str) -> InvalidInput:  # noqa: ANN401 - a node of PyYAML
    line = 1 if node is None else _line(node)
    return InvalidInput(f"{name}, line {line}: {what}", hint="mend the suite there; its header says what it may hold")
