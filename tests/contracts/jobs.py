"""What the queue of jobs promises, whatever it is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from kb.domain.errors import Conflict
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress, Rest, Standing
from kb.jobs.ports import JobControl, JobStore

INGEST, BACKUP = JobKind.INGEST, JobKind.BACKUP
RUNNING, PENDING, FAILED = JobStatus.RUNNING, JobStatus.PENDING, JobStatus.FAILED


@dataclass
class WallClock:
    """A clock that tests set."""

    moment: datetime = field(default_factory=lambda: datetime(2026, 3, 1, 12, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.moment

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Queue:
    store: JobStore
    control: JobControl
    clock: WallClock

    def claimed(self, owner: str = "a", lease_s: float = 60.0, above: int | None = None) -> Job:
        job = self.store.claim(owner, lease_s, above=above)
        assert job is not None
        return job

    def found(self, job_id: JobId) -> Job:
        job = self.control.get(job_id)
        assert job is not None
        return job


class JobContract:
    def test_the_same_request_while_one_is_live_is_the_same_job(self, queue: Queue) -> None:
        first = queue.store.enqueue(INGEST, {"paths": ["a", "b"], "retry": False})
        assert queue.store.enqueue(INGEST, {"retry": False, "paths": ["a", "b"]}).job_id == first.job_id
        assert queue.store.enqueue(INGEST, {"paths": ["b"]}).job_id != first.job_id
        assert queue.store.enqueue(JobKind.REBUILD, {"paths": ["a", "b"], "retry": False}).job_id != first.job_id
        held = queue.claimed()
        assert queue.store.enqueue(INGEST, dict(first.payload)).job_id == first.job_id
        assert queue.store.finish(held, JobStatus.SUCCEEDED)
        assert queue.store.enqueue(INGEST, dict(first.payload)).job_id != first.job_id

    def test_of_one_item_one_job_lives_and_another_request_for_it_conflicts(self, queue: Queue) -> None:
        """Invariant 6."""
        first = queue.store.enqueue(BACKUP, {"file": "a"}, subject="library")
        assert queue.store.enqueue(BACKUP, {"file": "a"}, subject="library").job_id == first.job_id
        with pytest.raises(Conflict, match="backup is under way"):
            queue.store.enqueue(BACKUP, {"file": "b"}, subject="library")
        assert queue.store.enqueue(BACKUP, {"file": "b"}, subject="another").job_id != first.job_id
        queue.store.finish(queue.claimed(), FAILED, error=("internal", "no"))
        assert queue.store.enqueue(BACKUP, {"file": "b"}, subject="library").job_id != first.job_id

    def test_another_ingest_of_the_same_thing_waits_behind_the_first(self, queue: Queue) -> None:
        first = queue.store.enqueue(INGEST, {"retry": False}, subject="workspace")
        second = queue.store.enqueue(INGEST, {"retry": True}, subject="workspace")
        assert [queue.claimed().job_id, queue.claimed().job_id] == [first.job_id, second.job_id]

    def test_a_request_key_is_one_job_also_when_it_is_over(self, queue: Queue) -> None:
        first = queue.store.enqueue(INGEST, {"n": 1}, request_key="k")
        queue.store.finish(queue.claimed(), JobStatus.SUCCEEDED)
        again = queue.store.enqueue(INGEST, {"n": 1}, request_key="k")
        assert (again.job_id, again.status) == (first.job_id, JobStatus.SUCCEEDED)
        with pytest.raises(Conflict, match="another request"):
            queue.store.enqueue(INGEST, {"n": 2}, request_key="k")
        assert queue.store.enqueue(INGEST, {"n": 2}, request_key="l").job_id != first.job_id

    def test_jobs_are_claimed_oldest_first_and_once(self, queue: Queue) -> None:
        first = queue.store.enqueue(INGEST, {"n": 1})
        second = queue.store.enqueue(INGEST, {"n": 2})
        claimed = [queue.claimed(), queue.claimed()]
        assert [(job.job_id, job.status, job.attempts, job.owner) for job in claimed] == [
            (first.job_id, RUNNING, 1, "a"),
            (second.job_id, RUNNING, 1, "a"),
        ]
        assert queue.store.claim("a", 60.0) is None
        assert [job.job_id for job in queue.control.recent(5)] == [second.job_id, first.job_id]

    def test_urgent_jobs_are_claimed_first_and_alone_when_only_they_are_wanted(self, queue: Queue) -> None:
        calm = queue.store.enqueue(INGEST, {"n": 1})
        urgent = queue.store.enqueue(INGEST, {"n": 2}, priority=10)
        assert queue.claimed().job_id == urgent.job_id
        assert queue.store.claim("a", 60.0, above=0) is None
        held = queue.claimed()
        assert (held.job_id, queue.store.look(held).urgent) == (calm.job_id, False)
        later = queue.store.enqueue(INGEST, {"n": 3}, priority=10)
        assert queue.store.look(held).urgent
        assert queue.claimed(above=held.priority).job_id == later.job_id

    def test_a_request_that_became_urgent_makes_the_job_that_waits_urgent(self, queue: Queue) -> None:
        queue.store.enqueue(INGEST, {"n": 1})
        second = queue.store.enqueue(INGEST, {"n": 2})
        assert queue.store.enqueue(INGEST, {"n": 2}, priority=10).priority == 10
        assert queue.claimed().job_id == second.job_id

    def test_progress_shown_is_at_most_99_until_the_commit_and_100_only_afterwards(self, queue: Queue) -> None:
        """Invariant 10."""
        queue.store.enqueue(INGEST, {})
        job = queue.claimed()
        assert queue.store.report(job, Progress("embed", 5, 5, 100, "last", 3, 4, 7, 1.5, 2.0, 9.0))
        assert queue.found(job.job_id).progress == Progress("embed", 5, 5, 99, "last", 3, 4, 7, 1.5, 2.0, 9.0)
        assert queue.store.finish(job, JobStatus.SUCCEEDED, result={"new": 3})
        done = queue.found(job.job_id)
        assert (done.progress.percent, done.result, done.status) == (100, {"new": 3}, JobStatus.SUCCEEDED)
        assert done.finished_at is not None

    def test_a_failed_job_does_not_say_that_it_is_done(self, queue: Queue) -> None:
        queue.store.enqueue(INGEST, {})
        job = queue.claimed()
        queue.store.report(job, Progress("embed", percent=100))
        queue.store.finish(job, FAILED, error=("storage_failed", "the disk is full"), dead=True)
        failed = queue.found(job.job_id)
        assert (failed.error_code, failed.error_message) == ("storage_failed", "the disk is full")
        assert (failed.progress.percent, failed.dead) == (99, True)

    def test_a_worker_whose_lease_expired_writes_nothing_even_if_its_token_still_matches(self, queue: Queue) -> None:
        """Invariant 4."""
        queue.store.enqueue(INGEST, {})
        late = queue.claimed(lease_s=60.0)
        queue.clock.advance(61)
        before = queue.found(late.job_id)
        assert before.fencing_token == late.fencing_token
        assert not queue.store.look(late).is_held
        assert not queue.store.heartbeat(late, 60.0)
        assert not queue.store.report(late, Progress("embed", 1, 2, 50))
        assert not queue.store.put_back(late)
        queue.store.set_rest(late, Rest.BATTERY)
        assert not queue.store.finish(late, JobStatus.SUCCEEDED)
        assert queue.found(late.job_id) == before

    def test_a_worker_whose_job_was_taken_by_another_writes_nothing(self, queue: Queue) -> None:
        """Invariant 4."""
        queue.store.enqueue(INGEST, {})
        late = queue.claimed("a", 60.0)
        queue.clock.advance(61)
        other = queue.claimed("b", 60.0)
        assert (other.job_id, other.fencing_token) == (late.job_id, late.fencing_token + 1)
        assert queue.store.reclaim(late, 60.0) is None
        assert not queue.store.report(late, Progress("embed", 1, 2, 50))
        assert not queue.store.finish(late, FAILED, error=("internal", "no"))
        assert not queue.store.put_back(late, counts=False)
        assert queue.found(late.job_id) == other
        assert queue.store.finish(other, JobStatus.SUCCEEDED)

    def test_the_lease_is_judged_by_the_clock_at_the_moment_of_the_check(self, queue: Queue) -> None:
        """Invariant 5."""
        queue.store.enqueue(INGEST, {})
        job = queue.claimed(lease_s=60.0)
        queue.clock.advance(59)
        assert queue.store.heartbeat(job, 60.0)
        queue.clock.advance(59)
        assert queue.store.look(job) == Standing(is_held=True)
        queue.clock.advance(1)
        assert not queue.store.look(job).is_held
        assert queue.found(job.job_id).lease_expires_at == queue.clock.moment

    def test_after_a_sleep_the_same_worker_takes_its_job_anew_as_the_same_attempt(self, queue: Queue) -> None:
        queue.store.enqueue(INGEST, {})
        late = queue.claimed(lease_s=60.0)
        queue.clock.advance(10_000)
        again = queue.store.reclaim(late, 60.0)
        assert again is not None
        assert (again.fencing_token, again.attempts) == (late.fencing_token + 1, 1)
        assert queue.store.look(again).is_held
        assert not queue.store.look(late).is_held

    def test_a_pending_job_is_canceled_at_once(self, queue: Queue) -> None:
        job = queue.store.enqueue(INGEST, {})
        canceled = queue.control.request_cancel(job.job_id)
        assert canceled is not None
        assert (canceled.status, canceled.finished_at is not None) == (JobStatus.CANCELED, True)
        assert queue.store.claim("a", 60.0) is None

    def test_a_running_job_hears_of_it_with_its_next_report_or_look(self, queue: Queue) -> None:
        queue.store.enqueue(INGEST, {})
        job = queue.claimed()
        assert queue.store.report(job, Progress())
        asked = queue.control.request_cancel(job.job_id)
        assert asked is not None
        assert asked.status is RUNNING
        assert not queue.store.report(job, Progress())
        assert queue.store.look(job) == Standing(is_held=True, cancel_requested=True)
        assert queue.store.finish(job, JobStatus.CANCELED)
        assert not queue.store.finish(job, JobStatus.SUCCEEDED)
        assert queue.found(job.job_id).status is JobStatus.CANCELED

    def test_a_job_committed_to_the_queue_is_run_after_a_restart_even_if_it_was_never_dispatched(
        self, queue: Queue
    ) -> None:
        """Invariant 13."""
        left, unwanted = queue.store.enqueue(INGEST, {"n": 1}), queue.store.enqueue(INGEST, {"n": 2})
        never = queue.store.enqueue(INGEST, {"n": 3})
        queue.claimed("dead")
        queue.claimed("dead")
        queue.control.request_cancel(unwanted.job_id)
        assert queue.store.requeue_orphans("next") == 1
        assert queue.found(unwanted.job_id).status is JobStatus.CANCELED
        assert [(job.job_id, job.attempts) for job in (queue.claimed("next"), queue.claimed("next"))] == [
            (left.job_id, 2),
            (never.job_id, 1),
        ]

    def test_recovery_passes_over_what_its_own_process_holds(self, queue: Queue) -> None:
        """Invariant 20."""
        queue.store.enqueue(INGEST, {})
        held = queue.claimed("us")
        assert queue.store.requeue_orphans("us") == 0
        assert queue.store.look(held).is_held

    def test_a_job_that_killed_its_process_five_times_is_dead(self, queue: Queue) -> None:
        job = queue.store.enqueue(INGEST, {}, most_attempts=1)
        for number in range(5):
            assert queue.claimed(f"process {number}").attempts == number + 1
            assert queue.store.requeue_orphans("next") == (number < 4)
        dead = queue.found(job.job_id)
        assert (dead.status, dead.dead, dead.error_code) == (FAILED, True, "internal")
        assert queue.store.claim("next", 60.0) is None

    def test_a_job_put_back_waits_for_its_moment(self, queue: Queue) -> None:
        job = queue.store.enqueue(INGEST, {})
        later = queue.clock.moment + timedelta(seconds=8)
        assert queue.store.put_back(queue.claimed(), not_before=later, error=("storage_failed", "full"))
        waiting = queue.found(job.job_id)
        assert (waiting.status, waiting.not_before, waiting.error_code) == (PENDING, later, "storage_failed")
        assert queue.store.claim("a", 60.0) is None
        queue.clock.advance(8)
        assert queue.claimed().attempts == 2

    def test_an_attempt_that_the_end_of_the_program_cut_short_is_not_counted(self, queue: Queue) -> None:
        queue.store.enqueue(INGEST, {})
        assert queue.store.put_back(queue.claimed(), counts=False)
        assert queue.claimed().attempts == 1

    def test_a_paused_job_waits_until_it_is_resumed_also_over_a_restart(self, queue: Queue) -> None:
        job = queue.store.enqueue(INGEST, {})
        paused = queue.control.pause(job.job_id)
        assert paused is not None
        assert paused.rest is Rest.ASKED
        assert queue.store.claim("a", 60.0) is None
        queue.control.resume(job.job_id)
        held = queue.claimed("dead")
        queue.control.pause(job.job_id)
        assert queue.store.look(held).rest is Rest.ASKED
        queue.store.requeue_orphans("next")
        assert queue.store.claim("next", 60.0) is None
        queue.control.resume(job.job_id)
        assert queue.claimed("next").job_id == job.job_id

    def test_a_paused_job_can_be_canceled(self, queue: Queue) -> None:
        job = queue.store.enqueue(INGEST, {})
        queue.control.pause(job.job_id)
        canceled = queue.control.request_cancel(job.job_id)
        assert canceled is not None
        assert canceled.status is JobStatus.CANCELED

    def test_a_rest_for_the_battery_ends_with_the_process_and_never_replaces_a_pause(self, queue: Queue) -> None:
        job = queue.store.enqueue(INGEST, {})
        held = queue.claimed("dead")
        queue.store.set_rest(held, Rest.BATTERY)
        assert queue.found(job.job_id).rest is Rest.BATTERY
        queue.store.requeue_orphans("next")
        held = queue.claimed("next")
        queue.control.pause(job.job_id)
        for rest in (Rest.BATTERY, None):
            queue.store.set_rest(held, rest)
            assert queue.found(job.job_id).rest is Rest.ASKED

    def test_a_manual_retry_is_a_new_job_and_the_failed_one_is_never_set_back(self, queue: Queue) -> None:
        """Invariant 11."""
        job = queue.store.enqueue(INGEST, {"n": 1}, subject="s", request_key="k", most_attempts=3)
        queue.store.finish(queue.claimed(), FAILED, error=("internal", "no"), dead=True)
        failed = queue.found(job.job_id)
        again = queue.control.retry(job.job_id)
        assert again is not None
        assert (again.job_id != job.job_id, again.retry_of, again.status) == (True, job.job_id, PENDING)
        assert (again.payload, again.subject, again.most_attempts, again.attempts) == ({"n": 1}, "s", 3, 0)
        assert queue.control.retry(job.job_id) == again
        queue.store.finish(queue.claimed(), JobStatus.SUCCEEDED)
        assert queue.found(job.job_id) == failed

    def test_only_what_did_not_succeed_is_tried_anew(self, queue: Queue) -> None:
        job = queue.store.enqueue(INGEST, {})
        with pytest.raises(Conflict, match="pending"):
            queue.control.retry(job.job_id)
        held = queue.claimed()
        with pytest.raises(Conflict, match="running"):
            queue.control.retry(job.job_id)
        queue.store.finish(held, JobStatus.SUCCEEDED)
        with pytest.raises(Conflict, match="succeeded"):
            queue.control.retry(job.job_id)

    def test_a_job_that_waits_for_its_next_attempt_is_tried_at_once_when_asked(self, queue: Queue) -> None:
        queue.store.enqueue(INGEST, {})
        held = queue.claimed()
        queue.store.put_back(held, not_before=queue.clock.moment + timedelta(hours=1))
        queue.control.retry(held.job_id)
        assert queue.claimed().job_id == held.job_id

    def test_a_job_nobody_knows_is_none_and_takes_nothing(self, queue: Queue) -> None:
        queue.store.enqueue(INGEST, {})
        held = queue.claimed()
        steering: list[Callable[[JobId], Job | None]] = [
            queue.control.get,
            queue.control.request_cancel,
            queue.control.pause,
            queue.control.resume,
            queue.control.retry,
        ]
        assert [steer(JobId("x")) for steer in steering] == [None] * len(steering)
        assert held == queue.found(held.job_id)
