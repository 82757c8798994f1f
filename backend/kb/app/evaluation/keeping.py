"""What evaluation keeps, and where suites come from: ports of this package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.app.evaluation.suite_yaml import read_suite
from kb.domain.errors import InvalidInput, KebabError, NotFound
from kb.evaluation.outcomes import EvalRun
from kb.evaluation.ports import EvalRuns, RankingMeasures, RunFiles
from kb.evaluation.suites import Suite

LATEST = "latest"


class SuiteTexts(Protocol):
    """Suites as texts, by name or path."""

    def names(self) -> Sequence[str]:
        """Return the names of the suites in the data folder."""

    def read(self, suite: str) -> str | None:
        """Return the text of a suite; None when there is no such file."""

    def write(self, suite: str, text: str) -> None:
        """Put a text in place of a suite, all at once."""


class KeptRuns(EvalRuns, Protocol):
    """Runs, and how what can be found was cut."""

    def cuts(self) -> Sequence[tuple[str, str]]:
        """Return by which chunkers and policies (as hash) what can be found was cut, each once."""


@dataclass(frozen=True, slots=True)
class EvalKeeping:
    """Suites and runs of one library."""

    suites: SuiteTexts
    runs: KeptRuns
    files: RunFiles
    measures: RankingMeasures

    def cuts(self) -> Sequence[tuple[str, str]]:
        """Return by which chunkers and policies what can be found was cut."""
        return self.runs.cuts()

    def suite(self, name: str) -> Suite:
        """Return a suite by name or path.

        Raises:
            NotFound: there is none.
            InvalidInput: it cannot be read, or asks nothing.
        """
        text = self.suites.read(name)
        if text is None:
            raise NotFound(f"there is no suite {short(name)!r}", hint="make one: `kb eval add SUITE --query …`")
        suite = read_suite(text, short(name))
        if not suite.queries:
            raise InvalidInput(f"the suite {short(name)!r} asks nothing yet", hint="add questions: `kb eval add`")
        return suite

    def run(self, run_id: str) -> EvalRun:
        """Return a run; `latest` is the newest.

        Raises:
            NotFound: there is none.
        """
        found = next(iter(self.runs.recent(1)), None) if run_id == LATEST else self.runs.get(run_id)
        if found is None:
            raise NotFound(f"there is no run {run_id[:64]!r}", hint="`kb eval runs` lists them")
        return found


def short(name: str) -> str:
    """Return the last part of a path: whole ones are not told."""
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2][:100]


def problem_of(keeping: EvalKeeping, name: str) -> tuple[Suite | None, str | None]:
    """Return a suite, or what is wrong with it."""
    try:
        return read_suite(keeping.suites.read(name) or "", name), None
    except KebabError as error:
        return None, error.message
