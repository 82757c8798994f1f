"""Requests made from what people type: a wrong value becomes a clear error."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from kb.contract.base import Request
from kb.domain.errors import InvalidInput
from kb.domain.items import MediaType
from kb.domain.metadata import SourceType

R = TypeVar("R", bound=Request)


def request_of(model: type[R], **values: Any) -> R:  # noqa: ANN401 - the model checks them
    """Make a request.

    Raises:
        InvalidInput: a value is missing, of a wrong type or out of range; the message names it.
    """
    try:
        return model(**values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"]) or "request"
        problem = first["msg"].removeprefix("Value error, ").replace("input should be", "must be")
        problem = problem.replace("Input should be", "must be").replace("String should", "must")
        raise InvalidInput(f"{name} {problem[:1].lower()}{problem[1:]}", hint="see the command's --help") from error


def one_of(**given: str | None) -> tuple[str, str] | None:
    """Return the option that was given with its value, None without any.

    Raises:
        InvalidInput: several were given.
    """
    named = [(name, value) for name, value in given.items() if value is not None]
    if len(named) > 1:
        names = " and ".join(f"--{name}" for name, _ in named)
        raise InvalidInput(f"{names} do not go together", hint="give one of them at a time")
    return named[0] if named else None


def refuse_beside(option: str, **others: object) -> None:
    """Refuse options that would have no effect beside another one; what was not given is None, False or empty.

    Raises:
        InvalidInput: one of them was given.
    """
    given = [name for name, value in others.items() if value]
    if given:
        named = "words" if given[0] == "words" else f"--{given[0].replace('_', '-')}"
        raise InvalidInput(f"{option} does not go with {named}", hint="leave one of them out")


def one_query(words: Sequence[str] | None, name: str) -> str:
    """Join the words of a command line.

    Raises:
        InvalidInput: there are none, or only white space.
    """
    text = " ".join(words or ()).strip()
    if not text:
        raise InvalidInput(f"the {name} is empty", hint=f"write the {name} in quotes after the command")
    return text


def known_types(given: Sequence[str]) -> tuple[str, ...]:
    """Return the types of a filter: what documents are, what their files are, and families such as `office`.

    Raises:
        InvalidInput: there is no such type; the hint names the nearest, or all.
    """
    known = {str(kind) for kind in (*SourceType, *MediaType)} - {str(MediaType.OTHER)}
    for kind in given:
        if kind not in known:
            near = get_close_matches(kind.lower(), known, 1)
            hint = f"did you mean {near[0]}?" if near else f"types are {', '.join(sorted(known))}"
            raise InvalidInput(f"there is no type {kind[:40]!r}", hint=hint)
    return tuple(given)


def some_password(text: str) -> str:
    """Return a password that was typed or piped.

    Raises:
        InvalidInput: it is empty.
    """
    if not text:
        hint = "type it when asked, or pipe it: `… | kb ingest PATH --password -`"
        raise InvalidInput("no password was given", hint=hint)
    return text


def password_not_path(text: str, root: Path, here: Path) -> str:
    """Return a password from a command line.

    Raises:
        InvalidInput: it names a file of the workspace `root` or of the folder `here`: an option takes the word after
            it, so that a path behind `--password` would be tried as the password of every file.
    """
    path = Path(text).expanduser()
    try:
        is_there = bool(text) and any((folder / path).exists() for folder in (here, root))
    except (OSError, ValueError):
        is_there = False
    if is_there:
        name = shlex.quote(text)
        hint = f"put the path first: `kb ingest {name} --password`; a password like that can be piped: `--password -`"
        raise InvalidInput("what stands after --password is taken as the password, but it names a file", hint=hint)
    return text
