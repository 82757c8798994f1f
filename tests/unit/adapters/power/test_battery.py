"""Whether the computer runs on its battery; what cannot be known is no."""

from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest

from kb.adapters.power.battery import PsutilPower


def on(monkeypatch: pytest.MonkeyPatch, found: object) -> bool:
    def look() -> object:
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(psutil, "sensors_battery", look, raising=False)
    return PsutilPower().on_battery()


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (SimpleNamespace(power_plugged=False), True),
        (SimpleNamespace(power_plugged=True), False),
        (SimpleNamespace(power_plugged=None), False),
        (None, False),
        (OSError("no driver"), False),
        (ValueError("odd driver"), False),
    ],
)
def test_only_a_battery_that_is_surely_in_use_counts(
    monkeypatch: pytest.MonkeyPatch, found: object, expected: bool
) -> None:
    assert on(monkeypatch, found) is expected


def test_a_system_that_tells_nothing_is_not_on_battery(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(psutil, "sensors_battery", raising=False)
    assert not PsutilPower().on_battery()


def test_it_looks_every_five_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr(psutil, "sensors_battery", lambda: looks.append(1), raising=False)
    clock = 100.0
    power = PsutilPower(lambda: clock)
    for _ in range(12):
        power.on_battery()
        clock += 1.0
    assert len(looks) == 3
