"""Long texts: dealt with aside, so that a stop need not wait; let go as soon as nothing needs them."""

from __future__ import annotations

import threading

import pytest

from kb.domain.chunks import ChunkPolicy
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.files import FileBytes, FileIdentity
from kb.domain.ids import content_hash
from kb.domain.items import ItemState, MediaType
from kb.domain.paths import WorkspacePath
from kb.ingest.making import Making, ParsedAndChunked
from tests.fakes.parsing import FixedDetector
from tests.unit.ingest.world import LineParser, World

LONG = "Twelve words of a line that is as long as lines are.\n" * 21_000


class WaitingParser(LineParser):
    """Parses when it is allowed to."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.may_go_on = threading.Event()
        self.ended = threading.Event()

    def parse(self, data: bytes, path: WorkspacePath) -> ParsedDocument:
        self.begun.set()
        self.may_go_on.wait(30)
        self.ended.set()
        return super().parse(b"Short.", path)


def begun(parser: LineParser, text: str) -> Making:
    data = text.encode()
    content = FileBytes(data, content_hash(data), FileIdentity(len(data), 0, "1"))
    maker = ParsedAndChunked([parser], FixedDetector(), ChunkPolicy(), None)
    return maker.begin(WorkspacePath("long.txt"), content, MediaType.TEXT)


def test_a_long_text_is_made_while_others_wait_for_it() -> None:
    parser = WaitingParser()
    making = begun(parser, LONG)
    assert not making.wait(0.01)
    assert parser.begun.wait(10)
    parser.may_go_on.set()
    assert making.wait(10)
    assert [chunk.text for chunk in making.finish().chunks] == ["Short."]


@pytest.mark.parametrize("waits", [True, False])
def test_a_long_text_that_cannot_be_read_says_so_where_it_is_finished(*, waits: bool) -> None:
    making = begun(LineParser(), LONG + "!binary")
    if waits:
        assert making.wait(10)
    with pytest.raises(Unreadable, match="not text"):
        making.finish()


def test_a_stop_does_not_wait_for_a_long_text() -> None:
    world, parser = World(), WaitingParser()
    world.parser = parser
    world.files.write("long.md", LONG)
    report = world.ingest(should_stop=parser.begun.is_set)
    assert report.canceled
    assert not parser.ended.is_set()
    assert world.library.visible() == {}
    parser.may_go_on.set()
    assert parser.ended.wait(10)


def test_the_bytes_of_a_file_that_is_not_copied_are_let_go_and_its_size_is_known() -> None:
    world = World()
    world.assets.copied_up_to = 10
    world.files.write("a.md", "More than ten bytes of text.")
    world.files.write("b.md", "!binary, and more than ten bytes.")
    report = world.ingest()
    assert sorted((item.doc_path, item.byte_len) for item in report.items or ()) == [("a.md", 28), ("b.md", 33)]
    assert world.library.item("b.md").state is ItemState.FAILED
    assert world.assets.copies == {}


def test_memory_that_a_long_text_took_is_given_back_before_the_index_is_written() -> None:
    world = World(embedder=None)
    world.files.write("a.md", "Short.")
    world.ingest()
    assert world.given_back == []
    world.files.write("b.md", LONG)
    world.ingest()
    assert world.given_back == [1]
    assert world.text_index.commits == 2


def test_blocks_are_kept_without_the_text_that_stands_in_the_chunks() -> None:
    made = begun(LineParser(), "One line.\nAnother line.").finish()
    assert [(block.parsed.text, block.parsed.segments) for block in made.document.blocks] == [("", ()), ("", ())]
    assert [block.parsed.span.start for block in made.document.blocks] == [1, 2]  # type: ignore[union-attr]
    assert "".join(chunk.text for chunk in made.chunks) == "One line.\n\nAnother line."
