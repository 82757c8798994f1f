"""Speech recognised by the small model that `dev.py setup` makes."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kb.adapters.speech.decoding import AvSoundDecoder
from kb.adapters.speech.whisper import FasterWhisperReader, find_speech
from kb.domain.failures import ModelUnavailable
from kb.ingest.reading_ports import SpeechReader, SpokenSegment
from tests.homes import MODELS
from tests.recordings import TRANSCRIPTS, needs_recordings, recording
from tests.unit.adapters.speech.sounds import LIMITS, source, tone

needs_model = pytest.mark.skipif(
    not (MODELS / "whisper-base").is_dir(), reason="the speech model is made by `dev.py setup`"
)
RATE = 16_000


@cache
def reader() -> SpeechReader:
    found = find_speech([MODELS])
    assert found is not None
    return found


def heard(samples: Any, offset: float = 0.0, language: str | None = None) -> list[SpokenSegment]:
    return list(reader().read(np.asarray(samples, np.float32).tobytes(), offset, language))


def sound(name: str) -> Any:
    pieces = AvSoundDecoder().pieces(source(recording(name).read_bytes(), name), LIMITS)
    return np.concatenate([np.frombuffer(samples, np.float32) for _, samples in pieces])


def plain(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.casefold())


def text_of(segments: list[SpokenSegment]) -> str:
    return "".join(word.text for segment in segments for word in segment.words)


@needs_model
@needs_recordings
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TRANSCRIPTS))
def test_every_word_of_the_recordings_with_a_text_is_heard(name: str) -> None:
    language, text = TRANSCRIPTS[name]
    segments = heard(sound(name))
    assert plain(text_of(segments)) == plain(text)
    assert {segment.language for segment in segments} == {language}
    assert min(segment.confidence for segment in segments) > 0.8


@needs_model
@needs_recordings
@pytest.mark.slow
def test_words_have_the_times_of_the_recording_and_the_same_sound_gives_the_same_words() -> None:
    late = np.concatenate([np.zeros(20 * RATE, np.float32), sound("jfk.wav")])
    segments = heard(late, offset=100.0)
    words = [word for segment in segments for word in segment.words]
    asked = [word.start for word in words if word.text.strip() == "ask"]
    assert asked[-1] == pytest.approx(120 + 7.8, abs=0.7)
    assert all(a.end <= b.start + 0.3 for a, b in pairwise(words))
    assert words[-1].end <= 100 + len(late) / RATE
    assert heard(late, offset=100.0) == segments


@needs_model
@needs_recordings
@pytest.mark.slow
def test_speech_before_a_minute_of_silence_ends_when_it_ends() -> None:
    segments = heard(np.concatenate([sound("jfk.wav"), np.zeros(60 * RATE, np.float32)]))
    assert plain(text_of(segments)) == plain(TRANSCRIPTS["jfk.wav"][1])
    assert segments[-1].words[-1].end < 11.5


@needs_model
@needs_recordings
@pytest.mark.slow
def test_a_recording_in_two_languages_is_heard_in_both() -> None:
    segments = heard(sound("fw-multilingual.mp3"))
    assert segments[0].language == "en"
    assert {segment.language for segment in segments} == {"en", "de"}
    assert "uneingeschränkt" in text_of(segments)


def noises() -> dict[str, Any]:
    rng = np.random.default_rng(20_240_601)
    count = 120 * RATE
    spectrum = np.fft.rfft(rng.normal(size=count))
    pink = np.fft.irfft(spectrum / np.sqrt(np.maximum(np.arange(len(spectrum)), 1)), count)
    return {
        "silence": np.zeros(count),
        "white": rng.normal(0, 0.1, count),
        "loud": np.clip(rng.normal(0, 0.6, count), -1, 1),
        "pink": pink / np.abs(pink).max(),
        "hum": 0.3 * np.sin(2 * np.pi * 50 * np.arange(count) / RATE),
        "clicks": (rng.random(count) < 1e-4).astype(np.float32),
        "1.2 s of zeros": np.zeros(round(1.2 * RATE)),
        "a blip": tone(0.05),
        "nothing": np.zeros(0),
    }


@needs_model
@pytest.mark.parametrize("name", sorted(noises()))
def test_silence_and_noise_give_nothing(name: str) -> None:
    assert heard(noises()[name]) == []


def test_no_model_is_no_reader(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "model.toml").write_text('id = "x"\nkind = "embedding"\n')
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "model.toml").write_text("kind = ")
    assert find_speech([tmp_path, tmp_path / "missing"]) is None


def test_the_first_place_that_has_a_model_wins(tmp_path: Path) -> None:
    for place, name in (("one", "tiny"), ("two", "large")):
        (tmp_path / place / name).mkdir(parents=True)
        (tmp_path / place / name / "model.toml").write_text(f'id = "{name}"\nkind = "speech"\nversion = "4"\n')
    found = find_speech([tmp_path / "none", tmp_path / "one", tmp_path / "two"])
    assert found is not None
    assert "tiny@4" in found.version


@pytest.mark.parametrize("damage", ["missing", "garbage"])
def test_a_damaged_model_is_told_as_that(tmp_path: Path, damage: str) -> None:
    for name in ("model.bin", "config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"{}")
    if damage == "missing":
        (tmp_path / "tokenizer.json").unlink()
    broken = FasterWhisperReader(tmp_path, "broken@1")
    with pytest.raises(ModelUnavailable) as caught:
        broken._loaded()
    assert str(tmp_path) not in caught.value.message
    assert "broken@1" in caught.value.message
