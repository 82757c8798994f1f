"""Terms of a text for comparing sentences: folded words, and pairs of letters where words have no spaces."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from kb.domain.text import CJK, fold

_RUN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_CJK = re.compile(rf"[{CJK}]")
_SUFFIX = re.compile(r"(?<=\w{3})(?:ies|ing|ers|er|ed|es|ly|s|e|y)\Z")

_STOP_WORDS = """
a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its
many may much of on or our she should so some such than that the their them then there these they this those to under
us was we were what when where which while who whom whose why will with would you your
은 는 이 가 을 를 의 에 와 과 도 로 으로 에서 무엇 누구 언제 어디 어떻게 얼마 몇 어떤 무슨 왜
什么 多少 哪个 哪些 哪里 怎么 怎样 如何 为何 为什 谁 几 吗 呢 的 了 是 在 和 与
"""
_STOP = frozenset(_STOP_WORDS.split())


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[str]:
    """Return the terms of `text`: words without common endings, letter pairs of Han, Kana and Hangul runs."""
    found: set[str] = set()
    for run in _RUN.findall(fold(text)):
        if not _CJK.match(run):
            if run not in _STOP:
                found.add(_SUFFIX.sub("", run))
        elif len(run) == 1:
            found.add(run)
        else:
            found.update(run[i : i + 2] for i in range(len(run) - 1))
    return frozenset(found - _STOP)


def rarity(texts: Iterable[frozenset[str]]) -> Mapping[str, float]:
    """Return the weight of each term: ln(1 + (N - n + .5) / (n + .5)), the idf of BM25 (Robertson & Zaragoza 2009)."""
    count: Counter[str] = Counter()
    total = 0
    for text in texts:
        total += 1
        count.update(text)
    return {term: math.log(1 + (total - n + 0.5) / (n + 0.5)) for term, n in count.items()}


def overlap(question: frozenset[str], text: frozenset[str], weights: Mapping[str, float]) -> float:
    """Return the share (0 to 1) of the question's weight that `text` has; terms seen nowhere do not count."""
    whole = sum(weights.get(term, 0.0) for term in question)
    return sum(weights.get(term, 0.0) for term in question & text) / whole if whole else 0.0
