"""Languages: by script where that tells, by statistics where the text is long enough, else none."""

from __future__ import annotations

import pytest

from kb.adapters.langid.detector import ScriptLanguageDetector

DETECTOR = ScriptLanguageDetector()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("지식 기반", "ko"),
        ("React와 TypeScript를 함께 쓰는 component 설계", "ko"),
        ("知识库", "zh-Hans"),
        ("知識庫的設計與實作", "zh-Hant"),
        ("人工", "zh-Hans"),
        ("在 Vue 里使用 v-model 组件的方法 with slots", "zh-Hans"),
        ("日本語のメモ", "ja"),
        ("東京タワー", "ja"),
        ("Следующая встреча состоится в среду утром", "ru"),
        ("Зустріч відбудеться в середу вранці, протокол принесе секретар", "uk"),
        ("سيعقد الاجتماع القادم صباح يوم الأربعاء", "ar"),
        ("جلسه بعدی چهارشنبه صبح برگزار می‌شود و گزارش را می‌آورد", "fa"),
        ("הפגישה הבאה תתקיים ביום רביעי", "he"),
        ("Η επόμενη συνάντηση", "el"),
        ("การประชุมครั้งต่อไป", "th"),
        ("अगली बैठक बुधवार को होगी", "hi"),
        ("The next meeting takes place on Wednesday morning.", "en"),
        ("Die nächste Besprechung findet am Mittwoch statt.", "de"),
        ("La próxima reunión será el miércoles por la mañana.", "es"),
        ("La prochaine réunion aura lieu mercredi matin.", "fr"),
        ("Cuộc họp tiếp theo sẽ diễn ra vào sáng thứ Tư.", "vi"),
    ],
)
def test_a_sentence_has_its_language(text: str, language: str) -> None:
    assert DETECTOR.detect(text) == language


@pytest.mark.parametrize("text", ["", "   ", "ok", "42 = 6 * 7", "x", "🙂🙂", "fn(a)"])
def test_too_little_to_tell_is_undetermined(text: str) -> None:
    assert DETECTOR.detect(text) == "und"


def test_one_foreign_word_does_not_make_a_language() -> None:
    text = "The Korean word 지식 means knowledge, and the rest of this sentence is about something else entirely."
    assert DETECTOR.detect(text) == "en"


def test_only_the_beginning_is_read() -> None:
    assert DETECTOR.detect("한국어 문장입니다. " * 300 + "english words " * 100_000) == "ko"
