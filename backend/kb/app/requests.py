"""Requests made from what people type: a wrong value becomes a clear error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from kb.contract.base import Request
from kb.domain.errors import InvalidInput

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


def one_query(words: Sequence[str] | None, name: str) -> str:
    """Join the words of a command line.

    Raises:
        InvalidInput: there are none, or only white space.
    """
    text = " ".join(words or ()).strip()
    if not text:
        raise InvalidInput(f"the {name} is empty", hint=f"write the {name} in quotes after the command")
    return text


def some_password(text: str) -> str:
    """Return a password that was typed or piped.

    Raises:
        InvalidInput: it is empty.
    """
    if not text:
        hint = "type it when asked, or pipe it: `… | kb ingest PATH --password -`"
        raise InvalidInput("no password was given", hint=hint)
    return text
