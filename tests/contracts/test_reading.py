"""The contract of readers of formats, held by the fake and by child processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.adapters.workers.process import ChildSetup
from kb.adapters.workers.reader import ChildReader
from kb.domain.limits import ReadingLimits
from tests.contracts.reading import FormatReaderContract
from tests.fakes.reader_child import COMMAND, VERSIONS
from tests.fakes.reading import FakeFormatReader


@pytest.fixture(scope="module")
def children(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildReader]:
    folder: Path = tmp_path_factory.mktemp("scratch")
    reader = ChildReader(VERSIONS, ChildSetup(COMMAND, ReadingLimits(seconds=60), folder=folder), width=2)
    yield reader
    reader.close()
    assert list(folder.iterdir()) == []


class TestFake(FormatReaderContract):
    @pytest.fixture
    def reader(self) -> FakeFormatReader:
        return FakeFormatReader()


class TestChildren(FormatReaderContract):
    @pytest.fixture
    def reader(self, children: ChildReader) -> ChildReader:
        return children
