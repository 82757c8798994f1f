"""Before a document is shown, the index is asked for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.adapters.tantivy.index import TantivyTextIndex
from kb.domain.recipes import DocumentId
from kb.domain.versions import Probe
from tests.contracts.text_search import entry, snapshot


@pytest.fixture
def index(tmp_path: Path) -> TantivyTextIndex:
    index = TantivyTextIndex(tmp_path / "tantivy", "library")
    index.rebuild(
        snapshot(
            1,
            entry(1, "Onions are cut in rings. Yes.", doc="en"),
            entry(2, "Nothing of the kind.", doc="en"),
            entry(3, "백업은 일요일 세 시에 한다.", doc="ko"),
            entry(4, "猫叫味噌。", doc="zh"),
            entry(5, "*** --- ***", doc="marks"),
        )
    )
    return index


@pytest.mark.parametrize(
    ("doc", "entries", "key", "text"),
    [
        ("en", 2, 1, "Onions are cut in rings. Yes."),
        ("ko", 1, 3, "백업은 일요일 세 시에 한다."),
        ("zh", 1, 4, "猫叫味噌。"),
        ("marks", 1, 5, "*** --- ***"),
    ],
)
def test_a_document_that_is_whole_is_found_by_its_own_sentence(
    index: TantivyTextIndex, doc: str, entries: int, key: int, text: str
) -> None:
    assert index.missing([Probe(DocumentId(doc), entries, key, text)]) == {}


@pytest.mark.parametrize(
    ("probe", "why"),
    [
        (Probe(DocumentId("en"), 3, 1, "Onions are cut in rings."), "the text index holds 2 of its 3 passages"),
        (Probe(DocumentId("none"), 1, 9, "Onions are cut."), "the text index holds 0 of its 1 passages"),
        (Probe(DocumentId("en"), 2, 2, "Onions are cut in rings."), "one of its own sentences does not find it"),
        (Probe(DocumentId("marks"), 1, 5, "Zymurgy quodlibet."), "the text index has none of its words"),
    ],
)
def test_a_document_that_is_not_whole_or_not_found_says_why(index: TantivyTextIndex, probe: Probe, why: str) -> None:
    assert index.missing([probe]) == {probe.doc_id: why}


def test_an_index_with_many_deleted_texts_is_loose(index: TantivyTextIndex) -> None:
    assert not index.is_loose()
