"""The wait before another attempt grows, ends at ten minutes, and is spread by the job's id."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.jobs import JobId
from kb.jobs.attempts import seconds_to_next_attempt


@pytest.mark.parametrize(("attempts", "longest"), [(1, 2), (2, 8), (3, 32), (4, 128), (5, 512), (6, 600), (60, 600)])
def test_each_wait_is_four_times_the_one_before_up_to_ten_minutes(attempts: int, longest: float) -> None:
    waits = [seconds_to_next_attempt(JobId(f"job {number}"), attempts) for number in range(200)]
    assert 0.75 * longest < min(waits) < max(waits) <= longest
    assert len(set(waits)) > 100


@given(st.text(), st.integers(1, 100))
def test_the_same_job_waits_the_same_and_never_less_than_before(job_id: str, attempts: int) -> None:
    wait = seconds_to_next_attempt(JobId(job_id), attempts)
    assert (
        wait == seconds_to_next_attempt(JobId(job_id), attempts) <= seconds_to_next_attempt(JobId(job_id), attempts + 1)
    )
