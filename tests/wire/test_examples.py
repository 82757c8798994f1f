"""The example payloads: written by Python, read by the page's tests, and by readers of another age."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kb.contract.schemas import schema_files
from tests.wire.payloads import EXAMPLES, payloads, text_of

PAYLOADS = payloads()


def test_the_examples_on_disk_are_what_python_writes() -> None:
    on_disk = {path.stem: path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.json")}
    expected = {name: text_of(example) for name, example in PAYLOADS.items()}
    assert on_disk == expected, "run `PYTHONPATH=backend python -m tests.wire.payloads`"


def test_every_object_of_the_contract_has_an_example() -> None:
    shown = {json.loads(text_of(example))["schema_version"].removesuffix(".v1") for example in PAYLOADS.values()}
    assert set(schema_files()) - {"requests"} - shown == set()


@pytest.mark.parametrize("name", sorted(PAYLOADS))
def test_an_example_read_back_is_the_same(name: str) -> None:
    example = PAYLOADS[name]
    assert type(example).read(text_of(example)) == example


@pytest.mark.parametrize("name", sorted(PAYLOADS))
def test_a_reader_ignores_fields_it_does_not_know(name: str) -> None:
    example = PAYLOADS[name]
    extended = _extend(json.loads(text_of(example)))
    assert type(example).read(json.dumps(extended)) == example


ENUMS = {
    "citation": ("kind", "hologram"),
    "job": ("status", "paused"),
    "answer_refused": ("refusal_reason", "too_tired"),
    "viewer": ("media", "hologram"),
    "doc_summary": ("source_type", "podcast"),
    "chunk_inspection": ("role", "grandchild"),
    "event": ("kind", "weather"),
}


@pytest.mark.parametrize("name", sorted(ENUMS))
def test_a_reader_keeps_enum_values_it_does_not_know(name: str) -> None:
    field, value = ENUMS[name]
    sent = json.loads(text_of(PAYLOADS[name])) | {field: value}
    assert getattr(type(PAYLOADS[name]).read(json.dumps(sent)), field) == value


def test_a_writer_may_not_write_an_enum_value_that_is_not_in_the_contract() -> None:
    example = PAYLOADS["job"]
    with pytest.raises(ValueError, match="status"):
        type(example).model_validate(example.model_dump() | {"status": "paused"})


def test_a_reader_refuses_another_major_version() -> None:
    sent = json.loads(text_of(PAYLOADS["citation"])) | {"schema_version": "citation.v2"}
    with pytest.raises(ValueError, match="schema_version"):
        type(PAYLOADS["citation"]).read(json.dumps(sent))


def test_every_reply_writes_its_schema_version() -> None:
    assert all("schema_version" in example.model_dump() for example in PAYLOADS.values())


def _extend(node: Any) -> Any:
    """The same JSON with a field of a later version in every object that has fixed fields."""
    if isinstance(node, list):
        return [_extend(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    extended = {key: _extend_field(key, value) for key, value in node.items()}
    is_table = bool(node) and all(isinstance(value, int | float) for value in node.values())
    return extended if is_table else {**extended, "of_a_later_version": {"x": 1}}


def _extend_field(name: str, value: Any) -> Any:
    if isinstance(value, dict) and name in {"tags", "config"}:  # names of the person's own, and what was set
        return value
    if isinstance(value, dict) and name == "intervals":  # one object for each metric
        return {key: _extend(entry) for key, entry in value.items()}
    return _extend(value)
