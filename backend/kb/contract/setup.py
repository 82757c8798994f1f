"""`init.v1`: what `kb init` made, kept and opened."""

from __future__ import annotations

from typing import Annotated, Literal

from kb.contract.base import Open, Wire


class InitStep(Wire):
    """One line: what was done to which path."""

    action: Annotated[Literal["created", "kept", "replaced", "opened", "hint"], Open]
    detail: str


class InitReport(Wire):
    """What `kb init` did, in order; `root` is the workspace."""

    schema_version: Literal["init.v1"] = "init.v1"
    root: str
    steps: tuple[InitStep, ...]
