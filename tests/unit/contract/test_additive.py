"""Which changes of a schema break somebody."""

from __future__ import annotations

from typing import Any

import pytest

from kb.contract.additive import breaking_changes
from kb.contract.schemas import schema_files

Schema = dict[str, Any]


def thing(required: tuple[str, ...] = ("name",), **properties: Schema) -> Schema:
    """An object with a name and these properties."""
    return {"type": "object", "properties": {"name": {"type": "string"}, **properties}, "required": list(required)}


TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
MAYBE: Schema = {"anyOf": [{"type": "string"}, {"type": "null"}]}


def enum(*values: str) -> Schema:
    """A text out of these."""
    return {"type": "string", "enum": list(values)}


@pytest.mark.parametrize("request_side", [False, True])
def test_no_change_breaks_nothing(request_side: bool) -> None:
    assert breaking_changes(thing(a=TEXT), thing(a=TEXT), request=request_side) == []


@pytest.mark.parametrize("request_side", [False, True])
def test_a_new_optional_field_breaks_nothing(request_side: bool) -> None:
    assert breaking_changes(thing(), thing(a=TEXT), request=request_side) == []


@pytest.mark.parametrize("request_side", [False, True])
def test_a_removed_field_breaks(request_side: bool) -> None:
    assert breaking_changes(thing(a=TEXT), thing(), request=request_side) == ["a: removed"]


@pytest.mark.parametrize("request_side", [False, True])
def test_a_field_of_another_type_breaks(request_side: bool) -> None:
    assert breaking_changes(thing(a=TEXT), thing(a=NUMBER), request=request_side) == ["a: type changed"]


def test_a_type_that_only_got_wider_breaks_readers_but_not_callers() -> None:
    assert breaking_changes(thing(a=TEXT), thing(a=MAYBE)) == ["a: type changed"]
    assert breaking_changes(thing(a=TEXT), thing(a=MAYBE), request=True) == []


@pytest.mark.parametrize("request_side", [False, True])
def test_a_format_is_part_of_the_type(request_side: bool) -> None:
    date = {"type": "string", "format": "date-time"}
    assert breaking_changes(thing(a=date), thing(a=TEXT), request=request_side) == ["a: type changed"]


@pytest.mark.parametrize("request_side", [False, True])
def test_a_removed_enum_value_breaks_and_a_new_one_does_not(request_side: bool) -> None:
    old, new = thing(a=enum("x", "y")), thing(a=enum("x", "z"))
    assert breaking_changes(old, new, request=request_side) == ["a: enum value 'y' removed"]
    assert breaking_changes(thing(a=enum("x")), thing(a=enum("x", "z")), request=request_side) == []


def test_a_constant_is_an_enum_of_one() -> None:
    old, new = thing(v={"type": "string", "const": "a.v1"}), thing(v={"type": "string", "const": "a.v2"})
    assert breaking_changes(old, new) == ["v: enum value 'a.v1' removed"]


def test_an_enum_that_appears_breaks_callers_and_one_that_goes_breaks_readers() -> None:
    assert breaking_changes(thing(a=TEXT), thing(a=enum("x")), request=True) == [
        "a: any value was allowed, now only an enum"
    ]
    assert breaking_changes(thing(a=enum("x")), thing(a=TEXT)) == ["a: was an enum, now any value"]


@pytest.mark.parametrize("request_side", [False, True])
def test_a_newly_required_field_breaks(request_side: bool) -> None:
    old, new = thing(a=TEXT), thing(("name", "a"), a=TEXT)
    assert breaking_changes(old, new, request=request_side) == ["a: newly required"]
    assert breaking_changes(thing(), new, request=request_side) == ["a: newly required"]


def test_a_field_no_longer_required_breaks_readers_but_not_callers() -> None:
    assert breaking_changes(thing(("name",)), thing(())) == ["name: no longer always there"]
    assert breaking_changes(thing(("name",)), thing(()), request=True) == []


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ({"minimum": 1}, {"minimum": 2}, "minimum"),
        ({"maximum": 20}, {"maximum": 10}, "maximum"),
        ({}, {"maximum": 10}, "maximum"),
        ({"maxLength": 9}, {"maxLength": 8}, "maxLength"),
        ({"minItems": 0}, {"minItems": 1}, "minItems"),
        ({}, {"pattern": "x"}, "pattern"),
    ],
)
def test_a_narrower_range_breaks_callers(old: Schema, new: Schema, word: str) -> None:
    (change,) = breaking_changes(thing(a=NUMBER | old), thing(a=NUMBER | new), request=True)
    assert word in change
    assert breaking_changes(thing(a=NUMBER | new), thing(a=NUMBER | old), request=True) == []


def test_refusing_unknown_fields_from_now_on_breaks_callers() -> None:
    strict = thing() | {"additionalProperties": False}
    assert breaking_changes(thing(), strict, request=True) == ["object: unknown fields were accepted, now refused"]


def test_changes_are_found_behind_references_lists_tables_and_optional_objects() -> None:
    part: Schema = {"$ref": "#/$defs/Part"}
    places: list[Schema] = [
        part,
        {"type": "array", "items": part},
        {"type": "object", "additionalProperties": part},
        {"anyOf": [part, {"type": "null"}]},
    ]
    for part in places:
        old = thing(a=part) | {"$defs": {"Part": thing(deep=TEXT)}}
        new = thing(a=part) | {"$defs": {"Part": thing()}}
        (change,) = breaking_changes(old, new)
        assert change.startswith("a")
        assert change.endswith(".deep: removed")


def test_a_renamed_definition_breaks_nothing() -> None:
    old = thing(a={"$ref": "#/$defs/Part"}) | {"$defs": {"Part": thing(deep=TEXT)}}
    new = thing(a={"$ref": "#/$defs/Piece"}) | {"$defs": {"Piece": thing(deep=TEXT)}}
    assert breaking_changes(old, new) == []


def test_a_definition_that_contains_itself_ends() -> None:
    tree = {"$defs": {"Node": thing(child={"$ref": "#/$defs/Node"})}}
    assert breaking_changes(tree, tree) == []


def test_requests_are_compared_by_name() -> None:
    old = {"$defs": {"FindRequest": thing(a=TEXT), "GoneRequest": thing()}}
    new = {"$defs": {"FindRequest": thing()}}
    assert breaking_changes(old, new, request=True) == ["FindRequest.a: removed", "GoneRequest: removed"]


def test_each_real_schema_equals_itself_and_misses_what_is_taken_away() -> None:
    for name, schema in schema_files().items():
        assert breaking_changes(schema, schema, request=name == "requests") == []
        if "properties" in schema:
            (field, *_), rest = schema["properties"], dict(schema["properties"])
            rest.pop(field)
            assert f"{field}: removed" in breaking_changes(schema, schema | {"properties": rest})
