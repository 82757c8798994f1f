"""Where a word begins to be heard."""

from __future__ import annotations

import numpy as np
import pytest

from kb.adapters.speech.onsets import onset
from tests.unit.adapters.speech.sounds import tone

RATE = 16_000
LATE = np.concatenate([np.zeros(RATE // 2, np.float32), tone(0.5)])


def test_a_pause_before_a_word_is_no_part_of_it() -> None:
    assert onset(LATE, RATE, 0.1, 1.0) == pytest.approx(0.5, abs=0.05)


def test_a_word_that_is_heard_at_once_or_never_stays_where_it_is() -> None:
    assert onset(tone(1.0), RATE, 0.2, 0.9) == 0.2
    assert onset(np.zeros(RATE, np.float32), RATE, 0.2, 0.9) == 0.2


def test_noise_hides_the_beginning_and_nothing_is_moved() -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, RATE).astype(np.float32)
    assert onset(LATE + noise, RATE, 0.1, 1.0) == 0.1


def test_short_words_and_times_beyond_the_end_are_left_alone() -> None:
    assert onset(LATE, RATE, 0.4, 0.6) == 0.4
    assert onset(LATE, RATE, 5.0, 6.0) == 5.0
