"""The promise of every text index, kept by the fake and by Tantivy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.adapters.tantivy.index import TantivyTextIndex
from tests.contracts.text_search import TextSearchContract
from tests.fakes.search import FakeText


class TestFakeText(TextSearchContract):
    @pytest.fixture
    def index(self) -> FakeText:
        return FakeText()


class TestTantivyTextIndex(TextSearchContract):
    @pytest.fixture
    def index(self, tmp_path: Path) -> Iterator[TantivyTextIndex]:
        index = TantivyTextIndex(tmp_path / "tantivy", "library")
        yield index
        index.close()
