"""What a person can do about a file that was not read, or not wholly: one step for each reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kb.domain.accounting import reason_word
from kb.domain.coverage import CoverageUnit
from kb.domain.items import Item, ItemState

_RETRY = "then run `kb ingest --retry`"
_LIMIT = f"raise its limit under [reading] in config.toml, {_RETRY}"
NEXT_STEPS: Mapping[str, str] = {
    "locked": "run `kb ingest PATH --password` and give the password; it is kept nowhere",
    "damaged": f"open it in its own program and save it again, {_RETRY}",
    "wrong_type": "give it the suffix of what it really is, then run `kb ingest`",
    "unsupported": "export it to a format that is read, such as PDF or text",
    "binary": "check what the file is; only text can be read under this name",
    "too_big": f"raise indexing.max_file_mb in config.toml, {_RETRY}",
    "too_many_pages": _LIMIT,
    "too_many_pixels": f"save it in a smaller size, or raise the limit under [reading] in config.toml, {_RETRY}",
    "too_many_frames": _LIMIT,
    "too_long": _LIMIT,
    "too_many_entries": _LIMIT,
    "expands_too_much": f"unpack it yourself if you trust it, or raise the limit under [reading], {_RETRY}",
    "nested_too_deep": "unpack the inner archive into the workspace, then run `kb ingest`",
    "too_complex": f"split or simplify it, or raise the limit under [reading] in config.toml, {_RETRY}",
    "too_slow": f"raise reading.seconds in config.toml, {_RETRY}",
    "too_much_memory": f"raise reading.memory_mb in config.toml, {_RETRY}",
    "crashed": "run `kb ingest --retry`; if it crashes again, save the file anew in its own program",
    "ocr_model": f"install the OCR models with `python3 dev.py setup`, {_RETRY}",
    "speech_model": f"install the speech model with `python3 dev.py setup`, {_RETRY}",
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
        return "; ".join(dict.fromkeys(steps)) or None
    step = NEXT_STEPS.get(_word(reason_word(item.reason)))
    return step or _OF_STATE.get(item.state)


def _word(reason: str | None) -> str:
    """Return the stable word of a unit's reason, which may have a sentence behind it."""
    return (reason or "").partition(":")[0].strip()
