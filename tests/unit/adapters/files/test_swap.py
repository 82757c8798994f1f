from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.adapters.files.swap import JOURNAL, LibrarySwap
from kb.domain.failures import StorageFailed

OLD = {"kb.sqlite": "old", "kb.sqlite-wal": "old", "assets/aa/1": "old", "tantivy/meta.json": "old"}
NEW = {"kb.sqlite": "new", "assets/bb/2": "new", "artifacts/3/pdf-text": "new"}
STAYS = {"backups/a.kbbackup": "mine", "lock": "mine", "models/m": "mine"}


class Killed(BaseException):
    """Stands for a kill: nothing of ours may tidy up on its way."""


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def found(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in sorted(folder.rglob("*")) if file.is_file()}


def made(data: Path) -> Path:
    put(data, {**OLD, **STAYS})
    staged = data / ".restored-abc"
    put(staged, NEW)
    return staged


def killed_at(number: int) -> Callable[[str], None]:
    steps = itertools.count()

    def step(_name: str) -> None:
        if next(steps) == number:
            raise Killed

    return step


def is_swapped(data: Path) -> bool:
    kept = {f"before-restore/now/{name}": text for name, text in OLD.items()}
    return found(data) == {**NEW, **STAYS, **kept}


def test_a_swap_puts_one_library_in_place_and_keeps_the_other_whole(tmp_path: Path) -> None:
    assert LibrarySwap(tmp_path).swap(made(tmp_path), "now") == "before-restore/now"
    assert is_swapped(tmp_path)


def test_where_there_was_none_nothing_is_kept(tmp_path: Path) -> None:
    put(tmp_path / ".restored-abc", NEW)
    assert LibrarySwap(tmp_path).swap(tmp_path / ".restored-abc", "now") is None
    assert found(tmp_path) == NEW


def test_a_kill_at_any_step_and_another_while_healing_leave_the_old_or_the_new(tmp_path: Path) -> None:
    names: list[str] = []
    LibrarySwap(tmp_path / "count", names.append).swap(made(tmp_path / "count"), "now")
    olds = 0
    for first, second in itertools.product(range(len(names)), range(len(names))):
        data = tmp_path / f"{first}-{second}"
        staged = made(data)
        with pytest.raises(Killed):
            LibrarySwap(data, killed_at(first)).swap(staged, "now")
        try:
            LibrarySwap(data, killed_at(second)).heal()
        except Killed:
            LibrarySwap(data).heal()
        if found(data) == {**OLD, **STAYS}:
            olds += 1
        else:
            assert is_swapped(data), (names[first], found(data))
    # Before the journal stands, and only then, it is the old one.
    assert olds == 2 * len(names)
    assert names[:2] == ["settle", "note aside"]


def test_healing_clears_what_a_kill_left_and_touches_nothing_else(tmp_path: Path) -> None:
    half = dict.fromkeys((".restored-x/kb.sqlite", ".backup-y/kb.sqlite", "backups/.new-z.part"), "half")
    put(tmp_path, {**OLD, **half})
    assert LibrarySwap(tmp_path).heal() is False
    assert found(tmp_path) == OLD


@pytest.mark.parametrize(
    "journal",
    [
        "",
        "[]",
        '{"phase": "aside"}',
        '{"phase": "other", "staged": ".restored-a", "kept": "before-restore/a"}',
        '{"phase": "aside", "staged": "../away", "kept": "before-restore/a"}',
        '{"phase": "aside", "staged": ".restored-a", "kept": "before-restore/../../a"}',
    ],
)
def test_a_journal_that_is_none_of_ours_moves_nothing(tmp_path: Path, journal: str) -> None:
    put(tmp_path, {**OLD, JOURNAL: journal})
    with pytest.raises(StorageFailed, match="cut off"):
        LibrarySwap(tmp_path).heal()
    assert found(tmp_path) == {**OLD, JOURNAL: journal}
