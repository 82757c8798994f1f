"""Fifty passages that people mended, whose files are cut otherwise afterwards: the edits are there again, or listed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kb.adapters.parsers.markdown.parser import MarkdownItParser
from kb.adapters.sqlite.catalogue import SqliteCatalogue
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.layers import SqliteLayers
from kb.domain.chunks import Chunk, ChunkPolicy, ChunkRole
from kb.domain.files import FileBytes, FileIdentity
from kb.domain.ids import content_hash
from kb.domain.items import MediaType
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId
from kb.domain.text import sentences
from kb.ingest.making import ParsedAndChunked
from tests.builders import Staged, an_asset, an_item
from tests.contracts.library import Ports
from tests.fakes.parsing import FixedDetector, Utf8Decoder

SHARED = Path(os.environ.get("KEBAB_SHARED") or Path(__file__).resolve().parents[5] / "shared") / "data"
EDITS = 50


@dataclass(frozen=True)
class Edit:
    """A passage that said `old` and was made to say `new`; what is new stands in no other passage."""

    old: str
    new: str
    mark: str
    """A word that only the edit brought in; empty for a deletion."""
    gone: str
    """What only the edit took out; empty for an addition."""


def made(name: str, text: str, policy: ChunkPolicy) -> Staged:
    data = text.encode()
    content = FileBytes(data, content_hash(data), FileIdentity(len(data), 0, "1"))
    maker = ParsedAndChunked([MarkdownItParser(Utf8Decoder())], FixedDetector(), policy, None)
    document = maker.begin(WorkspacePath(name), content, MediaType.MARKDOWN).finish()
    return Staged(an_item(name, content=data), an_asset(data), document.document, document.chunks)


def own_start(chunk: Chunk) -> int:
    return chunk.text.rfind("\n", 0, chunk.segments[0].start) + 1


def typo(text: str, number: int) -> Edit | None:
    """Put a word right in the middle."""
    words = [word for word in text.split() if len(word) > 4 and word.isalpha() and text.count(word) == 1]
    if not words:
        return None
    word = words[len(words) // 2]
    return Edit(text, text.replace(word, f"mended{number}"), f"mended{number}", word)


def added(text: str, number: int) -> Edit | None:
    """Add a sentence behind the first."""
    ends = [end for _, end in sentences(text)]
    at = ends[0] if ends else len(text)
    return Edit(text, f"{text[:at]} Quagga{number} is what was left out.{text[at:]}", f"Quagga{number}", "")


def replaced(text: str, number: int) -> Edit | None:
    """Say a whole sentence otherwise."""
    found = [(s, e) for s, e in sentences(text) if e - s > 30 and text.count(text[s:e]) == 1]
    if not found:
        return None
    start, end = found[len(found) // 2]
    return Edit(text, f"{text[:start]}Okapi{number} says it otherwise.{text[end:]}", f"Okapi{number}", text[start:end])


def shortened_at_its_end(text: str, number: int) -> Edit | None:
    del number
    found = [(s, e) for s, e in sentences(text) if e - s > 12]
    if len(found) < 3 or text.count(text[slice(*found[-1])]) != 1:
        return None
    return Edit(text, text[: found[-1][0]].rstrip(), "", text[slice(*found[-1])])


def shortened_at_its_start(text: str, number: int) -> Edit | None:
    del number
    found = [(s, e) for s, e in sentences(text) if e - s > 12]
    if len(found) < 3 or text.count(text[slice(*found[0])]) != 1:
        return None
    return Edit(text, text[found[1][0] :], "", text[slice(*found[0])])


KINDS: Sequence[Callable[[str, int], Edit | None]] = (
    typo,
    added,
    replaced,
    shortened_at_its_end,
    shortened_at_its_start,
)


@dataclass
class Edited:
    """A library of notes in which fifty passages were edited."""

    ports: Ports
    layers: SqliteLayers
    catalogue: SqliteCatalogue
    notes: dict[str, str]
    edits: dict[str, list[Edit]]

    def cut_again(self, policy: ChunkPolicy) -> None:
        for name, text in self.notes.items():
            self.ports.publish(made(name, text, policy))

    def there_again(self) -> list[Edit]:
        kept = []
        for name, edits in self.edits.items():
            now, original = self._document(name)
            for edit in edits:
                gone = "".join(edit.gone.split())
                is_gone = not gone or now.count(gone) < original.count(gone)
                if edit.mark in now and is_gone:
                    kept.append(edit)
        return kept

    def _document(self, name: str) -> tuple[str, str]:
        """What the passages say and what they said, without white space and without what they repeat."""
        row = self.catalogue.item_at(WorkspacePath(name))
        assert row is not None
        page = self.catalogue.every_chunk(DocumentId(row.item.active_doc_id or ""), limit=1_000)
        now, original = "", ""
        for one in page.entries:
            chunk = one.stored.chunk
            if chunk.role is ChunkRole.PARENT:
                continue
            own = own_start(chunk)
            # Of which an edit left nothing, it is taken out.
            now += "".join(chunk.text[own:].split()) if one.enabled else ""
            original += "".join((one.original or chunk.text)[own:].split())
        return now, original


def edited(ports: Ports, library: Library, notes: dict[str, str]) -> Edited:
    policy = ChunkPolicy()
    layers, catalogue = SqliteLayers(library), SqliteCatalogue(library)
    done: dict[str, list[Edit]] = {}
    number = 0
    for name, text in notes.items():
        one = made(name, text, policy)
        ports.publish(one)
        for chunk in one.chunks[::3]:
            own = own_start(chunk)
            edit = KINDS[number % len(KINDS)](chunk.text[own:], number) if number < EDITS else None
            if edit is not None:
                layers.say(chunk.chunk_id, chunk.text[:own] + edit.new)
                done.setdefault(name, []).append(edit)
                number += 1
    assert number == EDITS
    return Edited(ports, layers, catalogue, notes, done)


def synthetic() -> dict[str, str]:
    notes = {}
    for number in range(14):
        parts = [f"# Note {number}\n"]
        for section in range(12):
            parts.append(f"## Section {section} of note {number}\n")
            parts += [
                f"In paragraph {paragraph} of section {section} the kettle of note{number} boils at "
                f"{number * 100 + section * 10 + paragraph} degrees. Nobody wrote down why it does so on "
                f"day{section}x{paragraph}. The steam goes out by the window. A second reading took "
                f"{section + 3} minutes and {paragraph + 7} seconds.\n"
                for paragraph in range(4)
            ]
        notes[f"note-{number}.md"] = "\n".join(parts)
    return notes


def vault(language: str) -> dict[str, str]:
    files = sorted((SHARED / f"vault-{language}").rglob("*.md"))
    notes = {}
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        if 6_000 < len(text) < 30_000:
            notes[file.name] = text
    if not notes:
        pytest.skip("the vaults are not here (KEBAB_SHARED)")
    return dict(list(notes.items())[:30])


@pytest.fixture
def notes(request: pytest.FixtureRequest) -> dict[str, str]:
    return synthetic() if request.param == "synthetic" else vault(request.param)


@pytest.mark.parametrize("notes", ["synthetic", "en", "zh"], indirect=True)
@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(ChunkPolicy(target_characters=800), id="800"),
        pytest.param(ChunkPolicy(target_characters=2400), id="2400"),
        pytest.param(ChunkPolicy(mode="fixed", target_characters=1000), id="fixed"),
        pytest.param(ChunkPolicy(mode="parent-child"), id="parent-child"),
    ],
)
def test_of_fifty_edits_forty_eight_are_there_when_their_files_are_cut_otherwise_and_the_rest_is_listed(
    ports: Ports, library: Library, notes: dict[str, str], policy: ChunkPolicy
) -> None:
    done = edited(ports, library, notes)
    assert len(done.there_again()) == EDITS
    done.cut_again(policy)
    there = done.there_again()
    listed = done.layers.layers(limit=200).entries
    lost = [layer for layer in listed if layer.lost]
    assert len(listed) == EDITS
    assert len(there) >= 48
    assert EDITS - len(there) <= len(lost)
    # And back: nothing was worn down on the way.
    done.cut_again(ChunkPolicy())
    assert len(done.there_again()) == EDITS
    assert not done.layers.layers(limit=200, lost=True).entries
