"""Reading one chunk or one original, shown or kept."""

from __future__ import annotations

import pytest

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.reading import SqliteReading
from kb.domain.recipes import ItemId
from tests.builders import staged
from tests.contracts.library import Ports


@pytest.fixture
def reading(library: Library) -> SqliteReading:
    return SqliteReading(library)


def test_a_shown_chunk_is_read_as_it_was_stored(ports: Ports, reading: SqliteReading) -> None:
    one = staged("a.md", "Kebab grills.", title="Grill")
    ports.publish(one)
    kept = reading.kept_chunk(one.chunks[0].chunk_id)
    assert kept is not None
    assert kept.is_shown
    assert (kept.stored.chunk, kept.stored.path, kept.stored.title) == (one.chunks[0], "a.md", "Grill")


def test_a_chunk_of_an_earlier_version_is_kept_and_not_shown(ports: Ports, reading: SqliteReading) -> None:
    old, new = staged("a.md", "Old.", item_id="i"), staged("a.md", "New.", item_id="i")
    ports.publish(old)
    ports.publish(new)
    kept = reading.kept_chunk(old.chunks[0].chunk_id)
    assert kept is not None
    assert (kept.is_shown, kept.stored.item_id) == (False, "i")


def test_a_chunk_of_a_file_that_is_gone_is_kept(ports: Ports, reading: SqliteReading) -> None:
    one = staged("a.md", "Old.", item_id="i")
    ports.publish(one)
    ports.items.delete_items([ItemId("i")])
    kept = reading.kept_chunk(one.chunks[0].chunk_id)
    assert kept is not None
    assert not kept.is_shown


@pytest.mark.parametrize(
    "hidden",
    [
        "UPDATE chunks SET enabled = 0",
        "UPDATE items SET included = 0",
        "UPDATE items SET archived_at = '2026-03-01T12:00:00Z'",
        "UPDATE documents SET privacy_state = 'stale'",
    ],
)
def test_what_a_person_hid_is_not_read_either(
    ports: Ports, library: Library, reading: SqliteReading, hidden: str
) -> None:
    one = staged("a.md", "Kebab grills.")
    ports.publish(one)
    with library.transaction() as connection:
        connection.execute(hidden)
    assert reading.kept_chunk(one.chunks[0].chunk_id) is None


def test_an_original_is_told_by_item_and_by_version(ports: Ports, reading: SqliteReading) -> None:
    old, new = staged("a.md", "Old.", item_id="i"), staged("a.md", "New.", item_id="i")
    ports.publish(old)
    ports.publish(new)
    shown, kept = reading.original("i", None), reading.original("i", old.document.doc_id)
    assert shown is not None
    assert kept is not None
    assert (shown.checksum, shown.is_current) == (new.asset.checksum, True)
    assert (kept.checksum, kept.is_current) == (old.asset.checksum, False)
    assert reading.original("nobody", None) is None
