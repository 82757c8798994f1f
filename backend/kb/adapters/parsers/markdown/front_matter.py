"""The mapping at the top of a Markdown file: YAML between `---`, TOML between `+++`."""

from __future__ import annotations

import base64
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from functools import cache
from typing import Any

from kb.domain.ids import Json

MAX_CHARACTERS = 64 * 1024
_MAX_NODES = 10_000
_MAX_DEPTH = 40
_MAX_ALIASES = 10
_SAFE_INTEGER = 2**53 - 1
_CLOSING = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE),
}
_ALIAS = re.compile(r"(?:^|[\s\[{,:-])\*[^\s*]")
# `- - - -` and `? ? ?` nest without indentation, which the C reader follows without a limit
_NESTED = re.compile(rf"^[ ]{{{_MAX_DEPTH * 8},}}|^[ ]*(?:[-?:][ \t]+){{{_MAX_DEPTH},}}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands at the top of a file.

    Attributes:
        values: the mapping as JSON; empty when there is none or it is malformed.
        line_count: lines it takes with its two fences, 0 when there is none.
        problem: why it could not be read; empty when it could.
    """

    values: Mapping[str, Json] = field(default_factory=dict)
    line_count: int = 0
    problem: str = ""


class _TooMuch(Exception):
    """The values are bigger, deeper or odder than a note's properties."""


def read_front_matter(text: str) -> FrontMatter:
    """Read the front matter of a text in `source_text` form; never raises."""
    fence = text[:3]
    closing = _CLOSING.get(fence)
    first, _, rest = text.partition("\n")
    # a rule followed by a blank line is a rule: front matter starts at once
    if closing is None or first.rstrip() != fence or not rest or rest[0] == "\n":
        return FrontMatter()
    end = closing.search(rest)
    if end is None:
        return FrontMatter()
    raw = rest[: end.start()]
    lines = raw.count("\n") + 2
    try:
        values = _toml(raw) if fence == "+++" else _yaml(raw)
    except _TooMuch as error:
        return FrontMatter(line_count=lines, problem=str(error))
    return FrontMatter(values=values, line_count=lines)


def _yaml(raw: str) -> Mapping[str, Json]:
    import yaml

    _check_size(raw)
    try:
        return _mapping(yaml.load(raw, Loader=_loader()))  # noqa: S506 - it is a safe one
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" in line {mark.line + 2}" if mark else ""
        raise _TooMuch(f"not YAML{where}: {error.problem or 'unreadable'}") from error
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError, AttributeError) as error:
        raise _TooMuch("not YAML") from error


@cache
def _loader() -> Any:  # noqa: ANN401 - yaml has no types
    """Return a safe loader for which an odd value is a text, so that it does not cost all the others."""
    import yaml

    safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(safe):  # type: ignore[misc]
        pass

    def or_text(kind: str) -> Callable[[Any, Any], Any]:
        construct = safe.yaml_constructors[f"tag:yaml.org,2002:{kind}"]

        def made(loader: Any, node: Any) -> Any:  # noqa: ANN401
            try:
                return construct(loader, node)
            except (ValueError, OverflowError):
                return node.value

        return made

    def unknown(loader: Any, node: Any) -> Any:  # noqa: ANN401
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return loader.construct_scalar(node)

    for kind in ("timestamp", "int", "float", "binary"):
        Loader.add_constructor(f"tag:yaml.org,2002:{kind}", or_text(kind))
    Loader.add_constructor(None, unknown)
    return Loader


def _toml(raw: str) -> Mapping[str, Json]:
    import tomllib

    _check_size(raw)
    try:
        return _mapping(tomllib.loads(raw))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise _TooMuch(f"not TOML: {str(error)[:80]}") from error


def _check_size(raw: str) -> None:
    if len(raw) > MAX_CHARACTERS:
        raise _TooMuch(f"longer than {MAX_CHARACTERS} characters")
    if raw.count("[") + raw.count("{") > _MAX_NODES or _NESTED.search(raw):
        raise _TooMuch("nested too deep")
    depth = deepest = 0
    if raw.count("[") + raw.count("{") > _MAX_DEPTH:
        for character in raw:
            depth += (character in "[{") - (character in "]}")
            deepest = max(deepest, depth)
        if deepest > _MAX_DEPTH:
            raise _TooMuch("nested too deep")
    # every alias may double what comes before it: ten of them cannot grow far
    if "&" in raw and "*" in raw and len(_ALIAS.findall(raw)) > _MAX_ALIASES:
        raise _TooMuch(f"more than {_MAX_ALIASES} aliases")


def _mapping(value: object) -> Mapping[str, Json]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _TooMuch(f"a {type(value).__name__}, not a mapping")
    return _Reader().mapping(value, 0)


class _Reader:
    """Makes JSON of YAML's values, within a budget."""

    def __init__(self) -> None:
        self._left = _MAX_NODES

    def mapping(self, value: Mapping[object, object], depth: int) -> dict[str, Json]:
        return {_key(key): self.json(item, depth + 1) for key, item in value.items()}

    def json(self, value: object, depth: int) -> Json:
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            raise _TooMuch("too many values")
        if isinstance(value, Mapping):
            return self.mapping(value, depth)
        if isinstance(value, list | tuple):
            return [self.json(item, depth + 1) for item in value]
        if isinstance(value, set):
            return sorted(_key(item) for item in value)
        return _scalar(value)


def _scalar(value: object) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if math.isfinite(value) and abs(value) <= _SAFE_INTEGER else str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return unicodedata.normalize("NFC", str(value))


def _key(value: object) -> str:
    scalar = _scalar(value)
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    return scalar if isinstance(scalar, str) else "null" if scalar is None else str(scalar)
