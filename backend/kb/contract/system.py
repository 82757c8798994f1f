"""Health, the ready line of a server, errors (RFC 9457) and the session of a browser."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kb.contract.base import Request, Wire, absent_when_none


class DoctorRequest(Request):
    """Look at everything; with `fix` mend what can be mended without losing anything, with `deep` read every entry."""

    fix: bool = False
    deep: bool = False


class DoctorCheck(Wire):
    """One thing looked at; `hint` says what to do, `fixed` what was mended just now."""

    name: str
    ok: bool
    detail: str
    hint: str | None = absent_when_none
    fixed: str | None = absent_when_none


class Doctor(Wire):
    """`ok` is false as soon as one check is."""

    schema_version: Literal["doctor.v1"] = "doctor.v1"
    ok: bool
    checks: tuple[DoctorCheck, ...]


class Health(Wire):
    """The server is there and works for the library it was started with."""

    schema_version: Literal["health.v1"] = "health.v1"
    status: Literal["ok"] = "ok"
    version: str | None = None


class Server(Wire):
    """The one line `kb serve --json` prints when it is ready."""

    schema_version: Literal["server.v1"] = "server.v1"
    url: str
    token: str


class Problem(Wire):
    """An error as RFC 9457 has it; `code` is stable, `incident` finds the log line of a bug."""

    schema_version: Literal["problem.v1"] = "problem.v1"
    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str = ""
    incident: str | None = absent_when_none


class SessionRequest(Request):
    """The one-time code of the printed address."""

    code: str = Field(min_length=1, max_length=200)


class Session(Wire):
    """The token to keep in memory and send as `Authorization: Bearer`."""

    schema_version: Literal["session.v1"] = "session.v1"
    token: str
