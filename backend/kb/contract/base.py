"""What every wire model shares: frozen, tolerant when read, exact when asked with."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, ValidatorFunctionWrapHandler
from pydantic.functional_validators import WrapValidator

_READING = {"reading": True}


class Wire(BaseModel):
    """A reply or a part of one. Unknown fields are ignored, as contracts section 4 asks of readers."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        protected_namespaces=(),
        ser_json_bytes="base64",
    )

    @classmethod
    def read(cls, data: str | bytes) -> Self:
        """Return the object in some JSON, as a reader of a newer writer must: leniently.

        Raises:
            ValidationError: a required field is missing or has another type.
        """
        return cls.model_validate_json(data, context=_READING)


class Request(Wire):
    """What is asked of the facade: unknown fields and loose types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Empty(Request):
    """A request that says nothing."""


def _open(value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:  # noqa: ANN401 - as pydantic has it
    try:
        return handler(value)
    except ValidationError:
        if isinstance(value, str) and isinstance(info.context, dict) and info.context.get("reading"):
            return value
        raise


Open = WrapValidator(_open)
"""Marks an enum of a reply that may grow: a reader keeps a value it does not know."""

absent_when_none: Any = Field(default=None, exclude_if=lambda value: value is None)
"""A field that is left out of the JSON when it does not apply."""
