"""What stands in real office files is found by our parsers."""

from __future__ import annotations

import pytest

from kb.domain.items import MediaType
from tests.bench.office_recall import Recall, office_files, recalls

OURS = {MediaType.DOCX, MediaType.PPTX, MediaType.XLSX, MediaType.CSV}


@pytest.fixture(scope="module")
def found() -> list[Recall]:
    folder = office_files()
    if folder is None:
        pytest.skip("no office files here (KEBAB_SHARED)")
    return list(recalls(folder, pictures=False))


def test_every_string_of_every_office_file_is_found(found: list[Recall]) -> None:
    office = [one for one in found if one.media in OURS]
    assert len(office) >= 15
    assert [(one.path, one.state, one.text) for one in office if one.state != "read" or one.text[0] < one.text[1]] == []


def test_every_file_that_is_read_gives_all_its_strings(found: list[Recall]) -> None:
    read = [one for one in found if one.state == "read"]
    assert [(one.path, one.missing) for one in read if one.text[0] < one.text[1]] == []


def test_no_file_is_refused(found: list[Recall]) -> None:
    assert {one.state for one in found} <= {"read", "no parser"}
