"""Reading `config.toml`: defaults < file < environment < flags, with exact complaints."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from kb.app.locations import Locations, locate, readable
from kb.app.settings import Settings
from kb.domain.errors import InvalidSettings

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}|\$(\w+)")
# Variables of ours that are not settings.
_RESERVED = frozenset({"KB_HOME", "KB_DEBUG"})
_KEYS = "KB_KEY_"
"""Keys of servers, which no setting, warning or message ever shows."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings with where they came from and what was odd about them.

    Attributes:
        warnings: unknown keys, one sentence each.
        workspace: the root, absolute.
        data_dir: the library's folder, absolute.
    """

    settings: Settings
    locations: Locations
    workspace: Path
    data_dir: Path
    warnings: tuple[str, ...]


def load_configuration(environ: Mapping[str, str] | None = None, *, tolerant: bool = False) -> Configuration:
    """Read the configuration of this person and machine; `tolerant` takes a broken file for an empty one.

    Raises:
        InvalidSettings: the file is not TOML, or a value has a wrong type or range; the message
            names file, line and key.
    """
    env = dict(os.environ if environ is None else environ)
    locations = locate(env)
    try:
        return _load(env, locations, _read(locations.config_file))
    except InvalidSettings:
        if not tolerant:
            raise
        return _load(env, locations, "")


def _load(env: Mapping[str, str], locations: Locations, text: str) -> Configuration:
    values = _parse(text, locations.config_file)
    warnings = [
        f"{_where(text, locations.config_file, key)}: unknown key `{key}`{_nearest(key)}"
        for key in _unknown(values, Settings, "")
    ]
    values, env_warnings = _with_environment(values, env)
    settings = _validated(values, text, locations.config_file)
    data_dir = _path(settings.storage.data_dir, env, locations)
    root = settings.workspace.root
    workspace = locations.default_workspace
    if root != Settings().workspace.root:
        workspace = _path(root, env, locations)
    return Configuration(settings, locations, workspace, data_dir, (*warnings, *env_warnings))


def expand(value: str, environ: Mapping[str, str]) -> str:
    """Expand `~`, `$HOME`, `${KB_*}` and `${X:-default}`; a variable that is not set is an error.

    Raises:
        InvalidSettings: a variable without a default is not set.
    """

    def replace(match: re.Match[str]) -> str:
        name = match[1] or match[3]
        found = environ.get(name) or match[2]
        if found is None:
            message = f"the path {value!r} uses ${name}, which is not set"
            raise InvalidSettings(message, hint=f"set {name}, or write ${{{name}:-a default}}")
        return found

    return os.path.expanduser(_VARIABLE.sub(replace, value))  # noqa: PTH111 - a string, kept as typed


def known_keys(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[str]:
    """Yield every dotted key of the settings."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from known_keys(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def _path(value: str, env: Mapping[str, str], locations: Locations) -> Path:
    filled = value.replace("{data_dir}", str(locations.data_dir))
    return Path(expand(filled, env)).absolute()


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise InvalidSettings(f"{readable(file)} is not UTF-8 text", hint="save it as UTF-8") from error
    except OSError as error:
        raise InvalidSettings(
            f"{readable(file)} cannot be read: {error.strerror}", hint="check its permissions"
        ) from error


def _parse(text: str, file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(
            f"{readable(file)} is not valid TOML: {error}",
            hint="mend the line, or run `kb init --force` for a fresh file; this one is kept beside it",
        ) from error


def _unknown(values: Mapping[str, Any], model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, value in values.items():
        field = model.model_fields.get(name)
        if field is None:
            yield prefix + name
            continue
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel) and isinstance(value, dict):
            yield from _unknown(value, kind, f"{prefix}{name}.")


def _nearest(key: str) -> str:
    keys = list(known_keys())
    names = keys if "." in key else [*keys, *dict.fromkeys(name.rpartition(".")[0] for name in keys)]
    close = difflib.get_close_matches(key, names, n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""


def _with_environment(values: dict[str, Any], env: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    names = {"KB_" + key.upper().replace(".", "_"): key for key in known_keys()}
    warnings = []
    for name, text in sorted(env.items()):
        # As everywhere, an empty variable is one that is not set: an empty root would be the current folder.
        if not name.startswith("KB_") or name.startswith(_KEYS) or name in _RESERVED or not text:
            continue
        key = names.get(name)
        if key is None:
            close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.7)
            hint = f"; did you mean `{close[0]}`?" if close else ""
            warnings.append(f"environment: unknown variable `{name}`{hint}")
            continue
        *sections, last = key.split(".")
        table = values
        for section in sections:
            child = table.get(section)
            table[section] = dict(child) if isinstance(child, dict) else {}
            table = table[section]
        is_list = key in {"workspace.include", "workspace.exclude"}
        table[last] = _globs(name, text) if is_list else text
    return values, warnings


def _globs(name: str, text: str) -> list[str]:
    if text.lstrip().startswith('["') or text.lstrip().startswith("['"):
        # As one glob it would leave out every file, and the library would forget them all.
        raise InvalidSettings(f"environment {name}: not a list of globs", hint=f"separate them by `{os.pathsep}`")
    return [part for part in text.split(os.pathsep) if part]


def _validated(values: dict[str, Any], text: str, file: Path) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"] if isinstance(part, str))
        problem = first["msg"].removeprefix("Value error, ")
        raise InvalidSettings(
            f"{_where(text, file, key)}: `{key}`: {problem}",
            hint=f"the keys, types and ranges are in docs/configuration.md (value: {first['input']!r:.60})",
        ) from error


def _where(text: str, file: Path, key: str) -> str:
    """Name file and line of a key; a key that only the environment gives has no line."""
    *sections, last = key.split(".")
    wanted, current = ".".join(sections), ""
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[([^\[\]]+)\]", line)
        if header:
            current = header[1].strip()
            if current == key:
                return f"{readable(file)} line {number}"
        elif current == wanted and re.match(rf"\s*[\"']?{re.escape(last)}[\"']?\s*=", line):
            return f"{readable(file)} line {number}"
    return f"environment KB_{key.upper().replace('.', '_')}" if key else readable(file)
