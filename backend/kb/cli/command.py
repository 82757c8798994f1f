"""One way to define a command: common options, errors turned into words and exit codes."""

from __future__ import annotations

import inspect
import logging
import os
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from kb.cli.output import ERROR, HIT, Exit, Output

_COMMON: dict[str, tuple[Any, Any]] = {
    "as_json": (Annotated[bool, typer.Option("--json", help="Print wire objects instead of words.")], False),
    "schema_version": (
        Annotated[Literal["v1"], typer.Option("--schema-version", help="The version of the wire objects.")],
        "v1",
    ),
    "verbose": (Annotated[bool, typer.Option("--verbose", help="Say the causes of an error.")], False),
    "debug": (Annotated[bool, typer.Option("--debug", help="Log to stderr.")], False),
}


def command(
    app: typer.Typer, name: str | None = None, cls: type[TyperCommand] | None = None
) -> Callable[[Callable[..., Exit]], Callable[..., Exit]]:
    """Add a function to `app`.

    The function's first parameter is the `Output`; it returns the exit code. One of our errors becomes
    `error:` and `hint:` lines and exit code 2, without a traceback.
    """

    def add(function: Callable[..., Exit]) -> Callable[..., Exit]:
        @wraps(function)
        def run(**values: Any) -> Exit:  # noqa: ANN401 - typer passes what the options say
            flags = {key: values.pop(key) for key in _COMMON}
            flags.pop("schema_version")
            return _guarded(function, Output(**flags), values)

        _sign(run, function)
        app.command(name, cls=cls)(run)
        return run

    return add


def without_command(app: typer.Typer) -> Callable[[Callable[..., Exit]], None]:
    """Let a group do something by itself, as a command does, when none follows; without options it prints help."""

    def add(function: Callable[..., Exit]) -> None:
        @wraps(function)
        def run(context: typer.Context, **values: Any) -> None:  # noqa: ANN401 - typer passes what the options say
            if context.invoked_subcommand is not None:
                return
            flags = {key: values.pop(key) for key in _COMMON}
            if not any(values.values()):
                show_help(context)
            flags.pop("schema_version")
            raise typer.Exit(_guarded(function, Output(**flags), values))

        _sign(run, function, inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context))
        app.callback(invoke_without_command=True)(run)

    return add


def _sign(run: Callable[..., object], function: Callable[..., Exit], *first: inspect.Parameter) -> None:
    """Give `run` the options of `function`, less its output, and the common ones."""
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    common = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for key, (kind, default) in _COMMON.items()
    ]
    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    every = [*first, *keywords, *common]
    run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in every}


def group(app: typer.Typer, name: str, text: str) -> typer.Typer:
    """Add a group of commands to `app`; without one of them it prints its help."""
    made = typer.Typer(help=text, rich_markup_mode=None)
    made.callback(invoke_without_command=True)(show_help)
    app.add_typer(made, name=name)
    return made


def show_help(context: typer.Context) -> None:
    """Print the help and end, when no command follows."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(HIT)


def _guarded(function: Callable[..., Exit], out: Output, values: dict[str, Any]) -> Exit:
    if out.debug:
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
    try:
        code = function(out, **values)
        # What is still buffered may find that its reader has gone: better here than at exit.
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_gone()
    except KeyboardInterrupt:
        out.note("\nstopped")
        return ERROR
    except Exception as error:  # noqa: BLE001 - the last place where it can become words
        _explain(out, error)
        return ERROR
    return code


def _explain(out: Output, error: Exception) -> None:
    from kb.contract.problems import problem_of

    known = problem_of(error)
    if known is not None:
        out.error(known.detail, known.hint, error)
        return
    # A bug. Its text may hold anything, so only --debug shows it.
    out.error(f"something unforeseen went wrong ({type(error).__name__})", "run it again with --debug to see where")
    if out.debug:
        traceback.print_exception(error)


def _reader_gone() -> Exit:
    """Nothing is wrong, and nobody is left to tell: keep Python from complaining at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ERROR
