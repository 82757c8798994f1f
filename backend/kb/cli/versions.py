"""What a document has been, and what changed, in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer

from kb.cli.layout import padded
from kb.cli.output import Output, counted

if TYPE_CHECKING:
    from kb.contract.facade import Facade
    from kb.contract.versions import DiffLine, Version, VersionDiff, Versions

_RANGE = re.compile(r"(\d{1,9})?\.\.(\d{1,9})?")
_NEWEST = "last"
_PINS = {
    "serving": "shown now",
    "in_flight": "on its way",
    "answer": "cited by an answer",
    "generation": "needed by a generation",
    "recent": "recent",
}
_MARKS = {"same": " ", "removed": "-", "added": "+"}
_COLOURS = {"removed": typer.colors.RED, "added": typer.colors.GREEN}


def show_versions(out: Output, facade: Facade, doc: str, *, listed: bool, diff: str | None) -> bool:
    """Print the versions of a document, or what changed between two of them; False when none are named."""
    from kb.app.requests import request_of
    from kb.contract.library import ShowRequest
    from kb.contract.versions import DiffRequest

    if listed:
        found = facade.versions.history(request_of(ShowRequest, doc=doc))
        out.wire(found)
        _print_versions(out, found)
    if diff is not None:
        asked = _asked(diff)
        if asked is None:
            out.error(f"{diff[:40]!r} names no two versions", "give two numbers, as in `--diff 2..3`, or `--diff last`")
            return False
        before, after = asked
        changed = facade.versions.diff(request_of(DiffRequest, doc=doc, before=before, after=after))
        out.wire(changed)
        _print_diff(out, changed)
    return True


def _asked(text: str) -> tuple[int | None, int | None] | None:
    found = _RANGE.fullmatch(text)
    if found is None and text != _NEWEST:
        return None
    before, after = found.groups() if found else (None, None)
    return (int(before) if before else None), (int(after) if after else None)


def _print_versions(out: Output, found: Versions) -> None:
    out.line(typer.style(found.doc_path, bold=True))
    if found.stale:
        out.line(f"the file is newer than what is shown: {found.stale.partition(': ')[2] or found.stale}")
    for version in found.versions:
        out.line(f"  {version.number:>4}  {padded(version.state, 11)}{_moment(version)}  {_why(version)}")
    if not found.versions:
        out.line("  nothing of it was ever shown")


def _moment(version: Version) -> str:
    return (version.activated_at or version.created_at).astimezone().strftime("%Y-%m-%d %H:%M")


def _why(version: Version) -> str:
    kept = ", ".join(_PINS.get(pin, pin) for pin in version.pinned_by)
    if not version.openable and version.state not in {"indexing", "ready"}:
        return "its text is gone"
    passages = counted(version.chunk_count, "passage")
    return f"{passages}; {kept}" if kept else f"{passages}; the next purge takes it"


def _print_diff(out: Output, found: VersionDiff) -> None:
    out.line(typer.style(f"{found.doc_path}  {found.before} → {found.after}", bold=True))
    for hunk in found.hunks:
        out.line(typer.style(f"@@ {_first(hunk[0])} @@", dim=True))
        for line in hunk:
            text = f"{_MARKS.get(line.kind, '?')}{line.text}"
            out.line(typer.style(text, fg=_COLOURS[line.kind]) if line.kind in _COLOURS else text)
    lines = f"{counted(found.added, 'line')} added, {found.removed:,} removed"
    out.line(f"{lines}; not all are shown" if found.truncated else lines)


def _first(line: DiffLine) -> str:
    return f"-{line.before or '·'} +{line.after or '·'}"
