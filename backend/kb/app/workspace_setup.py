"""`kb init`: config file, data folder, workspace; what exists is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from kb.app.config_file import Configuration
from kb.app.locations import readable
from kb.app.settings import Settings
from kb.contract.setup import InitReport, InitStep
from kb.domain.errors import InvalidSettings

if TYPE_CHECKING:
    from kb.contract.facade import Facade

FOLDERS = ("inbox", "notes", "papers", "photos", "recordings")
_KBIGNORE = """\
# Files that Kebab must not read, in the syntax of .gitignore.
# drafts/
# *.log
"""


def initialise(configuration: Configuration, *, force: bool) -> InitReport:
    """Make what is missing and say so; with `force` the config file is written anew.

    The previous config file is then kept beside as `config.toml.bak`.

    Raises:
        InvalidSettings: a folder cannot be made.
    """
    try:
        steps = tuple(_steps(configuration, force=force))
    except OSError as error:
        name = Path(error.filename).name if error.filename else "a folder"
        raise InvalidSettings(
            f"cannot make {name}: {error.strerror}",
            hint="check the folder's permissions, or set KB_HOME or workspace.root to another place",
        ) from error
    return InitReport(root=readable(configuration.workspace), steps=steps)


def config_text(settings: Settings) -> str:
    """Return a config file with every key, its meaning and its default, ready to edit."""
    lines = [
        "# Settings of Kebab. A line that begins with `#` is a default; remove the `#` to change it.",
        "",
        f"schema_version = {settings.schema_version}",
    ]
    lines.extend(_tables(settings, ""))
    return "\n".join(lines) + "\n"


def _steps(configuration: Configuration, *, force: bool) -> Iterator[InitStep]:
    file = configuration.locations.config_file
    existed = file.exists()
    if not existed or force:
        file.parent.mkdir(parents=True, exist_ok=True)
        if existed:
            os.replace(file, file.with_name(file.name + ".bak"))  # noqa: PTH105 - atomic, overwrites
        temporary = file.with_name(file.name + ".new")
        temporary.write_text(config_text(configuration.settings), encoding="utf-8")
        os.replace(temporary, file)  # noqa: PTH105 - atomic, overwrites
    yield _step(_action(existed=existed, replaced=force), readable(file))
    data = configuration.data_dir
    existed = data.is_dir()
    if not existed:
        data.mkdir(parents=True, mode=0o700)
    yield _step(_action(existed=existed), f"{readable(data)}/")
    root = configuration.workspace
    existed = root.is_dir()
    if not existed:
        root.mkdir(parents=True)
        for name in FOLDERS:
            (root / name).mkdir()
        (root / ".kbignore").write_text(_KBIGNORE, encoding="utf-8")
    yield _step(_action(existed=existed), f"{readable(root)}/")


def _action(*, existed: bool, replaced: bool = False) -> str:
    if not existed:
        return "created"
    return "replaced" if replaced else "kept"


def _step(action: str, detail: str) -> InitStep:
    return InitStep.model_validate({"action": action, "detail": detail})


def _tables(section: BaseModel, prefix: str) -> Iterator[str]:
    default = type(section)()
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            nested = [f for f in type(value).model_fields if isinstance(getattr(value, f), BaseModel)]
            if len(nested) < len(type(value).model_fields):
                yield ""
                yield f"[{prefix}{name}]"
            yield from _tables(value, f"{prefix}{name}.")
        elif name != "schema_version":
            yield f"# {field.description}"
            mark = "# " if value == getattr(default, name) else ""
            yield f"{mark}{name} = {_toml(value)}"


def _toml(value: Any) -> str:  # noqa: ANN401 - whatever a setting may be
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def completed(report: InitReport, configuration: Configuration, facade: Facade) -> InitReport:
    """Return the report with the opened library and the next step."""
    from kb.contract.system import DoctorRequest

    checks = {check.name: check for check in facade.system.doctor(DoctorRequest()).checks}
    sqlite = checks.get("sqlite_open")
    steps = [*report.steps]
    if sqlite is not None:
        steps.append(_step("opened", f"{readable(configuration.data_dir)}/{sqlite.detail}"))
    steps.append(_step("hint", f"put files into {readable(configuration.workspace)}, then run `kb ingest`"))
    return report.model_copy(update={"steps": tuple(steps)})
