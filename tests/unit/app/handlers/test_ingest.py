"""Jobs that read: what is left of the index log afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import pytest

from kb.app.bootstrap import Parts
from kb.app.facade.events import Events
from kb.app.handlers.ingest import IngestHandler
from tests.builders import MODEL


@dataclass
class Trimmed:
    calls: list[tuple[int, int]] = field(default_factory=list)

    def trim(self, text_position: int, vector_position: int) -> None:
        self.calls.append((text_position, vector_position))


@pytest.mark.parametrize(
    ("positions", "trimmed"),
    [((7, 5), (9, 5)), ((7, None), (9, 7)), ((None, None), (9, 0))],
    ids=["behind", "one is lost", "both are lost"],
)
def test_the_log_is_kept_for_an_index_that_is_behind_and_not_for_a_lost_one(
    positions: tuple[int | None, int | None], trimmed: tuple[int, int]
) -> None:
    log = Trimmed()
    parts = SimpleNamespace(
        model=MODEL,
        text_index=SimpleNamespace(position=lambda: 9),
        vector_indexes=[SimpleNamespace(position=lambda _model, at=at: at) for at in positions],
        log=log,
    )
    IngestHandler(cast("Parts", parts), Events(), lambda _job: None)._trim_log()
    assert log.calls == [trimmed]
