"""Words and speech of documents as files: whole or not at all, private, readable a page at a time."""

from __future__ import annotations

import errno
import gzip
import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.files.artifacts import FileArtifacts
from kb.domain.failures import StorageFailed
from kb.domain.pages import PageText, Word, WordBoxes
from kb.domain.recipes import DocumentId
from tests.contracts.artifacts import DOC, FIRST, OTHER, SCAN, SPOKEN


@given(
    st.lists(
        st.builds(
            PageText,
            st.integers(1, 20_000),
            st.floats(1, 10_000),
            st.floats(1, 10_000),
            st.sampled_from(["text", "ocr"]),
            st.text(),
            st.lists(st.builds(Word, *[st.integers(0, 100_000)] * 7)).map(WordBoxes),
            st.none() | st.floats(0, 1),
        ),
        unique_by=lambda page: page.page,
    )
)
def test_any_pages_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, pages: list[PageText]) -> None:
    store = FileArtifacts(tmp_path_factory.mktemp("data"))
    store.keep(DOC, pages, None)
    store.settle()
    assert [store.page(DOC, page.page) for page in pages] == pages


def test_a_file_is_json_lines_that_any_gzip_can_show(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    store.keep(DOC, [FIRST, SCAN], SPOKEN)
    store.settle()
    assert sorted(path.name for path in (tmp_path / "artifacts" / DOC).iterdir()) == ["ocr", "pdf-text", "transcript"]
    lines = gzip.decompress((tmp_path / "artifacts" / DOC / "pdf-text").read_bytes()).decode().splitlines()
    assert json.loads(lines[1])["text"] == "두 마리 cats"


def test_files_and_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    store.keep(DOC, [FIRST], None)
    store.settle()
    folder = tmp_path / "artifacts" / DOC
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "pdf-text")]
    assert modes == [0o700, 0o600]


def test_nothing_is_in_its_place_before_it_is_settled(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    store.keep(DOC, [FIRST], None)
    assert store.page(DOC, 1) is None
    assert store.documents() == []
    store.settle()
    assert store.documents() == [DOC]
    assert list((tmp_path / "artifacts" / ".new").iterdir()) == []


def test_what_a_kill_left_unsettled_is_swept_by_the_next_run(tmp_path: Path) -> None:
    FileArtifacts(tmp_path).keep(DOC, [FIRST], None)
    store = FileArtifacts(tmp_path)
    store.keep(OTHER, [SCAN], None)
    assert len(list((tmp_path / "artifacts" / ".new").iterdir())) == 1
    store.settle()
    assert store.documents() == [OTHER]


def test_a_full_disk_leaves_the_earlier_words_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FileArtifacts(tmp_path)
    store.keep(DOC, [FIRST], None)
    store.settle()

    def refuse(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    store.keep(DOC, [SCAN], None)
    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(StorageFailed, match="disk is full"):
        store.settle()
    assert (store.page(DOC, 1), store.page(DOC, 2)) == (FIRST, None)
    assert list((tmp_path / "artifacts" / ".new").iterdir()) == []


@pytest.mark.parametrize("end", [0, 5, 40, -3])
def test_a_damaged_file_costs_its_words_only(tmp_path: Path, end: int) -> None:
    store = FileArtifacts(tmp_path)
    store.keep(DOC, [FIRST], SPOKEN)
    store.settle()
    for name in ("pdf-text", "transcript"):
        path = tmp_path / "artifacts" / DOC / name
        path.write_bytes(path.read_bytes()[:end])
    assert (store.page(DOC, 1), store.transcript(DOC)) == (None, None)


@pytest.mark.parametrize("name", ["", "..", "../" * 3 + "etc", "0" * 31, "A" * 32])
def test_a_name_that_is_no_document_reaches_no_file(tmp_path: Path, name: str) -> None:
    store = FileArtifacts(tmp_path)
    (tmp_path / "artifacts").mkdir()
    (tmp_path / "ocr").write_bytes(b"mine")
    store.discard([DocumentId(name)])
    assert store.page(DocumentId(name), 1) is None
    assert (tmp_path / "ocr").read_bytes() == b"mine"


def test_a_page_of_a_long_book_is_read_without_the_others(tmp_path: Path) -> None:
    words = WordBoxes([Word(n * 6, n * 6 + 5, n, n, n + 5, n + 5, n // 10) for n in range(300)])
    pages = [PageText(number, 595.0, 842.0, "text", f"page {number} " * 150, words) for number in range(1, 301)]
    store = FileArtifacts(tmp_path)
    store.keep(DOC, pages, None)
    store.settle()
    path = tmp_path / "artifacts" / DOC / "pdf-text"
    data = bytearray(path.read_bytes())
    middle = store.page(DOC, 150)
    data[-2000:] = b"\0" * 2000  # the last pages are lost
    path.write_bytes(data)
    assert middle == pages[149] == store.page(DOC, 150)
    assert store.page(DOC, 300) is None
