"""Layers found again by what they say, where a document is cut otherwise or has changed.

White space, case and widths never matter. A change is looked for with what stood around it (the W3C TextQuoteSelector
idea: exact, prefix, suffix), across the borders of passages; of several places the likest counts, and of equal ones the
nearest to where it was. What does not fit any more is said, never dropped.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kb.domain.layers import Change, Layer, LayerKind
from kb.domain.text import fold_with_origin

AROUND = 200
"""Characters kept of what stands before and after a passage."""

_LEAST = 16
"""Letters of a change and around it that must be the same, unless there are none to differ."""
_SHORT = 24
_ANCHOR = 8
_RUN = 12
_HALF = 0.5
_PLACES = 200


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as the file says it; what stands before the character `own` repeats the one before."""

    key: int
    text: str
    own: int = 0


@dataclass(frozen=True, slots=True)
class Attachment:
    """A layer lies on a passage, where it makes these changes; none for one that is disabled or deleted."""

    layer_id: str
    key: int
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Lost:
    """What of a layer fits no passage, in words."""

    layer_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reattached:
    """Where layers lie now, and what of them lies nowhere."""

    attachments: tuple[Attachment, ...]
    lost: tuple[Lost, ...]


def reattach(layers: Iterable[Layer], passages: Sequence[Passage]) -> Reattached:
    """Find layers again on the passages of one document, given in its order.

    A layer of text lies on each passage that holds one of its changes; one that lies over the border of two is made in
    both. A disabled or deleted one lies on the passages at least half of which is its text, if together they hold at
    least half of it.
    """
    stream = _Stream(passages)
    attachments: list[Attachment] = []
    lost: list[Lost] = []
    for layer in layers:
        found = stream.same_passage(layer)
        if found is not None:
            changes = layer.changes() if layer.kind is LayerKind.TEXT else ()
            attachments.append(Attachment(layer.layer_id, passages[found].key, changes))
            continue
        made, reason = stream.changed(layer) if layer.kind is LayerKind.TEXT else stream.taken_out(layer)
        attachments += made
        if reason:
            lost.append(Lost(layer.layer_id, reason))
    return Reattached(tuple(attachments), tuple(lost))


@dataclass(slots=True)
class _Letters:
    """A text folded and without white space; each letter knows where it came from."""

    letters: str
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def of(cls, text: str) -> _Letters:
        folded, starts, ends = fold_with_origin(text)
        kept = [index for index, letter in enumerate(folded) if not letter.isspace()]
        return cls("".join([folded[i] for i in kept]), [starts[i] for i in kept], [ends[i] for i in kept])

    def range(self, start: int, end: int) -> tuple[int, int]:
        """Return the letters that came from the characters `start` to `end`."""
        first = bisect_left(self.starts, start)
        return first, max(first, bisect_right(self.ends, end))


