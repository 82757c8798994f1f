"""Which places lie inside a document."""

from __future__ import annotations

import pytest

from kb.adapters.parsers.sound.ledger import seconds_heard
from kb.app.extents import Extent
from kb.domain.places import TimePlace
from kb.ingest.reading_ports import SpokenSegment, SpokenWord


@pytest.mark.parametrize("length", [10.4, 10.5, 10.6, 0.3])
def test_the_last_word_of_a_recording_lies_inside_it_however_its_length_is_rounded(length: float) -> None:
    said = SpokenSegment((SpokenWord(" bye", length - 0.3, length, 0.9),), 0.9, "en")
    heard = Extent(ledger=seconds_heard([said], length))
    assert heard.holds(TimePlace(round((length - 0.3) * 1000), round(length * 1000)))
    assert not heard.holds(TimePlace(0, 12_000))
