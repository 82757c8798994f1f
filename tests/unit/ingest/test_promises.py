"""Promises of ingest about the order of things (docs/invariants.md)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from kb.domain.chunks import ChunkPolicy
from kb.domain.documents import ParsedDocument
from kb.domain.embeddings import Vector
from kb.domain.files import FileBytes, ScannedFile, Scope
from kb.domain.items import ItemState
from kb.domain.masking import MaskedSecret
from kb.domain.paths import WorkspacePath
from kb.ingest.making import ParsedAndChunked
from kb.ingest.pipeline import IngestRun
from tests.fakes.files import MemoryFiles
from tests.fakes.indexes import CountingEmbedder
from tests.unit.ingest.world import EnglishOnly, LineParser, World


@dataclass
class Transaction:
    """Notes what goes on while a transaction is open."""

    is_open: bool = False
    opened: int = 0
    slow_work: list[str] = field(default_factory=list)

    @contextmanager
    def together(self) -> Iterator[None]:
        self.is_open = True
        self.opened += 1
        try:
            yield
        finally:
            self.is_open = False

    def note(self, what: str) -> None:
        self.slow_work.append(f"{what}{' inside a transaction' * self.is_open}")


@dataclass
class WatchedParser(LineParser):
    transaction: Transaction = field(default_factory=Transaction)

    def parse(self, data: bytes, path: WorkspacePath) -> ParsedDocument:
        self.transaction.note("parse")
        return super().parse(data, path)


class BrokenMasker:
    version = "mask-broken"

    def mask(self, parsed: ParsedDocument) -> tuple[ParsedDocument, tuple[MaskedSecret, ...]]:
        raise RuntimeError(f"cannot decide about {len(parsed.blocks)} blocks")


def test_no_transaction_is_open_while_a_file_is_read_parsed_or_embedded() -> None:
    transaction = Transaction()

    class WatchedFiles(MemoryFiles):
        def read(self, file: ScannedFile) -> FileBytes:
            transaction.note("read")
            return super().read(file)

    class WatchedEmbedder(CountingEmbedder):
        def embed_passage(self, text: str) -> Vector:
            transaction.note("embed")
            return super().embed_passage(text)

    world = World(files=WatchedFiles(), embedder=WatchedEmbedder(), parser=WatchedParser(transaction=transaction))
    for number in range(40):
        world.files.write(f"{number}.md", f"Apple number {number} is red.")
    IngestRun(replace(world.ports(), together=transaction.together), Scope()).run()
    assert transaction.opened > 1
    assert sorted(set(transaction.slow_work)) == ["embed", "parse", "read"]


def test_a_file_that_cannot_be_masked_is_neither_chunked_nor_embedded_nor_shown() -> None:
    world = World()
    world.files.write("a.md", "The key is secret.")
    policy = ChunkPolicy(target_characters=40, overlap_characters=0)
    maker = ParsedAndChunked([world.parser], EnglishOnly(), policy, None, masker=BrokenMasker())
    IngestRun(replace(world.ports(), maker=maker), Scope()).run()
    assert world.library.item("a.md").state is ItemState.FAILED
    assert world.library.visible() == {}
    assert world.text_index.texts() == []
    assert world.embedder is not None
    assert world.embedder.texts == []


def test_a_file_that_shows_nothing_is_read_again_by_another_parser_and_one_that_shows_something_is_not() -> None:
    world = World()
    world.files.write("bad.md", "!bug")
    world.files.write("good.md", "Apples are red.")
    policy = ChunkPolicy(target_characters=40, overlap_characters=0)

    def ingest(version: str) -> None:
        parser = LineParser(version=version)
        maker = ParsedAndChunked([parser], EnglishOnly(), policy, None, accepts=lambda _fingerprint: True)
        IngestRun(replace(world.ports(), maker=maker), Scope()).run()

    ingest("lines-1")
    world.files.reads.clear()
    ingest("lines-1")
    assert world.files.reads == []
    ingest("lines-2")
    assert world.files.reads == ["bad.md"]
