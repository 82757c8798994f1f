"""A restore that is killed at any of its steps leaves what was there, or the library of the backup; never half."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from kb.app.restoring import restore_library
from kb.contract.answers import AskRequest
from kb.contract.backup import BackupCreateRequest
from kb.contract.ingest import IngestRequest
from kb.contract.system import DoctorRequest
from tests.places import Place, over, state

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a kill is tried in a forked process")


@dataclass
class Both:
    """A place with newer work than its backup, and what either holds."""

    place: Place
    backup: Path
    backed: tuple[list[str], list[str]]
    newer: tuple[list[str], list[str]]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("restore")
    place = Place(folder / "place")
    backup = folder / "elsewhere" / "a.kbbackup"
    place.put("oven.md", "# Oven\n\nThe oven is lit at 05:30 every morning.\n")
    with place.opened() as facade:
        over(facade, facade.library.ingest(IngestRequest()))
        facade.answers.ask(AskRequest(question="When is the oven lit?", mode="lexical"))
        over(facade, facade.backup.create(BackupCreateRequest(file=str(backup))))
        backed = state(facade)
        place.put("grill.md", "# Grill\n\nThe grill turns all day.\n")
        over(facade, facade.library.ingest(IngestRequest()))
        facade.answers.ask(AskRequest(question="What turns all day?", mode="lexical"))
        newer = state(facade)
    assert backed != newer
    return Both(place, backup, backed, newer)


def run_killed(place: Place, backup: Path, number: int) -> bool:
    """Restore in a process that dies at the n-th step; return whether it came that far."""
    child = os.fork()
    if child == 0:
        count = 0

        def step(_what: object) -> None:
            nonlocal count
            count += 1
            if count == number:
                os._exit(9)

        try:
            restore_library(place.configuration, str(backup), agreed=True, heed=step, on_step=step)
        except BaseException:  # noqa: BLE001 - the child must not go on as a second test run
            os._exit(3)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in {0, 9}
    return code == 9


def test_a_restore_killed_at_every_step_leaves_one_library_whole(both: Both, tmp_path: Path) -> None:
    seen: list[str] = []
    for number in range(1, 200):
        place = both.place.copied_to(tmp_path / str(number))
        died = run_killed(place, both.backup, number)
        with place.opened() as facade:
            now = state(facade)
            checks = {check.name: check for check in facade.system.doctor(DoctorRequest()).checks}
            assert checks["sqlite_open"].ok, checks["sqlite_open"]
        assert now in (both.backed, both.newer)
        seen.append("backup" if now == both.backed else "newer work")
        left = {path.name for path in place.data.iterdir()}
        assert not {name for name in left if name.startswith((".restored", ".backup", "restore.json"))}
        if not died:
            break
        shutil.rmtree(place.folder)
    # The newer work until the journal stands, the backup from then on.
    assert seen == sorted(seen, key=["newer work", "backup"].index)
    assert set(seen) == {"newer work", "backup"}
    assert len(seen) > 12
