"""Every sentence about a file that was not read says what to do."""

from __future__ import annotations

import pytest

from kb.domain.errors import Unreadable
from kb.ingest.reasons import with_hint


@pytest.mark.parametrize(
    "reason",
    ["damaged", "wrong_type", "unsupported", "too_big", "too_many_entries", "too_complex", "nested_too_deep"],
)
def test_a_parser_that_says_only_what_is_wrong_is_completed(reason: str) -> None:
    sentence = with_hint(Unreadable("it is odd", reason=reason))
    assert sentence.startswith("it is odd; ")
    assert len(sentence) > len("it is odd; ")


def test_a_parser_that_knows_better_is_believed() -> None:
    assert with_hint(Unreadable("it is odd", hint="shake it", reason="damaged")) == "it is odd; shake it"


def test_an_empty_file_is_called_empty_whatever_its_kind() -> None:
    sentence = with_hint(Unreadable("it is no archive", hint="save it again", reason="damaged"), 0)
    assert sentence.startswith("the file is empty")
    assert with_hint(Unreadable("it is no archive", reason="damaged"), 1).startswith("it is no archive")
