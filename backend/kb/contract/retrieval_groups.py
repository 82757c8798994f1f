"""Groups of the facade that shape and prove retrieval; as `groups`, part of the method table."""

from __future__ import annotations

from typing import Protocol

from kb.contract.base import Empty
from kb.contract.comparing import EvalCompare, EvalCompareRequest, EvalGate, EvalGateRequest
from kb.contract.connections import (
    ConnectionKeyRemoveRequest,
    ConnectionKeyRequest,
    Connections,
    ConnectionTest,
    ConnectionTestRequest,
)
from kb.contract.evaluation import (
    EvalAddRequest,
    EvalChanged,
    EvalGetRequest,
    EvalImportRequest,
    EvalQueries,
    EvalRun,
    EvalRunRequest,
    EvalRuns,
    EvalRunsRequest,
    EvalSuites,
)
from kb.contract.jobs import Job, JobRequest


class ConnectionsGroup(Protocol):
    """Which models are used, where they run, and their keys."""

    def list(self, request: Empty) -> Connections:
        """Return every role and where its data goes; asks no server."""

    def test(self, request: ConnectionTestRequest) -> ConnectionTest:
        """Send one harmless sentence to a connection and say how it went."""

    def set_key(self, request: ConnectionKeyRequest) -> Connections:
        """Keep the key of a server in the system's key store."""

    def remove_key(self, request: ConnectionKeyRemoveRequest) -> Connections:
        """Forget the key of a server."""


class EvaluationGroup(Protocol):
    """How good search is: questions with what is right, asked again and again."""

    def suites(self, request: Empty) -> EvalSuites:
        """Return the suites in the data folder."""

    def run(self, request: EvalRunRequest) -> Job:
        """Start asking the questions of a suite."""

    def report(self, request: JobRequest) -> EvalRun:
        """Return how good a finished run was."""

    def runs(self, request: EvalRunsRequest) -> EvalRuns:
        """Return the newest runs."""

    def get(self, request: EvalGetRequest) -> EvalQueries:
        """Return a page of the questions of a run, or of those that failed."""

    def compare(self, request: EvalCompareRequest) -> EvalCompare:
        """Hold a run against another, question by question."""

    def gate(self, request: EvalGateRequest) -> EvalGate:
        """Say whether a run is good enough, and which questions failed."""

    def add(self, request: EvalAddRequest) -> EvalChanged:
        """Add a golden query at the end of a suite, which is made if need be."""

    def take_in(self, request: EvalImportRequest) -> EvalChanged:
        """Make a suite of questions and judgements of others."""
