"""Versions let go of: what holds whenever, and wherever a kill falls."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kb.adapters.files.removal import ContainedRemover
from kb.adapters.sqlite.answers import SqliteAnswerStore
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.integrity import SqliteIntegrity
from kb.adapters.sqlite.outbox import SqliteOutbox
from kb.adapters.sqlite.purge import SqlitePurge
from kb.adapters.sqlite.reading import SqliteReading
from kb.adapters.sqlite.versions import SqliteVersions
from kb.domain.failures import StorageFailed
from kb.domain.versions import Pin
from kb.ingest.outbox import work_off
from tests.builders import MODEL, staged
from tests.contracts.library import Ports
from tests.contracts.records import a_record
from tests.logical_state import logical_state


def states(library: Library) -> list[str]:
    return [state for (state,) in library.rows("SELECT state FROM document_versions ORDER BY item_id, number")]


def publish(ports: Ports, *texts: str, path: str = "a.md") -> None:
    for text in texts:
        ports.publish(staged(path, text))


class Killed(BaseException):
    pass


def test_invariant_23_a_copy_is_on_disk_until_the_commit_that_declares_it_gone(
    library: Library, ports: Ports, tmp_path: Path
) -> None:
    publish(ports, "One.", "Two.")
    copy = tmp_path / staged("a.md", "One.").asset.storage_path
    copy.parent.mkdir(parents=True)
    copy.write_text("One.")
    assert SqlitePurge(library).purge(0).copies == (copy.relative_to(tmp_path).as_posix(),)
    outbox = SqliteOutbox(library)
    assert {removal.kind for removal in outbox.waiting(0, 10)} == {"asset", "artifacts"}
    assert copy.exists()
    assert work_off(outbox, ContainedRemover(tmp_path)) == 0
    assert not copy.exists()
    assert outbox.waiting(0, 10) == []


def test_invariant_24_a_removal_that_fails_stays_and_shows_nothing_again(library: Library, ports: Ports) -> None:
    publish(ports, "One.", "Two.")
    SqlitePurge(library).purge(0)

    class FullDisk:
        def remove(self, kind: str, name: str) -> None:
            raise StorageFailed(f"{kind} {name} stays")

    assert work_off(SqliteOutbox(library), FullDisk()) == 2
    assert len(SqliteOutbox(library).waiting(0, 10)) == 2
    assert ports.texts() == ["Two."]


def test_a_copy_that_is_kept_anew_is_not_removed(library: Library, ports: Ports, tmp_path: Path) -> None:
    publish(ports, "One.", "Two.")
    SqlitePurge(library).purge(0)
    publish(ports, "One.")
    copy = tmp_path / staged("a.md", "One.").asset.storage_path
    copy.parent.mkdir(parents=True)
    copy.write_text("One.")
    assert work_off(SqliteOutbox(library), ContainedRemover(tmp_path)) == 0
    assert copy.exists()


def test_invariant_25_a_purged_version_never_comes_back(library: Library, ports: Ports) -> None:
    publish(ports, "One.", "Two.")
    SqlitePurge(library).purge(0)
    publish(ports, "One.")
    assert states(library) == ["purged", "superseded", "ready"]


def test_invariant_26_a_version_that_is_purging_opens_nowhere_from_its_commit_on(
    library: Library, ports: Ports
) -> None:
    publish(ports, "One.", "Two.")
    chunk = staged("a.md", "One.").chunks[0].chunk_id
    reading = SqliteReading(library)
    assert reading.kept_chunk(chunk) is not None

    def dies() -> None:
        raise Killed

    with pytest.raises(Killed):
        SqlitePurge(library, dies).purge(0)
    assert states(library) == ["purging", "ready"]
    assert reading.kept_chunk(chunk) is None
    assert SqliteVersions(library).history(staged("a.md").item.item_id, 3)[1].is_openable is False


def test_a_kept_version_opens_though_the_same_text_came_back_and_was_not_found(library: Library, ports: Ports) -> None:
    publish(ports, "One.", "Two.")
    again = staged("a.md", "One.")
    ports.stage(again)
    SqliteVersions(library).reject({again.document.doc_id: "not_findable: lost"})
    passages = SqliteReading(library).passages(again.document.doc_id)
    assert [stored.chunk.text for stored in passages] == ["One."]


def test_invariant_27_what_serves_is_staged_or_cited_or_of_a_generation_is_not_purged(
    library: Library, ports: Ports
) -> None:
    publish(ports, "Cited.", "Of a generation.", "Expendable.", "Shown.")
    ports.stage(staged("a.md", "Staged."))
    SqliteAnswerStore(library).keep(a_record("t1", staged("a.md", "Cited.").document.doc_id))
    with library.transaction() as connection:
        connection.execute(
            "INSERT INTO generations (generation_id, fingerprint, state, created_at) VALUES (2,'','retired','')"
        )
        connection.execute(
            "INSERT INTO generation_documents SELECT 2, item_id, NULL, doc_id, chunking_key, chunk_count, NULL"
            " FROM document_versions WHERE number = 2"
        )
    found = SqlitePurge(library).purge(0)
    assert (found.versions, found.pinned) == (1, 2)
    assert states(library) == ["superseded", "superseded", "purged", "ready", "indexing"]
    pins = [version.pins for version in SqliteVersions(library).history(staged("a.md").item.item_id, 0)]
    assert pins == [(Pin.IN_FLIGHT,), (Pin.SERVING,), (), (Pin.GENERATION,), (Pin.ANSWER,)]


def test_invariant_30_two_purges_at_once_let_go_of_each_version_once(library: Library, ports: Ports) -> None:
    publish(ports, *(f"Text {number}." for number in range(12)))
    done: list[int] = []

    def purge() -> None:
        done.append(len(SqlitePurge(library).purge(0).copies))

    threads = [threading.Thread(target=purge) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(done) == 2
    assert states(library) == ["purged"] * 11 + ["ready"]
    assert len({removal.name for removal in SqliteOutbox(library).waiting(0, 100)}) == 22
    assert SqliteIntegrity(library).check().problems == ()


@pytest.mark.parametrize("kill_at", range(1, 5))
def test_a_purge_that_is_killed_between_any_two_commits_is_finished_by_the_next(
    library: Library, ports: Ports, tmp_path: Path, kill_at: int
) -> None:
    calls = [0]

    def dies() -> None:
        calls[0] += 1
        if calls[0] == kill_at:
            raise Killed

    publish(ports, "One.", "Two.", "Three.")
    ports.embed()
    with pytest.raises(Killed):
        SqlitePurge(library, dies).purge(0)
    SqlitePurge(library).purge(0)
    assert states(library) == ["purged", "purged", "ready"]
    assert library.rows("SELECT text FROM chunks") == [("Three.",)]
    assert library.rows("SELECT count(*) FROM vectors") == [(1,)]
    assert len(SqliteOutbox(library).waiting(0, 10)) == 4
    assert SqliteIntegrity(library).check().problems == ()


def test_a_dry_run_says_what_a_purge_does_and_does_nothing(library: Library, ports: Ports) -> None:
    publish(ports, "One.", "Two.", "Three.")
    before = logical_state(library.reader())
    said = SqlitePurge(library).expected(0)
    assert logical_state(library.reader()) == before
    done = SqlitePurge(library).purge(0)
    assert (said.versions, said.pinned, said.freed_bytes) == (done.versions, done.pinned, done.freed_bytes)
    assert said.versions == 2


def test_the_last_version_of_a_file_that_is_gone_stays_for_a_while_and_costs_nothing_when_it_is_back(
    library: Library, ports: Ports
) -> None:
    publish(ports, "One.", "Two.")
    ports.embed()
    ports.items.delete_items([staged("a.md").item.item_id])
    SqlitePurge(library).purge(0, keep_deleted_days=30)
    assert states(library) == ["purged", "superseded"]
    publish(ports, "Two.")
    assert ports.vectors.adopt(MODEL) == 1
    assert ports.vectors.pending(MODEL, 10) == []
    assert ports.texts() == ["Two."]


def test_a_file_that_is_long_gone_takes_everything_with_it(library: Library, ports: Ports) -> None:
    publish(ports, "One.")
    ports.embed()
    ports.items.delete_items([staged("a.md").item.item_id])
    with library.transaction() as connection:
        connection.execute("UPDATE items SET deleted_at = '2020-01-01T00:00:00+00:00'")
    SqlitePurge(library).purge(3, keep_deleted_days=30)
    for table in ("items", "document_versions", "documents", "blocks", "chunks", "vectors", "assets"):
        assert library.rows(f"SELECT count(*) FROM {table}") == [(0,)], table


def test_a_version_that_the_index_does_not_find_leaves_the_one_before_it_shown(library: Library, ports: Ports) -> None:
    publish(ports, "One.")
    new = staged("a.md", "Two.")
    ports.stage(new)
    (probe,) = SqliteVersions(library).probes([new.document.doc_id])
    assert (probe.entries, probe.text) == (1, "Two.")
    (item,) = SqliteVersions(library).reject({new.document.doc_id: "not_findable: lost"})
    assert (item.state.value, item.reason, item.fingerprint) == ("failed", "not_findable: lost", None)
    assert (ports.texts(), ports.documents.staged()) == (["One."], [])
    assert ports.indexed_texts() == ["One."]
    SqlitePurge(library).purge(3)
    publish(ports, "Two.")
    assert ports.texts() == ["Two."]
    assert states(library) == ["superseded", "purged", "ready"]


def test_the_room_of_removed_rows_is_given_back_while_another_reads(library: Library, ports: Ports) -> None:
    publish(ports, "Long. " * 90_000, "Short.")
    library.vacuum()
    before = library.path.stat().st_size
    SqlitePurge(library).purge(0)
    with library.view() as view:
        assert view.execute("SELECT count(*) FROM chunks").fetchone() == (1,)
        library.vacuum()
        assert view.execute("SELECT count(*) FROM chunks").fetchone() == (1,)
    library.vacuum()
    assert library.path.stat().st_size < before / 2
