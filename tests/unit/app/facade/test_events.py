"""Who listens hears everything in its order, and who comes back hears what happened meanwhile."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from kb.app.facade.events import _BACKLOG, _KEPT_CHANGES, _KEPT_JOBS, Events, Listener
from kb.contract.events import Event
from kb.contract.jobs import Job, JobProgress

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALL = ("documents", "items", "index", "answers", "jobs", "collections", "settings")


def a_job(job_id: str, done: int = 0) -> Job:
    return Job(
        id=job_id,
        kind="ingest",
        status="running",
        progress=JobProgress(stage="read", done=done, total=9, percent=done),
        attempts=1,
        error=None,
        created_at=NOON,
        updated_at=NOON,
        finished_at=None,
    )


def heard(listener: Listener) -> list[Event]:
    found = []
    while (event := listener.next(0.0)) is not None:
        found.append(event)
    return found


def said(listener: Listener) -> list[object]:
    return [(event.job.id, event.job.progress.done) if event.job else event.changed for event in heard(listener)]


def test_who_listens_hears_what_happens_from_then_on() -> None:
    events = Events()
    events.changed("items")
    listener = events.subscribe()
    events.changed("documents", "index")
    events.progress(a_job("a", 1))
    assert said(listener) == [("documents", "index"), ("a", 1)]
    listener.close()
    listener.close()
    events.changed("answers")
    assert said(listener) == []


def test_who_comes_back_hears_what_it_missed_and_of_each_job_only_how_far_it_is_now() -> None:
    events = Events()
    first = events.subscribe()
    events.changed("items")
    events.progress(a_job("a", 1))
    assert said(first) == [("items",), ("a", 1)]
    first.close()
    events.progress(a_job("a", 2))
    events.changed("documents")
    events.progress(a_job("b", 1))
    events.progress(a_job("a", 3))
    again = events.subscribe(first.last_id)
    events.changed("index")
    assert said(again) == [("documents",), ("b", 1), ("a", 3), ("index",)]
    assert said(events.subscribe(again.last_id)) == []


def test_who_heard_nothing_yet_can_come_back_too() -> None:
    events = Events()
    first = events.subscribe()
    assert first.next(0.0) is None
    events.changed("items")
    assert said(events.subscribe(first.last_id)) == [("items",)]


@pytest.mark.parametrize(
    "after", ["", "x", "-", "0000-1", "{name}-99", "{name}--1", "{name}-①", "{name}-" + "9" * 5000]
)
def test_an_id_that_says_nothing_here_means_that_everything_may_have_changed(after: str) -> None:
    events = Events()
    events.changed("items")
    name = events.subscribe().last_id.partition("-")[0]
    assert said(events.subscribe(after.replace("{name}", name))) == [ALL]


def test_what_is_too_long_ago_means_that_everything_may_have_changed() -> None:
    events = Events()
    long_ago, just = events.subscribe().last_id, ""
    for number in range(_KEPT_CHANGES + 1):
        events.changed("items")
        if number == _KEPT_CHANGES - 2:
            just = events.subscribe().last_id
    assert said(events.subscribe(long_ago)) == [ALL]
    assert said(events.subscribe(just)) == [("items",)] * 2


def test_jobs_that_were_forgotten_are_not_passed_over_in_silence() -> None:
    events = Events()
    first = events.subscribe().last_id
    for number in range(_KEPT_JOBS + 1):
        events.progress(a_job(f"job {number}"))
    assert said(events.subscribe(first)) == [ALL]


def test_a_listener_that_does_not_read_is_told_that_everything_may_have_changed() -> None:
    events = Events()
    listener = events.subscribe()
    for number in range(_BACKLOG + 3):
        events.progress(a_job("a", number))
    assert said(listener) == [ALL, ("a", _BACKLOG + 1), ("a", _BACKLOG + 2)]
    assert said(events.subscribe(listener.last_id)) == []


def test_nothing_is_lost_or_told_twice_when_many_publish_while_others_come_back() -> None:
    events = Events()

    def publish() -> None:
        for _ in range(50):
            events.changed("items")

    publishers = [threading.Thread(target=publish) for _ in range(4)]
    for thread in publishers:
        thread.start()
    last, count = events.subscribe("").last_id, 0
    listener = events.subscribe(last)
    while any(thread.is_alive() for thread in publishers):
        count += len(heard(listener))
        listener.close()
        listener = events.subscribe(listener.last_id)
    count += len(heard(listener))
    assert count == 200 - int(last.partition("-")[2])
