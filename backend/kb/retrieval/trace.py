"""What happened during one search: filled by its steps, read once at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from kb.domain.failures import Cancelled
from kb.domain.search import Degradation
from kb.retrieval.results import Stage
from kb.retrieval.values import Degraded

T = TypeVar("T")
NO_MODEL = Degraded("vector", Degradation.NO_EMBEDDING_MODEL, "no embedding model is installed")


@dataclass(slots=True)
class Trace:
    """Channels used and degraded, counts, milliseconds by step.

    Attributes:
        clock: a monotonic clock in milliseconds.
        should_stop: asked between steps and between pages of a scan.
    """

    clock: Callable[[], float]
    should_stop: Callable[[], bool] = lambda: False
    used: list[str] = field(default_factory=list)
    degraded: list[Degraded] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    milliseconds: dict[str, float] = field(default_factory=dict)
    engine: str | None = None
    scanned: int = 0
    gated_out: int = 0
    below: int = 0
    stages: list[Stage] = field(default_factory=list)
    rerank: str | None = None

    def heed(self) -> None:
        """End the search when nobody waits for it.

        Raises:
            Cancelled: `should_stop` says so.
        """
        if self.should_stop():
            raise Cancelled("the search was stopped")

    def stage(self, name: str, before: int, after: int) -> None:
        """Note how many candidates a step was given and left."""
        self.stages.append(Stage(name, before, after))

    def timed(self, name: str, step: Callable[[], T]) -> T:
        """Do a step and add its time to that of its name, also when it fails."""
        started = self.clock()
        try:
            return step()
        finally:
            self.add(name, self.clock() - started)

    def add(self, name: str, milliseconds: float) -> None:
        """Add time to a step."""
        self.milliseconds[name] = self.milliseconds.get(name, 0.0) + milliseconds

    def degrade(self, channel: str, reason: str, detail: str) -> None:
        """Say that a channel did less than was asked."""
        self.degraded.append(Degraded(channel, reason, detail))
