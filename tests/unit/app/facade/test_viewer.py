"""A citation or a chunk leads to the place it came from, in the version it came from."""

from __future__ import annotations

import pytest

from kb.contract.viewer import ViewerContextRequest, ViewerOpenRequest
from kb.domain.errors import NotFound
from tests.unit.app.facade.conftest import Home


def test_a_found_chunk_opens_at_its_lines(home: Home) -> None:
    home.put("a.md", "# Boats\n\nAnchors weigh 85 kg.\n\nChains rust.\n")
    with home.opened() as desk:
        desk.ingest()
        hit = desk.find("anchors")[0]
        view = desk.facade.viewer.open(ViewerOpenRequest(chunk_id=hit.chunk_id, quote="Chains\nrust."))
        assert (view.state, view.quote) == ("exact", "Chains rust.")
        assert view.lines is not None
        assert (view.lines.start, view.lines.end) == (5, 5)
        by_citation = desk.facade.viewer.open(ViewerOpenRequest(citation=hit.citation.uri))
        assert (by_citation.state, by_citation.doc_path) == ("exact", "a.md")


def test_a_quote_is_found_whatever_width_its_letters_have(home: Home) -> None:
    home.put("a.md", "# 应用\n\n组件的属性（数据、计算属性等）… ½ 的说明。\n")
    with home.opened() as desk:
        desk.ingest()
        hit = desk.find("计算属性")[0]
        for quote in ("属性（数据、计算属性等）", "属性(数据、计算属性等)... 1⁄2 的"):
            view = desk.facade.viewer.open(ViewerOpenRequest(chunk_id=hit.chunk_id, quote=quote))
            assert view.quote is not None
            assert view.quote.startswith("属性（数据")


def test_a_chunk_of_an_earlier_version_opens_where_its_words_are_now(home: Home) -> None:
    home.put("a.md", "# Boats\n\nAnchors weigh 85 kg.\n")
    with home.opened() as desk:
        desk.ingest()
        hit = desk.find("anchors")[0]
        home.put("a.md", "# Boats\n\nA new line.\n\nAnchors weigh 85 kg.\n")
        desk.ingest()
        view = desk.facade.viewer.open(ViewerOpenRequest(chunk_id=hit.chunk_id, quote="Anchors weigh"))
        assert view.state == "moved"
        assert view.lines is not None
        assert view.lines.start == 5
        home.put("a.md", "# Boats\n\nNothing of it is left.\n")
        desk.ingest()
        assert desk.facade.viewer.open(ViewerOpenRequest(chunk_id=hit.chunk_id)).state == "gone"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp949"])
def test_the_text_of_a_source_is_the_text_that_was_searched(home: Home, encoding: str) -> None:
    text = "# 닻\n\n닻의 무게는 85킬로그램이며 해마다 검사한다. 사슬은 녹이 슬기 쉬우므로 기름을 바른다.\n"
    home.put("a.md", text.replace("\n", "\r\n").encode(encoding))
    with home.opened() as desk:
        desk.ingest()
        hit = desk.find("무게")[0]
        assert hit.item_id is not None
        assert desk.facade.viewer.markdown(hit.item_id) == text


def test_without_copies_an_earlier_version_is_gone_once_the_file_has_changed(home: Home) -> None:
    home.put("a.md", "First words.\n")
    with home.opened({"KB_STORAGE_COPY_ORIGINALS": "false"}) as desk:
        desk.ingest()
        hit = desk.find("first")[0]
        assert hit.item_id is not None
        viewer = desk.facade.viewer
        first = viewer.file(hit.item_id, hit.doc_id)
        assert first.path.read_text() == "First words.\n"
        home.put("a.md", "Second words.\n")
        assert viewer.file(hit.item_id).etag != first.etag
        desk.ingest()
        assert viewer.file(hit.item_id).path.read_text() == "Second words.\n"
        with pytest.raises(NotFound):
            viewer.file(hit.item_id, hit.doc_id)


def test_with_copies_every_kept_version_can_be_read(home: Home) -> None:
    home.put("a.md", "First words.\n")
    with home.opened() as desk:
        desk.ingest()
        hit = desk.find("first")[0]
        assert hit.item_id is not None
        home.put("a.md", "Second words.\n")
        desk.ingest()
        viewer = desk.facade.viewer
        assert viewer.file(hit.item_id, hit.doc_id).path.read_text() == "First words.\n"
        assert viewer.file(hit.item_id).path.read_text() == "Second words.\n"


def test_the_context_of_a_chunk_that_is_not_shown_any_more_is_not_given(home: Home) -> None:
    home.put("a.md", "First words.\n")
    with home.opened() as desk:
        desk.ingest()
        hit = desk.find("first")[0]
        assert desk.facade.viewer.context(ViewerContextRequest(chunk_id=hit.chunk_id)).text == "First words."
        (desk.workspace / "a.md").unlink()
        desk.ingest()
        with pytest.raises(NotFound):
            desk.facade.viewer.context(ViewerContextRequest(chunk_id=hit.chunk_id))


def test_a_citation_of_a_renamed_file_opens_it_under_its_new_name(home: Home) -> None:
    home.put("a.md", "# Boats\n\nAnchors weigh 85 kg.\n")
    with home.opened() as desk:
        desk.ingest()
        (home.workspace / "a.md").rename(home.workspace / "b.md")
        desk.ingest()
        view = desk.facade.viewer.open(ViewerOpenRequest(citation="a.md#L3"))
        assert (view.state, view.doc_path) == ("moved", "b.md")
        assert view.lines is not None
        assert view.lines.start == 3


def test_a_citation_of_a_deleted_file_says_that_it_is_gone(home: Home) -> None:
    home.put("a.md", "# Boats\n\nAnchors weigh 85 kg.\n")
    home.put("b.md", "# Chains\n")
    with home.opened() as desk:
        desk.ingest()
        (home.workspace / "a.md").unlink()
        desk.ingest()
        view = desk.facade.viewer.open(ViewerOpenRequest(citation="a.md#L3"))
        assert (view.state, view.doc_path, view.lines) == ("gone", "a.md", None)
        with pytest.raises(NotFound, match=r"never\.md"):
            desk.facade.viewer.open(ViewerOpenRequest(citation="never.md#L3"))
