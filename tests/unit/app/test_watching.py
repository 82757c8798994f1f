"""Following a workspace, with a clock, a desk and a system made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from kb.app.watching import Change, Compared, Following, Workspace
from kb.domain.errors import NotFound
from kb.domain.files import Scope
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress
from kb.domain.paths import WorkspacePath
from kb.ingest.removals import HeldBack
from kb.ingest.report import IngestReport

NOON = datetime(2026, 4, 27, 12, tzinfo=UTC)


@dataclass(frozen=True)
class At:
    path: str
    is_folder: bool | None = False


@dataclass
class FakeDesk:
    jobs: dict[JobId, Job]

    def start(self, kind: JobKind, payload: Mapping[str, Json], *, priority: int = 0) -> Job:
        job_id = JobId(f"job-{len(self.jobs)}")
        pending = Job(job_id, kind, JobStatus.PENDING, payload, Progress(), 0, None, None, None, NOON, NOON, None)
        self.jobs[job_id] = replace(pending, priority=priority)
        return self.jobs[job_id]


@dataclass
class System:
    """Everything around what follows: a clock, events, jobs, files."""

    seconds: float = 0.0
    problems: list[str | None] = field(default_factory=list)
    on: bool = False
    jobs: dict[JobId, Job] = field(default_factory=dict)
    few: bool = True
    rules: int = 0
    away: bool = False

    def __post_init__(self) -> None:
        self.compared = Compared(self.now)
        workspace = Workspace(keeps=self.keeps, has_few=lambda _paths, _most: self.few, live=lambda: 40)
        self.following = Following(
            self,
            workspace,
            FakeDesk(self.jobs),
            self.jobs.get,
            self.compared,
            every_s=600,
            clock=lambda: self.seconds,
            now=self.now,
        )

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds)

    # the system's events

    def start(self, on_change: Callable[[Change], object]) -> str | None:
        problem = self.problems.pop(0) if self.problems else None
        self.on = problem is None
        return problem

    def listens(self) -> bool:
        return self.on

    def stop(self) -> None:
        self.on = False

    # files

    def keeps(self) -> Callable[[str, bool | None], bool]:
        self.rules += 1
        if self.away:
            raise NotFound("away")
        return lambda path, _is_folder: not path.endswith(".swp")

    # what a test does

    def tell(self, *paths: str) -> None:
        for path in paths:
            self.following.told(At(path))

    def look(self, after: float = 0.0) -> None:
        self.seconds += after
        self.following.look()

    def end(self, status: JobStatus = JobStatus.SUCCEEDED, **changes: object) -> None:
        for job_id, job in self.jobs.items():
            if not job.status.is_final:
                self.jobs[job_id] = replace(job, status=status, **changes)  # type: ignore[arg-type]

    def asked(self) -> list[tuple[Sequence[str], int]]:
        """Paths and priority of every job that was started."""
        return [(job.payload["paths"], job.priority) for job in self.jobs.values()]  # type: ignore[misc]


def settled() -> System:
    """A system that is listened to and was compared."""
    system = System()
    system.look()
    system.end()
    system.look()
    system.jobs.clear()
    return system


def a_report(held: HeldBack | None = None, *paths: str) -> IngestReport:
    scope = Scope(paths=tuple(map(WorkspacePath, paths)))
    return IngestReport(scope, 0, 0, 0, 0, 0, 0, 0, 0, None, held_back=held)


def test_everything_is_compared_at_the_start_and_now_and_then() -> None:
    system = System()
    system.look()
    assert system.asked() == [([], 0)]
    assert all(job.payload["asks"] for job in system.jobs.values())
    system.end()
    system.look(599)
    assert len(system.jobs) == 1
    system.look(1)
    assert system.asked() == [([], 0), ([], 0)]


def test_a_saved_note_is_read_before_everything_else_once_it_is_quiet() -> None:
    system = settled()
    system.tell("a.md")
    system.look(0.1)
    assert system.asked() == []
    assert system.following.followed().pending == 1
    system.look(0.3)
    assert system.asked() == [(["a.md"], 10)]
    assert system.following.followed().pending == 1
    system.end()
    system.look()
    assert system.following.followed().pending == 0
    assert system.following.followed().last_change_at == NOON


def test_a_note_saved_again_while_it_is_read_is_read_again() -> None:
    system = settled()
    system.tell("a.md")
    system.look(1)
    system.tell("a.md")
    system.look(1)
    assert len(system.jobs) == 1
    system.end()
    system.look(1)
    assert [job.payload["paths"] for job in system.jobs.values()] == [["a.md"], ["a.md"]]
    numbers = {job.payload["number"] for job in system.jobs.values()}
    assert len(numbers) == 2


def test_what_is_ignored_or_comes_and_goes_starts_nothing() -> None:
    system = settled()
    system.tell(".a.md.swp")
    system.look(5)
    assert system.asked() == []
    assert system.following.followed().last_change_at is None


def test_new_rules_of_what_is_ignored_compare_everything() -> None:
    system = settled()
    system.tell("a.md")
    assert system.rules == 1
    system.tell(".kbignore")
    system.look(1)
    assert sorted(system.asked()) == [([], 0), (["a.md"], 10)]
    system.tell("a.md")
    assert system.rules == 2


def test_many_files_at_once_are_a_comparison_of_everything() -> None:
    system = settled()
    system.few = False
    system.tell("folder")
    system.look(1)
    assert system.asked() == [([], 0)]


def test_two_thousand_changed_files_are_followed_by_one_comparison() -> None:
    system = settled()
    system.tell(*[f"notes/{number}.md" for number in range(2000)])
    system.look(1)
    assert system.asked() == [(["notes/1999.md"], 10), ([], 0)]


def test_hundreds_of_files_are_read_by_and_by_before_a_long_comparison_ends() -> None:
    system = System()
    system.look()
    system.tell(*[f"notes/{number:03}.md" for number in range(250)])
    lengths = []
    for _ in range(4):
        system.look(1)
        lengths.append([len(paths) for paths, priority in system.asked() if priority])
        for job_id, job in system.jobs.items():
            if job.priority:
                system.jobs[job_id] = replace(job, status=JobStatus.SUCCEEDED)
    assert lengths == [[100], [100, 100], [100, 100, 50], [100, 100, 50]]


def test_a_burst_while_everything_is_compared_is_compared_again_afterwards() -> None:
    system = System()
    system.look()
    system.tell(*[f"{number}.md" for number in range(1000)])
    system.look(2)
    assert system.asked() == [([], 0), (["999.md"], 10)]
    system.end()
    system.look()
    assert system.asked() == [([], 0), (["999.md"], 10), ([], 0)]


def test_a_few_files_do_not_wait_for_a_comparison() -> None:
    system = System()
    system.look()
    system.tell("a.md")
    system.look(1)
    assert system.asked() == [([], 0), (["a.md"], 10)]


def test_an_urgent_run_that_found_too_many_files_is_followed_by_a_whole_one() -> None:
    system = settled()
    system.tell("folder")
    system.look(1)
    system.end(result={"too_many": True})
    system.look()
    assert system.asked() == [(["folder"], 10), ([], 0)]


def test_a_system_that_tells_nothing_is_compared_every_minute_and_said() -> None:
    system = System(problems=["no more folders can be watched"] * 40)
    system.look()
    assert system.following.followed().problem == "no more folders can be watched"
    assert not system.following.followed().watching
    system.end()
    system.look(30)
    assert len(system.jobs) == 1
    system.look(30)
    assert len(system.jobs) == 2


def test_what_happened_while_nothing_was_told_is_looked_for_once_it_is_again() -> None:
    system = settled()
    system.on = False
    system.problems = ["the workspace folder is missing"]
    system.look(6)
    assert system.following.followed().problem == "the workspace folder is missing"
    system.look(6)
    assert system.following.followed().problem is None
    assert system.asked() == [([], 0)]


def test_a_run_that_failed_is_made_up_for_within_a_minute() -> None:
    system = settled()
    system.tell("a.md")
    system.look(1)
    system.end(JobStatus.FAILED, error_code="storage_failed")
    system.look()
    system.look(61)
    assert system.asked() == [(["a.md"], 10), ([], 0)]
    assert system.following.followed().held_back is None


def test_a_missing_workspace_holds_everything_back() -> None:
    system = System()
    system.look()
    system.end(JobStatus.FAILED, error_code="not_found")
    system.look()
    held = system.following.followed().held_back
    assert held == HeldBack(40, 40, "root_missing", ())


def test_rules_that_cannot_be_read_let_everything_through() -> None:
    system = settled()
    system.away = True
    system.following._keeps = None
    system.tell("a.md")
    system.look(1)
    assert system.asked() == [(["a.md"], 10)]


def test_what_is_held_back_is_told_until_a_whole_run_held_nothing_back() -> None:
    held = HeldBack(15, 40, "many_missing", (WorkspacePath("a.md"),))
    compared = Compared(lambda: NOON)
    compared.ran(a_report(held, "notes"))
    assert compared.facts() == (None, held)
    compared.ran(a_report(None, "notes"))
    assert compared.facts() == (None, held)
    compared.ran(a_report())
    assert compared.facts() == (NOON, None)


def test_following_ends_when_it_is_told_to() -> None:
    system = System()
    system.following.begin()
    system.following.stop()
    assert not system.on
    assert system.following._thread is not None
    assert not system.following._thread.is_alive()
