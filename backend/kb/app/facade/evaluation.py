"""`evaluation`: suites asked, runs compared and gated, golden queries added."""

from __future__ import annotations

from pathlib import Path

from kb.app.evaluation.golden import Golden
from kb.app.evaluation.imports import read_beir, read_trec
from kb.app.evaluation.keeping import EvalKeeping, problem_of, short
from kb.app.evaluation.suite_yaml import HEADER, add_query, entry_of, read_suite
from kb.app.facade.library import Work
from kb.app.wire.evaluation import comparison_to_wire, gate_to_wire, query_to_wire, run_to_wire
from kb.app.wire.jobs import job_to_wire
from kb.contract.base import Empty
from kb.contract.comparing import EvalCompare, EvalCompareRequest, EvalGate, EvalGateRequest
from kb.contract.evaluation import EvalGetRequest, EvalQueries, EvalRun, EvalRuns, EvalRunsRequest
from kb.contract.jobs import Job, JobRequest
from kb.contract.suites import EvalAddRequest, EvalChanged, EvalImportRequest, EvalRunRequest, EvalSuite, EvalSuites
from kb.domain.errors import Conflict, InvalidInput, NotFound
from kb.domain.jobs import JobId, JobKind
from kb.evaluation.compare import Comparison, compare
from kb.evaluation.gate import gate
from kb.evaluation.outcomes import EvalRun as Run
from kb.jobs.ports import JobControl


class Evaluation:
    """Asks suites, and says how good search is and whether it got worse."""

    def __init__(self, keeping: EvalKeeping, golden: Golden, jobs: JobControl, work: Work) -> None:
        self._keeping = keeping
        self._golden = golden
        self._jobs = jobs
        self._work = work

    def suites(self, request: Empty) -> EvalSuites:
        """Return the suites in the data folder."""
        del request
        found = [(name, *problem_of(self._keeping, name)) for name in self._keeping.suites.names()]
        return EvalSuites(
            suites=tuple(
                EvalSuite(
                    name=name,
                    queries=len(suite.queries) if suite else 0,
                    refusals=sum(one.should_refuse for one in suite.queries) if suite else 0,
                    problem=problem,
                )
                for name, suite, problem in found
            )
        )

    def run(self, request: EvalRunRequest) -> Job:
        """Start asking the questions of a suite."""
        self._keeping.suite(request.suite)
        payload = request.model_dump()
        return job_to_wire(self._work.start(JobKind.EVALUATION, payload, subject=short(request.suite)))

    def report(self, request: JobRequest) -> EvalRun:
        """Return how good a finished run was."""
        job = self._jobs.get(JobId(request.job_id))
        if job is None or job.kind is not JobKind.EVALUATION:
            raise NotFound(f"there is no evaluation {request.job_id[:64]!r}", hint="list jobs with `kb jobs`")
        if not job.result:
            hint = "run it again" if job.status.is_final else "wait until it ends"
            raise InvalidInput(f"the job is {job.status.value} and has no report", hint=hint)
        return run_to_wire(self._keeping.run(str(job.result["run_id"])))

    def runs(self, request: EvalRunsRequest) -> EvalRuns:
        """Return the newest runs."""
        return EvalRuns(runs=tuple(map(run_to_wire, self._keeping.runs.recent(request.limit))))

    def get(self, request: EvalGetRequest) -> EvalQueries:
        """Return a page of the questions of a run, or of those that failed."""
        run = self._keeping.run(request.run_id)
        outcomes = self._keeping.files.outcomes(run.run_id)
        wanted = [one for one in outcomes if one.failure() or not request.only_failed]
        start = int(request.cursor or 0)
        end = start + request.limit
        return EvalQueries(
            run=run_to_wire(run),
            queries=tuple(map(query_to_wire, wanted[start:end])),
            next=str(end) if end < len(wanted) else None,
        )

    def compare(self, request: EvalCompareRequest) -> EvalCompare:
        """Hold a run against another, question by question."""
        a, b = self._keeping.run(request.a), self._keeping.run(request.b)
        return comparison_to_wire(self._compared(a, b, strict=request.strict_chunker_version))

    def gate(self, request: EvalGateRequest) -> EvalGate:
        """Say whether a run is good enough, and which questions failed."""
        run = self._keeping.run(request.run_id)
        base = self._keeping.run(request.baseline) if request.baseline else None
        outcomes = self._keeping.files.outcomes(run.run_id)
        against = None
        if base is not None:
            before = self._keeping.files.outcomes(base.run_id)
            against = (base, before, compare(base, run, before, outcomes))
        found = gate(run, outcomes, minimums=request.minimums, drops=request.drops, against=against)
        return gate_to_wire(run.run_id, base.run_id if base else None, found)

    def add(self, request: EvalAddRequest) -> EvalChanged:
        """Add a golden query at the end of a suite, which is made if need be."""
        golden = self._golden.of(request)
        text = add_query(self._keeping.suites.read(request.suite), golden, short(request.suite))
        return self._written(request.suite, text)

    def take_in(self, request: EvalImportRequest) -> EvalChanged:
        """Make a suite of questions and judgements of others."""
        name = short(request.suite)
        if self._keeping.suites.read(request.suite) is not None:
            raise Conflict(f"there is a suite {name!r} already", hint="give another name")
        if (request.folder is None) == (request.topics is None or request.qrels is None):
            raise InvalidInput(
                "an import needs a BEIR folder, or TREC topics and qrels", hint="see `kb eval import -h`"
            )
        if request.folder is not None:
            suite, left_out = read_beir(Path(request.folder), request.split, request.path, name)
        else:
            suite, left_out = read_trec(Path(str(request.topics)), Path(str(request.qrels)), request.path, name)
        changed = self._written(request.suite, HEADER + "".join(map(entry_of, suite.queries)))
        return changed.model_copy(update={"left_out": left_out})

    def _written(self, suite: str, text: str) -> EvalChanged:
        name = short(suite)
        queries = read_suite(text, name).queries
        self._keeping.suites.write(suite, text)
        return EvalChanged(suite=name, queries=len(queries), last_id=queries[-1].query_id if queries else None)

    def _compared(self, a: Run, b: Run, *, strict: bool) -> Comparison:
        files = self._keeping.files
        return compare(a, b, files.outcomes(a.run_id), files.outcomes(b.run_id), strict_chunker_version=strict)
