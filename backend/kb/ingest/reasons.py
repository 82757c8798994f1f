"""Why a file gives nothing that can be searched, as a stable word and a sentence."""

from __future__ import annotations

from collections import Counter

from kb.domain.errors import Unreadable
from kb.domain.items import Item, ItemState, MediaType
from kb.ingest.making import MadeDocument

LOCKED = "locked"
"""A password opens the file; it waits for one."""
UNEXPECTED = "something unexpected went wrong while reading it; please report it with `kb doctor`'s output"
"""The sentence of a fault of ours."""
_FAMILIES = {
    MediaType.PDF: "PDF files are",
    MediaType.IMAGE: "pictures are",
    MediaType.AUDIO: "sound recordings are",
    MediaType.VIDEO: "videos are",
    MediaType.HTML: "HTML pages are",
    MediaType.OFFICE: "office documents of this make are",
    MediaType.MAIL: "mail files of this make are",
    MediaType.BOOK: "electronic books of this make are",
    MediaType.ARCHIVE: "archives are",
}
_WAITS = {
    "ocr_model": "its text can be recognised only with the models for that, which are not installed",
    "speech_model": "what is said in it can be recognised only with a speech model, and none is installed",
}


_REMEDIES = {
    "damaged": "open it in the program it comes from and save it again",
    "wrong_type": "give it the suffix of what it really is",
    "unsupported": "export it to a format that is read, such as PDF or text",
    "too_big": "split it, or raise limits.characters",
    "too_many_entries": "split it, or raise limits.entries",
    "too_complex": "split or simplify it",
    "nested_too_deep": "take out what lies deepest and add it on its own",
}
"""What to do where a parser says only what is wrong."""


def family(media_type: MediaType) -> str:
    """Return the kind as the subject of a sentence, with its verb."""
    return _FAMILIES.get(media_type, "files of this kind are")


def why_nothing(base: Item, made: MadeDocument) -> tuple[ItemState, str, str]:
    """Return state, word and sentence of a file that was read and holds no text."""
    units = made.document.coverage
    if made.waits_for:
        return ItemState.WAITING, made.waits_for, _WAITS.get(made.waits_for, f"it waits for {made.waits_for}")
    if made.members:
        count = len(made.members)
        files = "one file in it is an item of its own" if count == 1 else f"{count} files in it are items of their own"
        return ItemState.EMPTY, "members", f"it has no text of its own; the {files}"
    failed = Counter(unit.reason or "unreadable" for unit in units if unit.state == "failed")
    if failed and not any(unit.state in {"text", "ocr", "blank"} for unit in units):
        word = failed.most_common(1)[0][0]
        return ItemState.FAILED, word, f"no {units[0].kind} of it could be read"
    if base.active_doc_id:
        return ItemState.EMPTY, "empty", "there is no text in it any more; its last version with text is still searched"
    return ItemState.EMPTY, "empty", "there is no text in it"


def with_hint(error: Unreadable, size: int | None = None) -> str:
    """Return what happened and what to do; `size` is that of the file where it was read, in bytes."""
    if size == 0:
        return "the file is empty: there is not one byte in it; get it again from where it came from"
    hint = error.hint or _REMEDIES.get(error.reason, "")
    return f"{error.message}; {hint}" if hint else error.message
