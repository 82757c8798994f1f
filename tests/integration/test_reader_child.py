"""The child of an ordinary installation reads files with the real parsers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.app.bootstrap import Parts
from kb.app.config_file import load_configuration
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.paths import WorkspacePath
from tests.fakes.reading import content


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    opened = Parts(load_configuration({"KB_HOME": str(tmp_path), "KB_MODELS_EMBEDDING_PROVIDER": "none"}))
    yield opened
    opened.close()


def test_a_notebook_is_read_in_a_child(parts: Parts) -> None:
    notebook = b"""{"nbformat": 4, "nbformat_minor": 5, "metadata": {},
        "cells": [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": "Tea is warm."}]}"""
    read = parts.reader.begin(content(notebook), WorkspacePath("a.ipynb"), MediaType.NOTEBOOK).result()
    assert "Tea is warm." in [block.text for block in read.blocks]


def test_a_damaged_file_has_a_reason_and_the_next_is_read(parts: Parts) -> None:
    bad = parts.reader.begin(content(b"\x00" * 100), WorkspacePath("a.ipynb"), MediaType.NOTEBOOK)
    page = parts.reader.begin(content(b"<p>Tea is warm.</p>"), WorkspacePath("a.html"), MediaType.HTML)
    with pytest.raises(Unreadable) as failure:
        bad.result()
    assert failure.value.reason in {"damaged", "wrong_type"}
    assert [block.text for block in page.result().blocks] == ["Tea is warm."]


def test_nothing_is_left_in_the_data_folder(parts: Parts) -> None:
    parts.reader.begin(content(b"<p>Tea is warm.</p>"), WorkspacePath("a.html"), MediaType.HTML).result()
    parts.close()
    assert list((parts.configuration.data_dir / "scratch").iterdir()) == []
