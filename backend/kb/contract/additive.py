"""Whether a schema changed only by adding (frozen design section 2.8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Node = Mapping[str, Any]

_LOWER_BOUNDS = ("minimum", "exclusiveMinimum", "minLength", "minItems")
_UPPER_BOUNDS = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")


def breaking_changes(old: Node, new: Node, *, request: bool = False) -> list[str]:
    """Return why readers or callers of `old` cannot live with `new`; empty when nothing breaks.

    A reply may gain optional fields and enum values. A request may also accept more than before.
    """
    comparison = _Comparison(old, new, request=request)
    if "properties" not in old and "$defs" in old:
        return list(comparison.definitions())
    return list(comparison.nodes(old, new, ""))


@dataclass
class _Comparison:
    old_root: Node
    new_root: Node
    request: bool
    _seen: set[tuple[str, str]] = field(default_factory=set)

    def definitions(self) -> Iterator[str]:
        for name, old in self.old_root["$defs"].items():
            new = self.new_root.get("$defs", {}).get(name)
            if new is None:
                yield f"{name}: removed"
            else:
                yield from self.nodes(old, new, name)

    def nodes(self, old: Node, new: Node, at: str) -> Iterator[str]:
        pair = (str(old.get("$ref")), str(new.get("$ref")))
        if "$ref" in old and "$ref" in new:
            if pair in self._seen:
                return
            self._seen.add(pair)
        old, new = _resolve(self.old_root, old), _resolve(self.new_root, new)
        gone, came = _types(self.old_root, old) - _types(self.new_root, new), None
        came = _types(self.new_root, new) - _types(self.old_root, old)
        if gone or (came and not self.request):
            yield f"{at or 'object'}: type changed"
            return
        yield from self._enums(old, new, at)
        if self.request:
            yield from _bounds(old, new, at)
        yield from self._objects(old, new, at)
        yield from self._inner(old, new, at)

    def _enums(self, old: Node, new: Node, at: str) -> Iterator[str]:
        before, after = _values(old), _values(new)
        if before is not None and after is not None:
            for value in sorted(before - after):
                yield f"{at}: enum value {value} removed"
        elif after is not None and self.request:
            yield f"{at}: any value was allowed, now only an enum"
        elif before is not None and after is None and not self.request:
            yield f"{at}: was an enum, now any value"

    def _objects(self, old: Node, new: Node, at: str) -> Iterator[str]:
        before, after = old.get("properties", {}), new.get("properties", {})
        for name in before:
            path = f"{at}.{name}" if at else name
            if name not in after:
                yield f"{path}: removed"
            else:
                yield from self.nodes(before[name], after[name], path)
        required_before, required_after = set(old.get("required", ())), set(new.get("required", ()))
        for name in sorted(required_after - required_before):
            yield f"{at}.{name}".lstrip(".") + ": newly required"
        if not self.request:
            for name in sorted((required_before - required_after) & set(after)):
                yield f"{at}.{name}".lstrip(".") + ": no longer always there"
        if self.request and new.get("additionalProperties") is False and old.get("additionalProperties") is not False:
            yield f"{at or 'object'}: unknown fields were accepted, now refused"

    def _inner(self, old: Node, new: Node, at: str) -> Iterator[str]:
        for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
            before, after = old.get(key), new.get(key)
            if isinstance(before, Mapping) and isinstance(after, Mapping):
                yield from self.nodes(before, after, at + mark)
        for before, after in zip(_branches(old), _branches(new), strict=False):
            yield from self.nodes(before, after, at)


def _resolve(root: Node, node: Node) -> Node:
    while "$ref" in node:
        node = root["$defs"][node["$ref"].rpartition("/")[2]]
    return node


def _branches(node: Node) -> list[Node]:
    """The alternatives beside null."""
    return [branch for branch in node.get("anyOf", node.get("oneOf", ())) if branch.get("type") != "null"]


def _types(root: Node, node: Node) -> frozenset[str]:
    node = _resolve(root, node)
    branches = node.get("anyOf", node.get("oneOf"))
    if branches is not None:
        return frozenset().union(*(_types(root, branch) for branch in branches))
    kind = node.get("type", "any")
    kinds = kind if isinstance(kind, list) else [kind]
    return frozenset(f"{name}:{node['format']}" if "format" in node else name for name in kinds)


def _values(node: Node) -> frozenset[str] | None:
    if "const" in node:
        return frozenset({repr(node["const"])})
    return frozenset(map(repr, node["enum"])) if "enum" in node else None


def _bounds(old: Node, new: Node, at: str) -> Iterator[str]:
    for key in (*_LOWER_BOUNDS, *_UPPER_BOUNDS):
        before, after = old.get(key), new.get(key)
        narrower = after is not None and (
            before is None or (after > before if key in _LOWER_BOUNDS else after < before)
        )
        if narrower:
            yield f"{at}: {key} is narrower ({before} before, {after} now)"
    if "pattern" in new and old.get("pattern") != new["pattern"]:
        yield f"{at}: pattern changed"
