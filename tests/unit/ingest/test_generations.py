"""Building a generation: from the bytes that are shown, each text once, gone on with, never half ready."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from kb.domain.chunks import ChunkPolicy
from kb.domain.errors import Unreadable
from kb.domain.failures import Cancelled, ModelUnavailable, StorageFailed
from kb.domain.files import FileBytes, FileIdentity
from kb.domain.generations import Generation, GenerationId, GenerationState, Recipe, ShownItem
from kb.domain.items import MediaType
from kb.ingest.generations import BringUp, GenerationPorts, Made
from kb.ingest.making import ParsedAndChunked
from tests.builders import an_asset, an_item
from tests.fakes.files import MemoryFiles
from tests.fakes.generations import MemoryBuild
from tests.fakes.indexes import MODEL, CountingEmbedder, MemoryTextIndex, MemoryVectorIndex
from tests.unit.ingest.world import EnglishOnly, LineParser

POLICY = ChunkPolicy(target_characters=40, overlap_characters=0)
BUILDING = Generation(
    GenerationId(2),
    GenerationState.BUILDING,
    "f",
    Recipe(POLICY, "c", {}, MODEL),
    datetime(2026, 1, 1, tzinfo=UTC),
)


@dataclass
class Yard:
    """A library that shows some files, and a generation that is made of them."""

    files: MemoryFiles = field(default_factory=MemoryFiles)
    build: MemoryBuild = field(default_factory=MemoryBuild)
    embedder: CountingEmbedder | None = field(default_factory=CountingEmbedder)
    text: MemoryTextIndex = field(default_factory=lambda: MemoryTextIndex(at=None))
    scan: MemoryVectorIndex = field(default_factory=lambda: MemoryVectorIndex(at=None))
    chroma: MemoryVectorIndex = field(default_factory=lambda: MemoryVectorIndex("chroma", at=None))
    copies: dict[str, bytes] = field(default_factory=dict)
    parser: LineParser = field(default_factory=LineParser)

    def show(self, path: str, text: str, fingerprint: str = "earlier", *, depth: int = 0) -> None:
        """Let the library show a file as an ingest has just read it."""
        self.files.write(path, text)
        self.copies[path] = text.encode()
        item = replace(an_item(path, content=text.encode()), fingerprint=fingerprint)
        if depth:
            item = replace(item, identity=FileIdentity.inside(len(text), 1, depth))
        self.build.shown[path] = ShownItem(item, an_asset(text.encode()))
        self.build.position += 1

    def maker(self) -> ParsedAndChunked:
        return ParsedAndChunked([self.parser], EnglishOnly(), POLICY, None)

    def run(
        self,
        generation: Generation = BUILDING,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        give_way: Callable[[], object] = lambda: None,
    ) -> Made:
        ports = GenerationPorts(
            files=self.files,
            copies=self._copy,
            maker=self.maker(),
            build=self.build,
            vectors=cast(Any, self.build),
            counts=self.build.counts,
            text_index=self.text,
            vector_indexes=(self.scan, self.chroma),
            embedder=self.embedder,
        )
        return BringUp(ports, generation, should_stop=should_stop, give_way=give_way).run()

    def embedded(self) -> list[str]:
        assert self.embedder is not None
        return sorted(self.embedder.texts)

    def _copy(self, shown: ShownItem) -> FileBytes | None:
        data = self.copies.get(shown.item.path)
        return None if data is None else FileBytes(data, shown.asset.checksum, shown.item.identity)


@pytest.fixture
def yard() -> Yard:
    yard = Yard()
    yard.show("a.md", "Alpha.")
    yard.show("b.md", "Beta.")
    yard.show("c.md", "Alpha.")
    return yard


def test_every_document_is_made_anew_and_equal_text_is_embedded_once(yard: Yard) -> None:
    made = yard.run()
    assert yard.text.texts() == ["Alpha.", "Alpha.", "Beta."]
    assert yard.embedded() == ["Alpha.", "Beta."]
    assert (made.read, made.embedded, made.counts.passages, made.counts.distinct_texts) == (3, 2, 3, 2)
    assert (len(yard.scan.rows), len(yard.chroma.rows), yard.text.at) == (3, 3, yard.build.position)


def test_what_is_right_already_is_taken_over_and_no_file_is_read(yard: Yard) -> None:
    now = yard.maker().fingerprint(MediaType.MARKDOWN)
    for path in ("a.md", "b.md", "c.md"):
        shown = yard.build.shown[path]
        yard.build.shown[path] = ShownItem(replace(shown.item, fingerprint=now), shown.asset)
    assert yard.run().read == 0
    assert yard.files.reads == []
    assert yard.text.texts() == ["as it was: a.md", "as it was: b.md", "as it was: c.md"]


def test_a_file_changed_since_is_made_from_its_copy_and_a_member_always_is(yard: Yard) -> None:
    yard.files.write("a.md", "Not read yet.")
    yard.show("mail.eml!/d.md", "Delta.", depth=1)
    yard.files.remove("mail.eml!/d.md")
    yard.run()
    assert yard.text.texts() == ["Alpha.", "Alpha.", "Beta.", "Delta."]
    assert "mail.eml!/d.md" not in yard.files.reads


@pytest.mark.parametrize("text", ["!binary", "!bug", ""], ids=["unreadable", "a fault of the parser", "nothing in it"])
def test_a_file_that_gives_nothing_now_keeps_its_document_and_is_counted(yard: Yard, text: str) -> None:
    yard.show("b.md", text)
    made = yard.run()
    assert (made.counts.failed, yard.build.kept) == (1, ["item-b.md"])
    assert "as it was: b.md" in yard.text.texts()


def test_a_file_that_is_gone_without_a_copy_keeps_its_document(yard: Yard) -> None:
    yard.files.errors["b.md"] = Unreadable("no", reason="permission")
    del yard.copies["b.md"]
    assert yard.run().counts.failed == 1


def test_a_stop_keeps_what_is_embedded_and_the_next_call_embeds_the_rest(yard: Yard) -> None:
    for number in range(200):
        yard.show(f"n{number:03}.md", f"Number {number}.")
    with pytest.raises(Cancelled):
        yard.run(should_stop=lambda: bool(yard.build.saves))
    kept = len(yard.build.vectors)
    assert 0 < kept < 202
    before = len(yard.embedded())
    made = yard.run()
    assert made.embedded == 202 - kept == len(yard.embedded()) - before
    assert yard.text.rebuilds == 1


def test_what_changes_while_it_gives_way_is_caught_up(yard: Yard) -> None:
    changes = iter([("a.md", "Changed."), ("new.md", "New.")])

    def give_way() -> None:
        if (change := next(changes, None)) is not None:
            yard.show(*change)

    yard.run(give_way=give_way)
    assert yard.text.texts() == ["Alpha.", "Beta.", "Changed.", "New."]
    assert yard.text.at == yard.build.position


def test_indexes_that_hold_everything_are_used_again(yard: Yard) -> None:
    yard.run()
    ready = replace(BUILDING, state=GenerationState.RETIRED, ready_at=BUILDING.created_at)
    yard.run(ready)
    assert (yard.text.rebuilds, yard.scan.rebuilds) == (1, 1)
    yard.show("b.md", "Other.")
    yard.run(ready)
    assert (yard.text.rebuilds, yard.scan.rebuilds) == (2, 2)
    assert yard.embedded() == ["Alpha.", "Beta.", "Other."]


def test_an_index_that_lost_an_entry_makes_no_generation(yard: Yard) -> None:
    yard.build.lost_entries = 1
    with pytest.raises(StorageFailed, match="holds 2 entries instead of 3"):
        yard.run()


def test_without_the_graph_a_generation_is_made_and_without_the_exact_index_it_is_not(yard: Yard) -> None:
    yard.chroma.broken = True
    assert yard.run().lagging == ["chroma"]
    yard.scan.broken = True
    with pytest.raises(StorageFailed, match="scan died"):
        yard.run()


def test_a_model_that_cannot_run_or_embeds_nothing_makes_no_generation(yard: Yard) -> None:
    yard.embedder = CountingEmbedder(unavailable=True)
    with pytest.raises(ModelUnavailable, match="missing"):
        yard.run()
    yard.embedder = CountingEmbedder(refuses="a")
    with pytest.raises(ModelUnavailable, match="not embed a single text"):
        yard.run()


def test_a_text_that_the_model_refuses_ends_no_build_that_is_gone_on_with(yard: Yard) -> None:
    yard.embedder = CountingEmbedder(refuses="Beta")
    yard.scan.broken = True
    with pytest.raises(StorageFailed, match="scan died"):
        yard.run()
    yard.scan.broken = False
    made = yard.run()
    assert (made.embedded, made.refused, made.counts.vectors) == (0, 1, 2)


def test_without_a_model_there_are_words_alone(yard: Yard) -> None:
    yard.embedder = None
    assert yard.run().counts.vectors == 0
    assert yard.text.texts() == ["Alpha.", "Alpha.", "Beta."]
    assert yard.scan.rebuilds == 0
