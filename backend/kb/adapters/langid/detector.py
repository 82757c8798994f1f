"""The language of a text, from its first two thousand characters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kb.adapters.langid.chinese import chinese_script

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_SAMPLE = 2000
_STATISTICS_SAMPLE = 400
_MIN_LETTERS = 20
_MIN_PROBABILITY = 0.5
# a Han, Kana or Hangul letter says about as much as three Latin ones
_WEIGHT = 3
_SHARE = 0.3
_KANA_SHARE = 0.06

_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]+")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d]+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_LETTERS = re.compile(r"[^\W\d_]+")

_SCRIPTS = (
    (re.compile("[\u0e01-\u0e5b]+"), "th"),
    (re.compile("[\u0590-\u05ff]+"), "he"),
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]+"), "el"),
    (re.compile("[\u10a0-\u10ff]+"), "ka"),
    (re.compile("[\u0530-\u058f]+"), "hy"),
    (re.compile("[\u0b80-\u0bff]+"), "ta"),
    (re.compile("[\u0980-\u09ff]+"), "bn"),
    (re.compile("[\u0900-\u097f]+"), "hi"),
)
_PERSIAN = re.compile("[\u067e\u0686\u0698\u06af\u06cc]")
_ARABIC = re.compile("[\u0600-\u06ff\u0750-\u077f]+")
_CYRILLIC = re.compile("[\u0400-\u052f]+")
_LANGUAGES = (
    *("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "pl", "cs", "sk", "hu", "ro", "tr", "vi"),
    *("id", "ca", "hr", "sl", "et", "lv", "lt", "is", "ru", "uk", "bg", "sr", "mk", "be", "ar", "fa", "ur"),
)


class ScriptLanguageDetector:
    """Detects by script for Korean, Chinese, Japanese and others with letters of their own; by py3langid the rest."""

    def __init__(self) -> None:
        self._identifier: LanguageIdentifier | None = None

    def detect(self, text: str) -> str:
        """Return an ISO 639-1 code, `zh-Hans`/`zh-Hant` for Chinese, `und` when unsure."""
        sample = text[:_SAMPLE]
        if not sample.isascii():
            by_script = _by_script(sample, _length(_LETTERS, sample))
            if by_script:
                return by_script
        return self._by_statistics(sample[:_STATISTICS_SAMPLE])

    def _by_statistics(self, sample: str) -> str:
        if _length(_LETTERS, sample) < _MIN_LETTERS:
            return "und"
        if self._identifier is None:
            from py3langid.langid import MODEL_FILE, LanguageIdentifier

            self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
            self._identifier.set_languages(list(_LANGUAGES))
        language, probability = self._identifier.classify(sample)
        return str(language) if probability >= _MIN_PROBABILITY else "und"


def _by_script(sample: str, letters: int) -> str | None:
    hangul, kana, han = (_length(pattern, sample) for pattern in (_HANGUL, _KANA, _HAN))
    east = hangul + kana + han
    total = letters - east + _WEIGHT * east
    if east and _WEIGHT * east >= _SHARE * total:
        return _east_asian(sample, hangul, kana, han)
    for pattern, language in _SCRIPTS:
        if _length(pattern, sample) > letters / 2:
            return language
    if letters < _MIN_LETTERS and _length(_ARABIC, sample) > letters / 2:
        return "fa" if _PERSIAN.search(sample) else "ar"
    if letters < _MIN_LETTERS and _length(_CYRILLIC, sample) > letters / 2 and re.search("[ыэёъ]", sample):
        return "ru"
    return None


def _east_asian(sample: str, hangul: int, kana: int, han: int) -> str:
    # Korean with many Chinese letters still has its particles
    if hangul >= kana + _SHARE * han:
        return "ko"
    if kana >= _KANA_SHARE * (kana + han):
        return "ja"
    return chinese_script(sample)


def _length(pattern: re.Pattern[str], text: str) -> int:
    return sum(map(len, pattern.findall(text)))
