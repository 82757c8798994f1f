"""Counts of searches: rarely written, bounded, without content."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.search_counters import SqliteSearchCounters

TODAY = date(2026, 3, 31)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path)
    yield library
    library.close()


def counters(library: Library, *, day: date = TODAY, seconds: list[float] | None = None) -> SqliteSearchCounters:
    return SqliteSearchCounters(library, today=lambda: day, clock_s=lambda: seconds[0] if seconds else 0.0)


def test_a_search_is_counted_without_a_commit(library: Library) -> None:
    counts, before = counters(library), library.revision
    counts.count("hybrid", {"searches": 12.0, "results": 6.0})
    counts.count("hybrid", {"searches": 20.0, "results": 0.0})
    assert library.revision == before
    found = {one.measure: (one.count, one.total, one.most) for one in counts.counted(1)}
    assert found == {"searches": (2, 32.0, 20.0), "results": (2, 6.0, 6.0)}


def test_what_was_counted_is_written_when_ten_minutes_have_gone_and_when_it_closes(library: Library) -> None:
    seconds = [0.0]
    counts = counters(library, seconds=seconds)
    counts.count("lexical", {"searches": 1.0})
    seconds[0] = 601.0
    counts.count("lexical", {"searches": 2.0})
    assert [one.count for one in counters(library).counted(1)] == [2]
    counts.count("lexical", {"searches": 3.0})
    counts.close()
    assert [(one.count, one.most) for one in counters(library).counted(1)] == [(3, 3.0)]


def test_five_hundred_searches_cost_one_commit(library: Library) -> None:
    counts, before = counters(library), library.revision
    for _ in range(500):
        counts.count("hybrid", {"searches": 1.0})
    assert library.revision == before + 1


def test_counts_older_than_ninety_days_go(library: Library) -> None:
    old = counters(library, day=TODAY - timedelta(days=91))
    old.count("hybrid", {"searches": 1.0})
    old.flush()
    new = counters(library)
    new.count("hybrid", {"searches": 1.0})
    new.flush()
    assert library.rows("SELECT day FROM search_counters") == [("2026-03-31",)]


def test_outcomes_of_rebuilds_are_counted_from_the_jobs(library: Library) -> None:
    with library.transaction() as connection:
        columns = {row[1]: row for row in connection.execute("PRAGMA table_info(jobs)")}
        given = {"job_id": "j", "kind": "rebuild", "status": "failed", "finished_at": "2026-03-31T10:00:00+00:00"}
        for name, (_, _, kind, needed, default, _) in columns.items():
            if needed and default is None and name not in given:
                given[name] = "0" if kind == "INTEGER" else "{}"
        marks = ",".join("?" * len(given))
        connection.execute(f"INSERT INTO jobs ({','.join(given)}) VALUES ({marks})", tuple(given.values()))
    assert [(one.mode, one.measure, one.count) for one in counters(library).counted(1)] == [
        ("rebuild", "rebuild.failed", 1)
    ]
