"""`python -m kb.app.configuration_doc [--check]`: docs/configuration.md, from the settings model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from kb.app.settings import Settings

FILE = Path(__file__).resolve().parents[3] / "docs" / "configuration.md"
MENDING = "python -m kb.app.configuration_doc"

_HEAD = f"""\
# Configuration

<!-- Written by `{MENDING}` from the settings model; do not edit. -->

`kb init` writes a `config.toml` in which every key stands with its meaning and its default, ready to be changed. What counts
is, from weakest to strongest: the default, the file, the environment, an option of the command. An unknown key is a warning
that names the nearest known one; a wrong value is an error that names file, line and key.

| | Linux | macOS | Windows |
|---|---|---|---|
| configuration | `~/.config/kb/config.toml` | `~/Library/Application Support/kb/config.toml` | `%LOCALAPPDATA%\\kb\\config.toml` |
| library | `~/.local/share/kb/` | `~/Library/Application Support/kb/` | `%LOCALAPPDATA%\\kb\\` |
| cache | `~/.cache/kb/` | `~/Library/Caches/kb/` | `%LOCALAPPDATA%\\kb\\Cache\\` |
| logs, a file a day, 14 kept | `~/.local/state/kb/logs/` | `~/Library/Application Support/kb/logs/` | `%LOCALAPPDATA%\\kb\\logs\\` |

`KB_HOME` moves all four under one folder: `config/`, `data/`, `cache/`, `logs/`, and the default workspace beside them.

In paths, `~`, `$HOME`, `${{KB_ANYTHING}}`, `${{NAME:-default}}` and `{{data_dir}}` (the library folder above) are filled in. Lists in
the environment are separated as in `PATH`: by `:`, on Windows by `;`.
"""  # noqa: E501 - a row of a table is one line


def page() -> str:
    """Return the whole page."""
    return "\n".join([_HEAD, *_tables(Settings, "")]) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or with `--check` say whether it is as it would be written; return the exit code."""
    parser = argparse.ArgumentParser(prog=MENDING, description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when the page is stale")
    if not parser.parse_args(arguments).check:
        FILE.write_text(page(), encoding="utf-8", newline="\n")
        return 0
    if FILE.exists() and FILE.read_text(encoding="utf-8") == page():
        return 0
    sys.stderr.write(f"stale: docs/{FILE.name}\nhint: run `{MENDING}` and commit what it writes\n")
    return 1


def _tables(section: type[BaseModel], prefix: str) -> Iterator[str]:
    fields = section.model_fields.items()
    own = [(name, field) for name, field in fields if _section(field) is None]
    if own:
        title = f"`[{prefix[:-1]}]`" if prefix else "Above all tables"
        meaning = f"\n{section.__doc__}\n" if prefix else ""
        yield f"## {title}\n{meaning}\n| key | default | allowed | environment | meaning |\n|---|---|---|---|---|"
        yield from (_row(prefix, name, field) for name, field in own)
        yield ""
    for name, field in fields:
        nested = _section(field)
        if nested is not None:
            yield from _tables(nested, f"{prefix}{name}.")


def _row(prefix: str, name: str, field: FieldInfo) -> str:
    # The version belongs to the file; nothing reads it from the environment by hand.
    variable = f"`KB_{(prefix + name).upper().replace('.', '_')}`" if prefix else ""
    cells = [f"`{name}`", f"`{_shown(field.default)}`", _allowed(field), variable, field.description or ""]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _section(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _shown(value: Any) -> str:  # noqa: ANN401 - whatever a setting may be
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{entry}"' for entry in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _allowed(field: FieldInfo) -> str:
    kind = field.annotation
    if get_origin(kind) is Literal:
        return " or ".join(f"`{choice}`" for choice in get_args(kind))
    if kind is bool:
        return "`true` or `false`"
    if get_origin(kind) is tuple:
        return "a list of globs"
    low = next((part.ge for part in field.metadata if hasattr(part, "ge")), None)
    high = next((part.le for part in field.metadata if hasattr(part, "le")), None)
    if low is None:
        return "text" if kind is str else "a number"
    return f"{low:,} to {high:,}" if high is not None else f"{low:,} or more"


if __name__ == "__main__":
    sys.exit(main())
