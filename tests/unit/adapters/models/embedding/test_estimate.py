"""Tokens by characters: rather too many than too few, whatever the language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.models.embedding.estimate import EstimatingTokenizer
from kb.adapters.models.embedding.tokenizer import EmbedderTokenizer
from tests.unit.adapters.models.places import embedding_folder

TEXTS = [
    "The backup runs on Sunday at 03:00 and takes about an hour, unless somebody forgot to plug in the disk.",
    "Die Donaudampfschifffahrtsgesellschaft veröffentlicht jährlich Übersichten über außergewöhnliche Ereignisse.",
    "백업은 일요일 새벽 세 시에 시작하며 대략 한 시간쯤 걸린다.",
    "备份在星期日凌晨三点开始，大约需要一个小时。",
    "バックアップは日曜日の午前三時に始まります。",
    "Резервное копирование начинается в воскресенье в три часа ночи.",
    "يبدأ النسخ الاحتياطي يوم الأحد في الساعة الثالثة صباحا",
    "def run(self) -> None:\n    return self._runs[key]['at'] + 0x3f2a  # 9f8e7d6c5b4a3f2e1d0c",
    "sha256 1d9614638d18024d4f0a9b2c7e6f5d3a1b0c9e8d https://example.org/a/b?c=d&e=%20f 🍢🍢",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_real_tokenizer_finds_no_more_tokens(text: str) -> None:
    real = EmbedderTokenizer(embedding_folder())
    assert EstimatingTokenizer().count(text) >= real.count(text)


@given(st.text(max_size=200), st.integers(1, 40))
def test_the_fitting_beginning_is_the_longest_that_fits(text: str, limit: int) -> None:
    tokenizer = EstimatingTokenizer()
    size = tokenizer.fitting_prefix(text, limit)
    assert 1 <= size <= max(1, len(text))
    assert size == 1 or tokenizer.count(text[:size]) <= limit


@given(st.text(max_size=100), st.text(max_size=20))
def test_more_text_never_has_fewer_tokens_but_where_a_word_goes_on(text: str, more: str) -> None:
    tokenizer = EstimatingTokenizer()
    assert tokenizer.count(f"{text} {more}") >= tokenizer.count(text)


def test_what_a_letter_costs() -> None:
    count = EstimatingTokenizer().count
    assert [count(text) for text in ("tea", "teas", "a1b2", "茶", "차", "чай", "🍢", "a b", ".,", "")] == [
        *(2, 2, 4, 2, 3, 3, 4, 2, 2, 0)
    ]
