"""Homes for the real command `kb`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.homes import Home, sample_home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A new home, initialised, with an empty workspace and no vectors."""
    made = Home(tmp_path)
    made.ok("init")
    return made


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The sample, read with vectors; not to be changed."""
    return sample_home(tmp_path_factory.mktemp("sample"))
