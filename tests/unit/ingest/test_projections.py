"""Indexes follow the log, are built anew when lost, and never cost an embedding."""

from __future__ import annotations

import pytest

from kb.domain.failures import StorageFailed
from kb.domain.search import Degradation
from kb.ingest.projections import catch_up_text, catch_up_vectors, rebuild
from tests.fakes.indexes import MODEL, MemoryTextIndex
from tests.unit.ingest.world import World


@pytest.fixture
def world() -> World:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.files.write("b.md", "Bananas are yellow.")
    world.ingest()
    return world


def test_an_index_at_the_end_of_the_log_is_left_alone(world: World) -> None:
    before = world.text_index.commits
    assert catch_up_text(world.library, world.text_index) is False
    assert (world.text_index.commits, world.text_index.rebuilds) == (before, 0)


def test_a_lost_text_index_is_built_from_the_library(world: World) -> None:
    world.text_index.lose()
    assert catch_up_text(world.library, world.text_index) is True
    assert world.text_index.texts() == ["Apples are red.", "Bananas are yellow."]


def test_an_unchanged_run_mends_lost_indexes_without_embedding(world: World) -> None:
    world.text_index.lose()
    world.scan_index.lose()
    before = world.state()
    world.ingest()
    assert world.text_index.texts() == ["Apples are red.", "Bananas are yellow."]
    assert len(world.scan_index.rows) == 2
    assert before != world.state()
    assert world.embedded() == 2


def test_an_index_from_another_library_is_built_anew(world: World) -> None:
    stranger = MemoryTextIndex(at=10_000)
    catch_up_text(world.library, stranger)
    assert stranger.texts() == ["Apples are red.", "Bananas are yellow."]


def test_an_index_older_than_the_log_reaches_is_built_anew(world: World) -> None:
    old = MemoryTextIndex(at=0)
    world.library.trimmed = 2
    catch_up_text(world.library, old)
    assert (old.rebuilds, len(old.entries)) == (1, 2)


def test_an_index_that_breaks_while_it_is_written_is_built_anew(world: World) -> None:
    index = MemoryTextIndex(failures=1)
    catch_up_text(world.library, index)
    assert (index.rebuilds, len(index.entries)) == (1, 2)


def test_a_disk_that_stays_full_is_an_error(world: World) -> None:
    with pytest.raises(StorageFailed, match="disk is full"):
        catch_up_text(world.library, MemoryTextIndex(failures=2))


def test_a_vector_index_that_fails_does_not_hold_up_the_others(world: World) -> None:
    committed = world.library.committed_through
    world.chroma.broken = True
    world.files.write("c.md", "Cherries are dark.")
    report = world.ingest()
    assert len(world.scan_index.rows) == 3
    (notice,) = report.notices
    assert notice.reason is Degradation.VECTOR_ENGINE_FALLBACK
    assert "chroma" in notice.detail
    assert world.library.committed_through == committed, "nothing counts as committed that chroma does not hold"
    world.chroma.broken = False
    assert catch_up_vectors(world.library, world.library, MODEL, (world.scan_index, world.chroma)) == ()
    assert len(world.chroma.rows) == 3
    assert world.library.committed_through > committed


def test_a_rebuild_writes_everything_and_embeds_nothing(world: World) -> None:
    world.text_index.lose()
    world.scan_index.lose()
    world.chroma.lose()
    indexes = (world.scan_index, world.chroma)
    done = rebuild(world.library, world.library, MODEL, world.text_index, indexes, embeddings_made=world.embedded)
    assert (done.text_entries, done.vectors, done.lagging) == (2, {"scan": 2, "chroma": 2}, ())
    assert done.embeddings_made == 0


def test_a_rebuild_reports_the_index_it_could_not_build_and_counts_model_runs_truly(world: World) -> None:
    world.chroma.broken = True
    runs = iter([3, 5])
    indexes = (world.scan_index, world.chroma)
    done = rebuild(world.library, world.library, MODEL, world.text_index, indexes, embeddings_made=lambda: next(runs))
    assert [lagging.name for lagging in done.lagging] == ["chroma"]
    assert done.embeddings_made == 2


def test_a_rebuild_without_a_model_builds_the_text_index(world: World) -> None:
    world.text_index.lose()
    done = rebuild(world.library, world.library, None, world.text_index, (world.scan_index,), embeddings_made=int)
    assert (done.text_entries, done.vectors) == (2, {})


def test_a_rebuild_of_vectors_alone_leaves_the_text_index_as_it_is(world: World) -> None:
    world.scan_index.lose()
    done = rebuild(world.library, world.library, MODEL, None, (world.scan_index,), embeddings_made=int)
    assert (done.text_entries, done.vectors) == (None, {"scan": 2})
    assert world.text_index.rebuilds == 0


class Stop(Exception):
    """Somebody does not want to wait."""


def stop() -> None:
    raise Stop


def test_a_stop_ends_the_work_and_the_next_call_does_it(world: World) -> None:
    for index in (MemoryTextIndex(), MemoryTextIndex(at=None)):
        with pytest.raises(Stop):
            catch_up_text(world.library, index, stop)
        assert index.texts() == []
        catch_up_text(world.library, index)
        assert index.texts() == ["Apples are red.", "Bananas are yellow."]


def test_a_rebuild_that_is_stopped_leaves_the_indexes_as_they_were(world: World) -> None:
    held = dict(world.scan_index.rows)
    with pytest.raises(Stop):
        rebuild(world.library, world.library, MODEL, world.text_index, (), embeddings_made=int, heed=stop)
    with pytest.raises(Stop):
        rebuild(world.library, world.library, MODEL, None, (world.scan_index,), embeddings_made=int, heed=stop)
    assert (world.text_index.rebuilds, world.scan_index.rebuilds) == (0, 0)
    assert world.scan_index.rows == held


def test_others_go_first_between_two_indexes_of_a_rebuild(world: World) -> None:
    seen: list[int] = []
    indexes = (world.scan_index, world.chroma)
    between = lambda: seen.append(world.scan_index.rebuilds)  # noqa: E731
    rebuild(world.library, world.library, MODEL, world.text_index, indexes, embeddings_made=int, between=between)
    assert seen == [0, 1]
