"""Names in a list: every one is looked at for every query."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz.distance import DamerauLevenshtein

from kb.domain.hangul import INITIALS, initial_of
from kb.domain.names import NameHit, NameMatch, folded, highlighted, own_name
from kb.domain.recipes import ItemId

_SIMPLE = str.maketrans("資料庫設計", "资料库设计")


def simplify(text: str) -> str:
    return text.translate(_SIMPLE)


@dataclass
class FakeNames:
    """Paths by item id."""

    paths: dict[ItemId, str] = field(default_factory=dict)

    def named(self, query: str, limit: int) -> Sequence[NameHit]:
        text = " ".join(folded(query, simplify).split())
        found = []
        for item_id, path in self.paths.items():
            match, wanted = _match(text, folded(own_name(path), simplify))
            if match is not None:
                found.append(NameHit(item_id, path, match, highlighted(path, wanted, simplify)))
        return sorted(found, key=lambda hit: (hit.match, hit.path))[:limit]


def _match(text: str, name: str) -> tuple[NameMatch | None, tuple[str, ...]]:  # noqa: PLR0911 - one for each way
    words = text.split()
    if not any(map(str.isalnum, text)):
        return None, ()
    at = name.find(text)
    if name == text or re.fullmatch(re.escape(text) + r"\.\w+", name):
        return NameMatch.EXACT, (text,)
    if at == 0:
        return NameMatch.START, (text,)
    if any(_begins_word(name, place.start()) for place in re.finditer(re.escape(text), name)):
        return NameMatch.WORD_START, (text,)
    if at > 0:
        return NameMatch.INSIDE, (text,)
    if all(word in name for word in words):
        return NameMatch.INSIDE, tuple(words)
    for start in range(len(name) - len(text) + 1):
        there = name[start : start + len(text)]
        if all(a == b or (a in INITIALS and initial_of(b) == a) for a, b in zip(text, there, strict=True)):
            return NameMatch.INITIALS, (there,)
    parts = re.findall(r"[^\W\d_]{3,}", name)
    likes = [next((part for part in [word, *parts] if part in name and _alike(word, part)), "") for word in words]
    return (NameMatch.TYPO, tuple(likes)) if all(likes) else (None, ())


def _begins_word(name: str, at: int) -> bool:
    before, here = unicodedata.name(name[at - 1], "").split()[0], unicodedata.name(name[at], "").split()[0]
    return not name[at - 1].isalnum() or (before != here and "HANGUL" in {before, here})


def _alike(word: str, part: str) -> bool:
    slips = 0 if len(word) < 4 or not word.isalpha() or not word.isascii() else 2 if len(word) >= 8 else 1
    return DamerauLevenshtein.distance(word, part) <= slips
