"""What a run has to do: the scan compared with what the library knows, before any file is opened."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from kb.domain.files import FileBytes, ScannedFile, ScanProblem, Scope
from kb.domain.items import Item, ItemState
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId, ItemId
from kb.ingest.order import weight_of

# The scan could not see what is there: nothing is known to be gone.
_UNSEEN = frozenset({"permission", "placeholder", "unreadable"})
_RETRIED = frozenset({ItemState.FAILED, ItemState.WAITING})


class Change(NamedTuple):
    """A file that must be read; without an item it was not known at this path.

    Attributes:
        content: of an attachment or archive member, which came with its container.
        depth: how many containers it lies in.
    """

    file: ScannedFile
    item: Item | None
    content: FileBytes | None = None
    depth: int = 0


@dataclass(slots=True)
class Plan:
    """The work of a run.

    Attributes:
        changes: files to read, quick kinds first, each kind in path order.
        respelled: unchanged files whose name on the disk has another Unicode form now.
        missing: known items of the scope whose file the scan did not meet.
        problems: what the scan could not look into.
        members: known attachments and archive members of the files in `changes`, by container.
    """

    scanned: int = 0
    changes: list[Change] = field(default_factory=list)
    respelled: list[tuple[ItemId, ScannedFile]] = field(default_factory=list)
    missing: dict[WorkspacePath, Item] = field(default_factory=dict)
    problems: list[ScanProblem] = field(default_factory=list)
    members: dict[WorkspacePath, dict[WorkspacePath, Item]] = field(default_factory=dict)


def make_plan(
    found: Iterable[ScannedFile | ScanProblem],
    live: dict[WorkspacePath, Item],
    scope: Scope,
    *,
    is_current: Callable[[str | None], bool],
    retries: Callable[[Item], bool] = lambda _item: False,
    on_unchanged: Callable[[Item], object] = lambda _item: None,
) -> Plan:
    """Compare the scan with `live`, which is used up.

    Args:
        found: what the scan yields.
        live: every item the library knows, by path.
        scope: what was scanned; items outside it are left alone.
        is_current: whether a fingerprint is what this version would give.
        retries: whether an item is read again even when unchanged.
        on_unchanged: called for each file that needs nothing.
    """
    plan = Plan()
    members = _take_members(live)
    for entry in found:
        plan.scanned += 1
        if isinstance(entry, ScanProblem):
            plan.problems.append(entry)
            continue
        item = live.pop(entry.path, None)
        inside = members.pop(entry.path, {})
        if item is None or (item.included and _needs_reading(item, entry, inside.values(), is_current, retries)):
            plan.changes.append(Change(entry, item))
            plan.members[entry.path] = inside
            continue
        if item.disk_name != entry.disk_name:
            plan.respelled.append((item.item_id, entry))
        for known in (item, *inside.values()):
            on_unchanged(known)
        plan.scanned += len(inside)
    plan.changes.sort(key=lambda change: (weight_of(change.file.path), change.file.path))
    for inside in members.values():
        live.update(inside)
    unseen = [problem for problem in plan.problems if problem.reason in _UNSEEN]
    plan.missing = {
        path: item
        for path, item in live.items()
        if _is_within(item.container or path, scope.paths) and not _is_hidden(item.container or path, unseen)
    }
    return plan


def _take_members(live: dict[WorkspacePath, Item]) -> dict[WorkspacePath, dict[WorkspacePath, Item]]:
    """Take attachments and archive members out: no scan meets them, they are there as long as their container is."""
    members: dict[WorkspacePath, dict[WorkspacePath, Item]] = {}
    for path, container in [(path, item.container) for path, item in live.items() if item.identity.depth]:
        members.setdefault(container or path, {})[path] = live.pop(path)
    return members


def retrying(unread: Collection[DocumentId]) -> Callable[[Item], bool]:
    """Return what a retry reads again: what failed or waits, in whole or, as the documents `unread`, in part."""
    return lambda item: item.state in _RETRIED or item.active_doc_id in unread


def _needs_reading(
    item: Item,
    file: ScannedFile,
    inside: Iterable[Item],
    is_current: Callable[[str | None], bool],
    retries: Callable[[Item], bool],
) -> bool:
    if item.identity != file.identity:
        return True
    return any(not is_current(known.fingerprint) or retries(known) for known in (item, *inside))


def _is_within(path: str, scope_paths: tuple[WorkspacePath, ...]) -> bool:
    return not scope_paths or any(path == part or path.startswith(part + "/") for part in scope_paths)


def _is_hidden(path: str, unseen: list[ScanProblem]) -> bool:
    """Return whether `path` is one that the scan could not see, or below one; the root is ``."""
    return any(not problem.path or path == problem.path or path.startswith(problem.path + "/") for problem in unseen)
