"""What became of a file in a child: its document, or why there is none, in words."""

from __future__ import annotations

from kb.adapters.workers.codec import decode_document
from kb.adapters.workers.codec_values import Damaged
from kb.adapters.workers.frames import Frame
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits

TOO_MUCH_MEMORY = "too_much_memory"
_AGAIN = "nothing else is affected; `kb ingest --retry` tries it once more"


def ending(frame: Frame, limits: ReadingLimits) -> ParsedDocument | Unreadable:
    """Return what a child's last message about a file says."""
    facts = frame.facts
    match facts.get("end"):
        case "document":
            try:
                return decode_document(frame.tail)
            except Damaged:
                return crashed("the program that reads files gave something that is no document")
        case "unreadable":
            reason, message, hint = (str(facts.get(name) or "") for name in ("reason", "message", "hint"))
            return Unreadable(message, hint=hint, reason=reason or "unreadable")
        case "memory":
            return too_much_memory(limits)
        case "broke":
            return crashed(f"the program that reads files failed on it ({_name(facts.get('error'))})")
        case _:
            return crashed("the program that reads files spoke out of turn")


def crashed(message: str = "the program that reads files ended in the middle of it") -> Unreadable:
    """Return the failure of a file that ended its child, or broke its parser."""
    return Unreadable(message, hint=_AGAIN, reason="crashed")


def not_started() -> Unreadable:
    """Return the failure of a file for which no child could be started."""
    return Unreadable(
        "the program that reads files could not be started",
        hint="run `kb doctor`; `kb ingest --retry` tries the file again",
        reason="crashed",
    )


def too_slow(exceeded: str, limits: ReadingLimits) -> Unreadable:
    """Return the failure of a file that took too long: `quiet` without any progress, or in `total`."""
    if exceeded == "quiet":
        fact, setting = f"reading it stood still for {_seconds(limits.seconds)}", "limits.seconds"
    else:
        fact, setting = f"reading it took more than {_seconds(limits.total_seconds)}", "limits.total_seconds"
    return Unreadable(fact, hint=_raised(setting), reason="too_slow")


def too_much_memory(limits: ReadingLimits) -> Unreadable:
    """Return the failure of a file that took too much memory."""
    fact = f"reading it took more than {limits.memory_mb:,} MB of memory"
    return Unreadable(fact, hint=_raised("limits.memory_mb"), reason=TOO_MUCH_MEMORY)


def _raised(setting: str) -> str:
    return f"nothing else is affected; if the file is worth it, raise {setting} and run `kb ingest --retry`"


def _seconds(seconds: float) -> str:
    if seconds >= 7200:  # noqa: PLR2004 - two hours
        return f"{seconds / 3600:g} hours"
    return f"{seconds:g} seconds"


def _name(value: object) -> str:
    name = str(value)
    # It comes from a process that may say anything.
    return name if name.isidentifier() else "unknown"
