"""Which old encoding some bytes are in. East Asian ones by their commonest letters, others by charset-normalizer."""

from __future__ import annotations

import codecs
import re

_SAMPLE = 16 * 1024
_ENOUGH = 0.15
_CLEARLY = 1.4
_FOREIGN = re.compile(rb"[\x80-\xff]")
_OTHERS = ["cp1252", "cp1251", "koi8_r"]

# about a third to a half of the letters of any text in these languages
_KOREAN = (
    "이다는을의에가고하은로를사도지한기서리인대어해아자시일나수그스정있만보주으제과부라장여었들했와원전상구조요습니"
)
_CHINESE = (
    "的一是不了在人有我他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家"
    "十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从，。"
)
_TRADITIONAL = "這為來個們到說國時於會後對裡過發軍無經當與學進種將還從見沒書東長開關問題間實點現電動機體應"
_KANA = "".join(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB), 0x30FC, 0x3001, 0x3002)))

_EAST_ASIAN = (
    ("cp949", frozenset(_KOREAN)),
    ("gb18030", frozenset(_CHINESE)),
    ("big5", frozenset(_CHINESE + _TRADITIONAL)),
    ("cp932", frozenset(_KANA)),
    ("euc_jp", frozenset(_KANA)),
)


def legacy_encoding(data: bytes) -> str:
    """Return the likeliest encoding of text that is not Unicode; Latin ones when nothing speaks for another."""
    # what is plain tells nothing: begin at the first line that is not
    foreign = _FOREIGN.search(data)
    start = max(data.rfind(b"\n", 0, foreign.start()) + 1, foreign.start() - _SAMPLE // 2) if foreign else 0
    sample = data[start : start + _SAMPLE]
    whole = len(data) <= start + _SAMPLE
    scores = sorted(((_score(sample, name, letters, whole=whole), name) for name, letters in _EAST_ASIAN), reverse=True)
    (best, name), (second, _) = scores[:2]
    if best >= _ENOUGH and best >= _CLEARLY * second and _decodes(data, name):
        return name
    guessed = _statistics(sample, [*(name for score, name in scores if score > 0), *_OTHERS])
    if guessed and _decodes(data, guessed):
        return guessed
    if _decodes(data, "cp1252"):
        return "cp1252"
    # Bytes that are no letter of any Latin encoding: names and places without a word of grammar, in Han letters alone.
    possible = [name for name, _ in _EAST_ASIAN if _decodes(data, name)]
    return (_statistics(sample, possible) if possible else None) or "latin-1"


def _score(sample: bytes, encoding: str, letters: frozenset[str], *, whole: bool) -> float:
    """Return which share of the letters outside ASCII are the language's commonest, 0 when it cannot be."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample, final=whole)
    except UnicodeDecodeError:
        return 0.0
    foreign = [letter for letter in text if not letter.isascii()]
    return sum(letter in letters for letter in foreign) / len(foreign) if foreign else 0.0


def _statistics(sample: bytes, encodings: list[str]) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=encodings).best()
    return best.encoding if best else None


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
