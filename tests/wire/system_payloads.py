"""Examples of what is said of the program itself."""

from __future__ import annotations

from kb.contract.base import Wire
from kb.contract.setup import InitReport, InitStep
from kb.contract.system import Doctor, DoctorCheck, Health, Problem, Server, Session


def system_payloads() -> dict[str, Wire]:
    """Every example by the name of its file."""
    hint = "choose a model with `kb models`"
    checks = (
        DoctorCheck(name="sqlite_open", ok=True, detail="kb.sqlite"),
        DoctorCheck(name="llm_model", ok=False, detail="no model", hint=hint),
        DoctorCheck(name="leftovers", ok=True, detail="in order", fixed="2 files nothing needs were removed"),
    )
    return {
        "doctor": Doctor(ok=False, checks=checks),
        "health": Health(version="0.1.0"),
        "server": Server(url="http://127.0.0.1:8765", token="t" * 43),
        "problem": Problem(
            type="urn:kebab:problem:not_found",
            title="Not Found",
            status=404,
            detail="no document notes/none.md",
            code="not_found",
            hint="`kb list docs` shows what there is",
        ),
        "session": Session(token="t" * 43),
        "init": InitReport(root="KnowledgeBase", steps=(InitStep(action="created", detail="notes/"),)),
    }
