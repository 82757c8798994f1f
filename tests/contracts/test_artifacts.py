"""The artifact store in memory and the one of files keep the same promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.adapters.files.artifacts import FileArtifacts
from kb.ingest.ports import ArtifactStore
from tests.contracts.artifacts import ArtifactPromises
from tests.fakes.artifacts import MemoryArtifacts


class TestMemory(ArtifactPromises):
    @pytest.fixture
    def artifacts(self) -> ArtifactStore:
        return MemoryArtifacts()


class TestFiles(ArtifactPromises):
    @pytest.fixture
    def artifacts(self, tmp_path: Path) -> ArtifactStore:
        return FileArtifacts(tmp_path)
