"""`masked.v1`: the secrets that were left out of a document, by kind and place."""

from __future__ import annotations

from typing import Literal

from kb.contract.base import Wire, absent_when_none


class MaskedPlace(Wire):
    """A place where a secret was left out: its kind and what stands there now, never the secret.

    `where` is text, title, heading, tag, front_matter or page; `uri` cites the place when it has one.
    """

    kind: str
    placeholder: str
    where: str
    uri: str | None = absent_when_none


class Masked(Wire):
    """Everything that was masked in the shown version of a document."""

    schema_version: Literal["masked.v1"] = "masked.v1"
    doc_path: str
    doc_id: str
    masked: tuple[MaskedPlace, ...]
