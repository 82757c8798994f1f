"""Whoever has a file that was not read is told what to do about it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from pydantic.fields import FieldInfo

from kb.app.next_steps import NEXT_STEPS, needs_attention, next_step
from kb.app.settings import Settings
from kb.domain.coverage import CoverageUnit
from kb.domain.files import FileIdentity
from kb.domain.items import ItemState
from tests.builders import an_item


@pytest.mark.parametrize("word", sorted(NEXT_STEPS))
def test_each_reason_has_a_step_that_can_be_done(word: str) -> None:
    item = replace(an_item("a.pdf", state=ItemState.FAILED), reason=f"{word}: a sentence")
    assert next_step(item, ()) == NEXT_STEPS[word].replace("PATH", "a.pdf")
    assert NEXT_STEPS[word]


def test_a_step_names_the_file_to_type_and_of_a_member_its_container() -> None:
    item = replace(
        an_item("old mail.eml!/b.pdf", state=ItemState.WAITING),
        reason="locked: a sentence",
        identity=FileIdentity.inside(9, 9, 1),
    )
    assert "`kb ingest 'old mail.eml' --password`" in (next_step(item, ()) or "")
    partly = replace(an_item("old book.pdf", state=ItemState.READY), reason=None)
    pages = [CoverageUnit("page", 3, 3, "failed", reason="odd_new_word")]
    assert "`kb show 'old book.pdf' --coverage`" in (next_step(partly, pages) or "")


@pytest.mark.parametrize("state", [ItemState.FAILED, ItemState.WAITING])
def test_a_reason_nobody_foresaw_still_has_a_step(state: ItemState) -> None:
    item = replace(an_item("a.pdf", state=state), reason="odd_new_word: a sentence")
    assert "kb ingest --retry" in (next_step(item, ()) or "")
    assert needs_attention(item, ())


def test_a_document_says_what_to_do_about_its_unread_pages_once_for_each_reason() -> None:
    item = an_item("a.pdf", state=ItemState.READY)
    pages = [CoverageUnit("page", n, n, "waiting", reason="ocr_model") for n in (3, 5)]
    assert next_step(item, pages) == NEXT_STEPS["ocr_model"]
    assert needs_attention(item, pages)


def test_a_file_that_was_read_wholly_asks_for_nothing() -> None:
    for state in (ItemState.READY, ItemState.EMPTY):
        item = an_item("a.pdf", state=state)
        assert next_step(item, ()) is None
        assert not needs_attention(item, ())


def test_a_step_names_only_settings_there_are() -> None:
    known = {f"{section}.{key}" for section, field in Settings.model_fields.items() for key in keys_of(field)}
    named = {key for step in NEXT_STEPS.values() for key in re.findall(r"\b(?:limits|indexing)\.\w+", step)}
    assert len(named) > 8
    assert named <= known


def keys_of(field: FieldInfo) -> list[str]:
    return list(field.annotation.model_fields) if isinstance(field.annotation, type(Settings)) else []
