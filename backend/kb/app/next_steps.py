"""What a person can do about a file that was not read, or not wholly: one step for each reason."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from kb.domain.accounting import reason_word
from kb.domain.coverage import CoverageUnit
from kb.domain.items import Item, ItemState

_RETRY = "then run `kb ingest --retry`"
_TOO_BIG = f"raise indexing.max_file_mb (text in it: limits.characters) in config.toml, {_RETRY}"


def _raise(key: str, instead: str = "") -> str:
    other = f"{instead}, or " if instead else ""
    return f"{other}raise limits.{key} in config.toml, {_RETRY}"


NEXT_STEPS: Mapping[str, str] = {
    "locked": "run `kb ingest PATH --password` and give the password; it is kept nowhere",
    "encrypted": "decrypt it in its own program and save it without protection, then run `kb ingest`",
    "damaged": f"open it in its own program and save it again, {_RETRY}",
    "missing": f"something that the file refers to is not in it: get it anew, {_RETRY}",
    "wrong_type": "give it the suffix of what it really is, then run `kb ingest`",
    "unsupported": "export it to a format that is read, such as PDF or text",
    "binary": "check what the file is; only text can be read under this name",
    "too_big": _TOO_BIG,
    "too_many_pages": _raise("pages", "split it") + " (pictures in one file: limits.frames)",
    "too_many_pixels": _raise("pixels", "save it in a smaller size"),
    "too_long": _raise("sound_seconds", "split the recording"),
    "too_many_entries": _raise("entries", "split it"),
    "expands_too_much": _raise("expanded_mb", "unpack it yourself if you trust it"),
    "nested_too_deep": _raise("depth", "unpack the inner archive into the workspace"),
    "too_complex": _raise("cells", "split or simplify it"),
    "too_slow": _raise("seconds", "split it"),
    "too_much_memory": _raise("memory_mb", "split it"),
    "crashed": "run `kb ingest --retry`; if it crashes again, save the file anew in its own program",
    "ocr_model": f"install the models for text on pictures with `python3 dev.py setup`, {_RETRY}",
    "ocr_failed": f"{_RETRY.removeprefix('then ')}; if it fails again, scan or save the page anew",
    "speech_model": f"install a speech model with `python3 dev.py setup`, {_RETRY}",
    "not_understood": "listen to these seconds yourself: the speech model did not understand them",
    "permission": "allow your account to read it, then run `kb ingest` again",
    "changed": "run `kb ingest` again once nothing writes to it",
    "vanished": "put it back, or run `kb ingest` to forget it",
    "outside_root": "copy it into the workspace: links that lead out of it are not followed",
    "special_file": "nothing to do: only ordinary files are read",
    "undecodable": "rename it, then run `kb ingest` again",
    "internal": f"{_RETRY.removeprefix('then ')}; if it fails again, report it with the output of `kb doctor`",
    "not_read_yet": "run `kb ingest`",
}
_OF_STATE: Mapping[ItemState, str] = {
    ItemState.FAILED: "mend the file, then run `kb ingest --retry`",
    ItemState.WAITING: "run `kb doctor` to see what is missing, then `kb ingest --retry`",
    ItemState.NEW: "run `kb ingest`",
}
_UNREAD_UNIT = f"see `kb show ITEM --coverage`; mend the file, {_RETRY}"


def needs_attention(item: Item, unread: Iterable[CoverageUnit]) -> bool:
    """Return whether a person should look at a file: it failed or waits, in whole or in part."""
    return item.state in {ItemState.FAILED, ItemState.WAITING} or any(True for _ in unread)


def next_step(item: Item, unread: Iterable[CoverageUnit]) -> str | None:
    """Return what to do about a file that was not, or not wholly, read; None when there is nothing to do."""
    if item.state in {ItemState.READY, ItemState.EMPTY}:
        words = list(dict.fromkeys(unit.reason for unit in unread))
        steps = [NEXT_STEPS.get(_word(word), _UNREAD_UNIT) for word in words]
        return _of("; ".join(dict.fromkeys(steps)), item) or None
    step = NEXT_STEPS.get(_word(reason_word(item.reason)))
    return _of(step or _OF_STATE.get(item.state, ""), item) or None


def _of(step: str, item: Item) -> str:
    """Return a step with the path to type: of what lies in a file, that file's."""
    return step.replace("PATH", shlex.quote(item.container or item.path)).replace("ITEM", shlex.quote(item.path))


def _word(reason: str | None) -> str:
    """Return the stable word of a unit's reason, which may have a sentence behind it."""
    return (reason or "").partition(":")[0].strip()
