"""One way to define a command: common options, errors turned into words and exit codes."""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Literal

import typer

from kb.cli.output import ERROR, Exit, Output

_PANEL = "Output"
_COMMON: dict[str, tuple[Any, Any]] = {
    "as_json": (
        Annotated[bool, typer.Option("--json", help="Print wire objects.", rich_help_panel=_PANEL)],
        False,
    ),
    "schema_version": (
        Annotated[
            Literal["v1"],
            typer.Option("--schema-version", help="Version of the wire objects.", rich_help_panel=_PANEL),
        ],
        "v1",
    ),
    "verbose": (
        Annotated[bool, typer.Option("--verbose", help="Errors say their causes.", rich_help_panel=_PANEL)],
        False,
    ),
    "debug": (
        Annotated[bool, typer.Option("--debug", help="Log to stderr.", rich_help_panel=_PANEL)],
        False,
    ),
}


def command(app: typer.Typer, name: str | None = None) -> Callable[[Callable[..., Exit]], Callable[..., None]]:
    """Add a function to `app`.

    The function's first parameter is the `Output`; it returns the exit code. A `KebabError` becomes
    `error:` and `hint:` lines and exit code 2, without a traceback.
    """

    def add(function: Callable[..., Exit]) -> Callable[..., None]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        common = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for key, (kind, default) in _COMMON.items()
        ]

        @wraps(function)
        def run(**values: Any) -> None:  # noqa: ANN401 - typer passes what the options say
            flags = {key: values.pop(key) for key in _COMMON}
            flags.pop("schema_version")
            raise typer.Exit(_guarded(function, Output(**flags), values))

        keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        run.__signature__ = inspect.Signature([*keywords, *common])  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in [*keywords, *common]}
        app.command(name)(run)
        return run

    return add


def _guarded(function: Callable[..., Exit], out: Output, values: dict[str, Any]) -> Exit:
    from kb.domain.errors import KebabError

    if out.debug:
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
    try:
        return function(out, **values)
    except KebabError as error:
        out.error(error)
        return ERROR
    except BrokenPipeError:
        # The reader of our pipe has gone: nothing is wrong, and nobody is left to tell.
        sys.stderr.close()
        return ERROR
    except KeyboardInterrupt:
        out.note("\nstopped; what was committed is kept")
        return ERROR
