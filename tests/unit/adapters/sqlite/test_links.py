"""Links in the library file: read from blocks, led to what they mean, changed by people, walked by the channel."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.documents import SqliteDocumentWriter
from kb.adapters.sqlite.edges import SqliteEdges
from kb.adapters.sqlite.graph import SqliteGraph
from kb.adapters.sqlite.links import SqliteLinks
from kb.adapters.sqlite.merging import SqliteMerge
from kb.domain.blocks import Prose
from kb.domain.errors import NotFound
from kb.domain.inlines import Link
from kb.domain.links import LinkKind
from kb.domain.recipes import ItemId
from kb.ingest.links import LINKS_VERSION, read_links
from kb.retrieval.graph import LinkedPassages
from tests.builders import MODEL, Staged, staged
from tests.contracts.library import Ports

ROOT = Path(__file__).parents[4]
CHILD = """
import sys
from pathlib import Path
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.links import SqliteLinks
from kb.ingest.links import read_links
read_links(
    SqliteLinks(Library(Path(sys.argv[1]))),
    progress=lambda stage, done: (print(stage, flush=True), sys.stdin.readline()),
)
"""


def linked(path: str, *targets: str, title: str | None = None, tags: Sequence[str] = (), text: str = "Text.") -> Staged:
    """A note whose only paragraph holds wiki links."""
    one = staged(path, text + "".join(f" {target}" for target in targets), title=title or path, tags=tags)
    head, body = one.document.blocks
    links = tuple(Link(target, target, "wiki") for target in targets)
    held = replace(body, parsed=replace(body.parsed, payload=Prose(links)))
    return replace(one, document=replace(one.document, blocks=(head, held)))


def edges_of(library: Library) -> list[tuple[str, str, str, str]]:
    return library.rows("SELECT from_item, to_item, kind, state FROM edges ORDER BY 1, 2, 3")


@pytest.fixture
def links(library: Library) -> SqliteLinks:
    return SqliteLinks(library)


@pytest.fixture
def graph(library: Library) -> SqliteGraph:
    return SqliteGraph(library, 3)


@pytest.fixture
def edges(library: Library, graph: SqliteGraph) -> SqliteEdges:
    return SqliteEdges(library, graph, 3)


def test_links_are_read_once_and_lead_to_what_they_mean(ports: Ports, library: Library, links: SqliteLinks) -> None:
    ports.publish(linked("a.md", "b", "nowhere"), linked("b.md"))
    assert read_links(links) == 2
    assert edges_of(library) == [("item-a.md", "item-b.md", "wiki", "active")]
    assert read_links(links) == 0


def test_links_of_a_version_shown_meanwhile_are_not_replaced_by_those_before(
    ports: Ports, library: Library, links: SqliteLinks
) -> None:
    ports.publish(linked("a.md", "b"), linked("b.md"), linked("c.md"))
    met = 0

    def heed() -> None:
        nonlocal met
        met += 1
        if met in {2, 3}:
            ports.publish(linked("a.md", "c" if met == 2 else "b", text=f"Saved {met}."))
            read_links(links)

    read_links(links, heed=heed)
    assert met > 2
    assert edges_of(library) == [("item-a.md", "item-b.md", "wiki", "active")]
    assert library.rows("SELECT 1 FROM links_waiting") == []


def test_a_target_that_comes_later_is_found_without_reading_the_note_again(
    ports: Ports, library: Library, links: SqliteLinks
) -> None:
    ports.publish(linked("a.md", "b"))
    read_links(links)
    assert edges_of(library) == []
    ports.publish(linked("b.md"))
    assert read_links(links) == 1
    assert edges_of(library) == [("item-a.md", "item-b.md", "wiki", "active")]


def test_a_second_file_of_the_name_makes_a_link_unclear_and_its_end_clear_again(
    ports: Ports, library: Library, links: SqliteLinks, edges: SqliteEdges
) -> None:
    ports.publish(linked("x/a.md", "b"), linked("y/b.md"))
    read_links(links)
    ports.publish(linked("z/b.md"))
    read_links(links)
    assert edges_of(library) == []
    (unclear,) = edges.open_targets(10)
    assert (unclear.path, unclear.target, unclear.outcome.value) == ("x/a.md", "b", "ambiguous")
    assert edges.counts(LINKS_VERSION).ambiguous == 1
    ports.items.delete_items([ItemId("item-z/b.md")])
    read_links(links)
    assert edges_of(library) == [("item-x/a.md", "item-y/b.md", "wiki", "active")]


def test_a_new_version_keeps_edges_of_people_and_what_they_took_away(
    ports: Ports, library: Library, links: SqliteLinks, edges: SqliteEdges
) -> None:
    a, b = ItemId("item-a.md"), ItemId("item-b.md")
    ports.publish(linked("a.md", "b"), linked("b.md"))
    read_links(links)
    edges.remove(a, b, LinkKind.WIKI)
    edges.add(b, a, "because")
    ports.publish(linked("a.md", "b", text="Another text."))
    read_links(links)
    assert edges_of(library) == [(a, b, "wiki", "removed"), (b, a, "manual", "active")]
    edges.restore(a, b, LinkKind.WIKI)
    read_links(links)
    assert (a, b, "wiki", "active") in edges_of(library)


def test_a_restored_link_that_the_note_says_no_more_goes_when_links_are_led(
    ports: Ports, library: Library, links: SqliteLinks, edges: SqliteEdges
) -> None:
    a, b = ItemId("item-a.md"), ItemId("item-b.md")
    ports.publish(linked("a.md", "b"), linked("b.md"))
    read_links(links)
    edges.remove(a, b, LinkKind.WIKI)
    ports.publish(linked("a.md", text="No link."))
    read_links(links)
    edges.restore(a, b, LinkKind.WIKI)
    read_links(links)
    assert edges_of(library) == []


def test_what_is_not_there_cannot_be_removed_or_restored(ports: Ports, edges: SqliteEdges) -> None:
    ports.publish(linked("a.md"), linked("b.md"))
    for change in (edges.remove, edges.restore):
        for kind in (LinkKind.WIKI, LinkKind.TAG):
            with pytest.raises(NotFound, match=r"no .* link of that kind"):
                change(ItemId("item-a.md"), ItemId("item-b.md"), kind)


def test_a_tag_joins_few_documents_and_not_many(ports: Ports, graph: SqliteGraph, edges: SqliteEdges) -> None:
    ports.publish(*(linked(f"{n}.md", tags=["all", *(["few"] if n < 2 else [])]) for n in range(4)))
    assert graph.tagged_alike(ItemId("item-0.md"), 10) == [("item-1.md", "few")]
    assert edges.counts(LINKS_VERSION).active[LinkKind.TAG] == 1
    edges.remove(ItemId("item-1.md"), ItemId("item-0.md"), LinkKind.TAG)
    assert graph.tagged_alike(ItemId("item-0.md"), 10) == []
    assert [(row.kind, row.is_active) for row in edges.of(ItemId("item-0.md"), None, 9).entries] == [("tag", False)]
    edges.restore(ItemId("item-0.md"), ItemId("item-1.md"), LinkKind.TAG)
    assert graph.tagged_alike(ItemId("item-0.md"), 10) == [("item-1.md", "few")]


def test_pages_of_edges_follow_each_other(ports: Ports, links: SqliteLinks, edges: SqliteEdges) -> None:
    ports.publish(linked("a.md", "b", "c", "d"), *(linked(f"{name}.md") for name in "bcd"))
    read_links(links)
    first = edges.of(ItemId("item-a.md"), None, 2)
    rest = edges.of(ItemId("item-a.md"), first.next, 2)
    assert [row.path for row in (*first.entries, *rest.entries)] == ["b.md", "c.md", "d.md"]
    assert rest.next is None


def test_the_channel_walks_to_the_linked_note_and_not_to_what_is_hidden(
    ports: Ports, library: Library, links: SqliteLinks, graph: SqliteGraph
) -> None:
    ports.publish(linked("a.md", "b", "c"), linked("b.md"), linked("c.md"))
    read_links(links)
    keys = {path: key for key, path in library.rows(
        "SELECT c.chunk_key, d.workspace_path FROM chunks c JOIN documents d ON d.doc_id = c.doc_id"
    )}  # fmt: skip
    channel = LinkedPassages(graph)
    assert {key for key, _ in channel.related([keys["a.md"]], 5, None).candidates} == {keys["b.md"], keys["c.md"]}
    assert [key for key, _ in channel.related([keys["b.md"]], 5, None).candidates] == [keys["a.md"]]
    assert [key for key, _ in channel.related([keys["a.md"]], 5, [keys["c.md"]]).candidates] == [keys["c.md"]]
    ports.items.delete_items([ItemId("item-b.md")])
    assert [key for key, _ in channel.related([keys["a.md"]], 5, None).candidates] == [keys["c.md"]]


def test_a_merge_takes_in_what_people_made_of_links(ports: Ports, library: Library, tmp_path: Path) -> None:
    other = Library(tmp_path / "other")
    with closing(other):
        writer = SqliteDocumentWriter(other)
        for one in (linked("a.md", "b"), linked("b.md")):
            writer.stage(one.item, one.asset, one.document, one.chunks, MODEL)
        writer.activate(writer.staged())
        SqliteEdges(other, SqliteGraph(other, 3), 3).add(ItemId("item-b.md"), ItemId("item-a.md"), "why")
    SqliteMerge(library).take_in(tmp_path / "other" / "kb.sqlite", ["item-a.md", "item-b.md"])
    read_links(SqliteLinks(library))
    assert edges_of(library) == [
        ("item-a.md", "item-b.md", "wiki", "active"),
        ("item-b.md", "item-a.md", "manual", "active"),
    ]


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_kill_after_any_step_loses_nothing(
    ports: Ports, library: Library, tmp_path: Path, links: SqliteLinks, steps: int
) -> None:
    ports.publish(*(linked(f"{n}.md", f"{n + 1}") for n in range(300)))
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path / "data")],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": "backend"},
    )  # fmt: skip
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline()
        for _ in range(steps):
            child.stdin.write("\n")
            child.stdin.flush()
            assert child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    assert read_links(links) < 300
    assert len(edges_of(library)) == 299