@dataclass(slots=True)
class _Stream:
    """The own texts of all passages as one run of letters."""

    passages: Sequence[Passage]
    letters: str = ""
    first: list[int] = field(default_factory=list)
    """The number in `letters` of the first letter of each passage."""
    folded: list[_Letters] = field(default_factory=list)

    def __post_init__(self) -> None:
        pieces: list[str] = []
        at = 0
        for passage in self.passages:
            own = _Letters.of(passage.text[passage.own :])
            self.folded.append(own)
            self.first.append(at)
            pieces.append(own.letters)
            at += len(own.letters)
        self.letters = "".join(pieces)

    def same_passage(self, layer: Layer) -> int | None:
        """Return the number of the passage that says what the layer's said; of several the one that stands alike."""
        same = [number for number, passage in enumerate(self.passages) if passage.text == layer.source_text]
        if len(same) < 2:  # noqa: PLR2004 - nothing to choose
            return same[0] if same else None
        before, after = _Letters.of(layer.before).letters, _Letters.of(layer.after).letters

        def likeness(number: int) -> tuple[int, float]:
            start, end = self.first[number], self.first[number] + len(self.folded[number].letters)
            around = _alike_before(self.letters, start, before) + _alike_after(self.letters, end, after)
            return around, -abs(number / max(1, len(self.passages)) - layer.at)

        return max(same, key=likeness)

    def changed(self, layer: Layer) -> tuple[list[Attachment], str]:
        """Return where the changes of a layer of text are to be made, and what is not found of them."""
        source = _Letters.of(layer.source_text)
        before, after = _Letters.of(layer.before).letters, _Letters.of(layer.after).letters
        changes = layer.changes()
        found: dict[int, list[Change]] = {}
        missing = 0
        for change in changes:
            start, end = source.range(change.start, change.end)
            place = self._place(
                before + source.letters[:start], source.letters[start:end], source.letters[end:] + after, layer.at
            )
            if place is None:
                missing += 1
                continue
            gone = layer.source_text[change.start : change.end]
            for number, made in self._made(place, change.text, gone):
                found.setdefault(number, []).append(made)
        attachments = [
            Attachment(layer.layer_id, self.passages[number].key, tuple(sorted(made, key=lambda one: one.start)))
            for number, made in sorted(found.items())
        ]
        if not missing:
            return attachments, ""
        # Whole or not at all: half an edit in a text that was changed too says what nobody wrote.
        if missing == len(changes):
            return [], "the text it changed does not stand in the file any more"
        return [], f"{missing} of its {len(changes)} changes do not fit the file any more"

    def taken_out(self, layer: Layer) -> tuple[list[Attachment], str]:
        """Return the passages that say little else than what was taken out."""
        text = _Letters.of(layer.source_text[layer.own :]).letters
        before, after = _Letters.of(layer.before).letters, _Letters.of(layer.after).letters
        place = self._place(before, text, after, layer.at) if text else None
        held = dict(self._within(place) if place else self._alike(text))
        out = [
            number
            for number, letters in held.items()
            if sum(letters) >= _HALF * max(1, len(self.folded[number].letters)) and sum(letters)
        ]
        together = sum(sum(held[number]) for number in out)
        if not out or together < _HALF * len(text):
            return [], "most of its text does not stand in the file any more"
        return [Attachment(layer.layer_id, self.passages[number].key) for number in sorted(out)], ""

    def _place(self, before: str, exact: str, after: str, at: float) -> tuple[int, int, int, int] | None:
        """Return first and last letter of the likest place of `exact`, and how much before and after it is alike."""
        best: tuple[int, float] | None = None
        place: tuple[int, int, int, int] | None = None
        total = max(1, len(self.letters))
        for start in self._candidates(before, exact, after, round(at * total)):
            end = start + len(exact)
            left = _alike_before(self.letters, start, before)
            right = _alike_after(self.letters, end, after)
            is_all = left == len(before) and right == len(after)
            if not is_all and left + right + len(exact) < _LEAST:
                continue
            score = (left + right, -abs(start / total - at))
            if best is None or score > best:
                best, place = score, (start, end, left, right)
        return place

    def _candidates(self, before: str, exact: str, after: str, near: int) -> set[int]:
        """Return where `exact` may stand: a short one only beside letters that stood beside it."""
        if len(exact) >= _SHORT or not (before or after):
            return set(_around(self.letters, exact, near))
        head, tail = before[-_ANCHOR:], after[:_ANCHOR]
        found: set[int] = set()
        if head:
            found = {start + len(head) for start in _around(self.letters, head + exact, near)}
        if tail:
            found |= set(_around(self.letters, exact + tail, near))
        return found

    def _made(self, place: tuple[int, int, int, int], text: str, gone: str) -> Iterator[tuple[int, Change]]:
        """Yield the change in each passage that a place lies in, by the number of the passage."""
        start, end, left, right = place
        if start == end:
            # Added text goes with the letters it was found beside.
            is_behind = start > 0 and (left >= right or start >= len(self.letters))
            number = self._passage(start - 1 if is_behind else start)
            own, letters = self.passages[number].own, self.folded[number]
            index = start - self.first[number]
            at = own + (letters.ends[index - 1] if is_behind else letters.starts[index])
            yield number, Change(at, at, text)
            return
        for number in range(self._passage(start), self._passage(end - 1) + 1):
            own, letters = self.passages[number].own, self.folded[number]
            first, last = max(0, start - self.first[number]), min(len(letters.letters), end - self.first[number])
            if first >= last:
                continue
            begin, close = own + letters.starts[first], own + letters.ends[last - 1]
            yield number, _with_space(self.passages[number].text, own, Change(begin, close, text), gone)

    def _passage(self, letter: int) -> int:
        return bisect_right(self.first, letter) - 1

    def _within(self, place: tuple[int, int, int, int]) -> Iterator[tuple[int, list[bool]]]:
        start, end, _, _ = place
        for number in range(self._passage(start), self._passage(end - 1) + 1):
            first, size = self.first[number], len(self.folded[number].letters)
            yield number, [start <= first + index < end for index in range(size)]

    def _alike(self, text: str) -> Iterator[tuple[int, list[bool]]]:
        """Yield, for each passage that shares runs of letters with a text, which of its letters are in one."""
        runs = {text[at : at + _RUN] for at in range(len(text) - _RUN + 1)}
        for number, own in enumerate(self.folded):
            held = [False] * len(own.letters)
            for at in range(len(own.letters) - _RUN + 1):
                if own.letters[at : at + _RUN] in runs:
                    held[at : at + _RUN] = [True] * _RUN
            if any(held):
                yield number, held


def _with_space(text: str, own: int, change: Change, gone: str) -> Change:
    """Let a change take the white space with it that the text it replaced began or ended with."""
    start, end = change.start, change.end
    if gone[-1:].isspace():
        while end < len(text) and text[end].isspace():
            end += 1
    if gone[:1].isspace():
        while start > own and text[start - 1].isspace():
            start -= 1
    return Change(start, end, change.text)


def _around(text: str, wanted: str, near: int) -> Iterator[int]:
    """Yield where a text holds another: at most so many places on each side of `near`, since some files repeat one."""
    at = text.find(wanted, near)
    for _ in range(_PLACES):
        if at < 0:
            break
        yield at
        at = text.find(wanted, at + 1)
    at = text.rfind(wanted, 0, max(0, near + len(wanted) - 1))
    for _ in range(_PLACES):
        if at < 0:
            break
        yield at
        at = text.rfind(wanted, 0, max(0, at + len(wanted) - 1))


def _alike_before(text: str, end: int, wanted: str) -> int:
    """Return how many letters before `end` are those that `wanted` ends with."""
    most = min(end, len(wanted))
    return next((n for n in range(most) if text[end - 1 - n] != wanted[-1 - n]), most)


def _alike_after(text: str, start: int, wanted: str) -> int:
    """Return how many letters from `start` on are those that `wanted` begins with."""
    most = min(len(text) - start, len(wanted))
    return next((n for n in range(most) if text[start + n] != wanted[n]), most)
