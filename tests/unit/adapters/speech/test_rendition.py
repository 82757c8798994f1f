"""Renditions for players that lack a codec."""

from __future__ import annotations

import stat
from pathlib import Path

import av
import numpy as np
import pytest

from kb.adapters.speech.rendition import main, make_rendition
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from tests.unit.adapters.speech.sounds import encoded, tone, wav


def test_a_rendition_is_opus_as_long_as_the_original_and_can_be_sought(tmp_path: Path) -> None:
    original, made = tmp_path / "a.m4a", tmp_path / "a.opus"
    original.write_bytes(encoded("ipod", "aac", 12.0))
    make_rendition(original, made)
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    with av.open(str(made)) as container:
        stream = container.streams.audio[0]
        assert (container.format.name, stream.codec_context.name, stream.layout.name) == ("ogg", "opus", "stereo")
        assert container.duration / 1e6 == pytest.approx(12.0, abs=0.1)
        container.seek(8_000_000)
        at = next(container.decode(stream)).time
        assert 6.0 < at <= 8.0


def test_sound_that_begins_after_the_picture_stays_at_its_time(tmp_path: Path) -> None:
    film = encoded("matroska", "aac", 2.0, picture=True, delay=1.0)
    (tmp_path / "a.mkv").write_bytes(film)
    make_rendition(tmp_path / "a.mkv", tmp_path / "a.opus")
    with av.open(str(tmp_path / "a.opus")) as container:
        heard = np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])
    assert len(heard) / 48_000 == pytest.approx(3.0, abs=0.1)
    assert np.abs(heard[:46_000]).max() < 0.01
    assert np.abs(heard[52_000:90_000]).max() > 0.2


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no sound " * 100, "wrong_type"),
        (encoded("mp4", "aac", 1.0, picture=True, sound=False), "no_sound"),
        (wav([]), "damaged"),
        (wav(tone(3.0)), "too_long"),
    ],
)
def test_a_failure_leaves_nothing_behind(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "a.bin").write_bytes(data)
    with pytest.raises(Unreadable) as caught:
        make_rendition(tmp_path / "a.bin", tmp_path / "a.opus", ReadingLimits(sound_seconds=2))
    assert caught.value.reason == reason
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]


def test_the_command_says_the_reason_and_no_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.wav").write_bytes(b"")
    assert main([str(tmp_path / "a.wav"), str(tmp_path / "a.opus")]) == 1
    told = capsys.readouterr().err
    assert told.startswith("damaged: ")
    assert str(tmp_path) not in told
    assert main([str(tmp_path / "gone.wav"), str(tmp_path / "a.opus")]) == 1
    assert str(tmp_path) not in capsys.readouterr().err
