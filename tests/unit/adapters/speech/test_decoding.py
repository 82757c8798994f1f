"""Sound decoded: forms, lengths, times, pieces, and files that are not what they say."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.adapters.speech.decoding import PIECE_SECONDS, RATE, AvSoundDecoder, _in_pauses
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.ingest.reading_ports import SourceFile
from tests.unit.adapters.speech.sounds import LIMITS, encoded, on_disk, source, tone, wav

DECODER = AvSoundDecoder()


def samples_of(file: SourceFile, limits: ReadingLimits = LIMITS) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.concatenate([np.frombuffer(piece, np.float32) for _, piece in DECODER.pieces(file, limits)])


def reason_of(file: SourceFile, limits: ReadingLimits = LIMITS) -> str:
    with pytest.raises(Unreadable) as caught:
        list(DECODER.pieces(file, limits))
    return caught.value.reason


@pytest.mark.parametrize(
    ("container", "codec"),
    [
        ("mp3", "libmp3lame"),
        ("ogg", "libopus"),
        ("flac", "flac"),
        ("ipod", "aac"),
        ("adts", "aac"),
        ("webm", "libopus"),
    ],
)
def test_every_usual_form_gives_its_three_seconds(container: str, codec: str) -> None:
    file = source(encoded(container, codec, 3.0))
    assert DECODER.about(file, LIMITS).seconds == pytest.approx(3.0, abs=0.1)
    samples = samples_of(file)
    assert len(samples) / RATE == pytest.approx(3.0, abs=0.1)
    assert np.abs(samples[RATE : 2 * RATE]).max() == pytest.approx(0.3, abs=0.08)


def test_the_sound_of_a_video_is_decoded() -> None:
    file = source(encoded("mp4", "aac", 2.0, picture=True), "film.mp4", MediaType.VIDEO)
    assert DECODER.about(file, LIMITS).has_sound
    assert len(samples_of(file)) / RATE == pytest.approx(2.0, abs=0.1)


def test_sound_that_begins_after_the_picture_is_heard_at_its_time() -> None:
    file = source(encoded("matroska", "aac", 2.0, picture=True, delay=1.5), "film.mkv", MediaType.VIDEO)
    samples = samples_of(file)
    assert len(samples) / RATE == pytest.approx(3.5, abs=0.1)
    assert np.abs(samples[: round(1.4 * RATE)]).max() < 0.01
    assert np.abs(samples[round(1.6 * RATE) :]).max() > 0.2


def test_a_video_without_sound_says_so_and_how_long_it_is() -> None:
    file = source(encoded("mp4", "aac", 2.0, picture=True, sound=False), "film.mp4", MediaType.VIDEO)
    about = DECODER.about(file, LIMITS)
    assert not about.has_sound
    assert about.seconds == pytest.approx(2.0, abs=0.3)


def test_eight_kilohertz_stereo_floats_are_mixed_and_resampled() -> None:
    both = np.stack([tone(2.0, 8000), np.zeros(16_000, np.float32)], axis=1).reshape(-1)
    samples = samples_of(source(wav(both, 8000, 2, floats=True)))
    assert len(samples) / RATE == pytest.approx(2.0, abs=0.01)
    assert np.abs(samples).max() == pytest.approx(0.15, abs=0.01)


def test_floats_that_are_no_numbers_become_silence_and_loud_ones_full_scale() -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 7.0, 0.25] * 3200, np.float32)
    samples = samples_of(source(wav(odd, floats=True)))
    assert np.isfinite(samples).all()
    assert np.abs(samples).max() == 1.0


def test_nine_hundred_milliseconds_are_enough() -> None:
    assert len(samples_of(source(wav(tone(0.9))))) == 14_400


def test_an_ogg_called_wav_is_read_by_what_it_is() -> None:
    assert len(samples_of(source(encoded("ogg", "libopus", 1.0), "a.wav"))) / RATE == pytest.approx(1.0, abs=0.05)


def test_a_header_that_promises_more_than_there_is_does_not_count() -> None:
    file = source(wav(tone(2.0), said=16_000 * 2 * 600))
    assert len(samples_of(file)) == 32_000


def test_a_file_cut_short_gives_what_is_left_of_it() -> None:
    whole = encoded("mp3", "libmp3lame", 8.0)
    half = source(whole[: len(whole) // 2])
    assert len(samples_of(half)) / RATE == pytest.approx(4.0, abs=0.3)
    assert DECODER.about(half, LIMITS).sound_seconds == pytest.approx(8.0, abs=0.3)


def test_where_the_sound_of_a_film_ends_is_told_apart_from_the_films_end() -> None:
    film = encoded("mp4", "aac", 2.0, picture=True, delay=1.0)
    about = DECODER.about(source(film, "film.mp4", MediaType.VIDEO), LIMITS)
    assert about.sound_seconds == pytest.approx(3.0, abs=0.1)


def test_the_length_of_a_stream_without_a_header_is_counted_not_guessed() -> None:
    # Loud, then silent: by the size of its first packets it would be far shorter or longer.
    both = encoded("adts", "aac", 2.0) + encoded("adts", "aac", 0.2) * 30
    about = DECODER.about(source(both, "a.aac"), LIMITS)
    assert about.seconds == pytest.approx(len(samples_of(source(both, "a.aac"))) / RATE, abs=0.5)


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "a.wav", "damaged"),
        (wav([]), "header-only.wav", "damaged"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(24), "a.wav", "damaged"),
        (b"OggS" + b"\x07" * 4000, "a.ogg", "damaged"),
        (encoded("ipod", "aac", 2.0)[:400], "a.m4a", "damaged"),
        (b"not a sound at all\n" * 200, "a.mp3", "wrong_type"),
        (b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nhttp://127.0.0.1:9/a.ts\n", "list.mp3", "wrong_type"),
        (b"ffconcat version 1.0\nfile secret.wav\n", "list.mp3", "wrong_type"),
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "a.mp3", "wrong_type"),
    ],
)
def test_what_is_no_sound_is_refused_with_its_reason(data: bytes, name: str, reason: str) -> None:
    assert reason_of(source(data, name)) == reason
    with pytest.raises(Unreadable) as caught:
        DECODER.about(source(data, name), LIMITS)
    assert caught.value.reason == reason


def test_a_cover_picture_alone_is_no_sound() -> None:
    tag = b"APIC" + (1000).to_bytes(4, "big") + bytes(2) + b"\x00image/png\x00\x03\x00\x89PNG\r\n\x1a\n" + bytes(977)
    file = source(b"ID3\x03\x00\x00" + bytes([0, 0, len(tag) >> 7, len(tag) & 127]) + tag, "cover.mp3")
    assert reason_of(file) in {"damaged", "wrong_type"}


def test_a_recording_over_the_limit_is_refused_before_it_is_heard() -> None:
    file = source(wav(tone(3.0)))
    with pytest.raises(Unreadable) as caught:
        DECODER.about(file, ReadingLimits(sound_seconds=2))
    assert caught.value.reason == "too_long"
    assert reason_of(file, ReadingLimits(sound_seconds=2)) == "too_long"


def test_a_header_that_lies_about_hours_does_not_make_a_short_recording_too_long() -> None:
    file = source(wav(tone(2.0), said=16_000 * 2 * 3600 * 14))
    assert DECODER.about(file, LIMITS).seconds == pytest.approx(2.0, abs=0.1)


def test_tags_and_chapters_are_told() -> None:
    marks = ((0, 1, "Start"), (1, 3, "Schluss"))
    data = encoded("matroska", "aac", 3.0, tags={"title": "Probe", "artist": "Ada"}, chapters=marks)
    about = DECODER.about(source(data, "a.mka"), LIMITS)
    assert (about.tags["title"], about.tags["artist"]) == ("Probe", "Ada")
    assert about.chapters == ((0.0, "Start"), (1.0, "Schluss"))


def test_a_tag_in_an_odd_encoding_does_not_spoil_the_recording() -> None:
    data = encoded("flac", "flac", 1.0, tags={"title": "Caf-- noir"}).replace(b"Caf-- noir", b"Caf\xe9\xff noir")
    assert "noir" in DECODER.about(source(data), LIMITS).tags["title"]
    assert len(samples_of(source(data))) / RATE == pytest.approx(1.0, abs=0.05)


def test_a_large_file_is_read_from_disk_if_it_is_the_one_that_was_hashed(tmp_path: Path) -> None:
    data = wav(tone(2.0))
    assert len(samples_of(on_disk(tmp_path / "a.wav", data))) == 32_000
    file = on_disk(tmp_path / "b.wav", data)
    (tmp_path / "b.wav").write_bytes(b"RIFF" + data[8:])
    assert reason_of(file) == "changed"
    (tmp_path / "b.wav").unlink()
    assert reason_of(file) == "vanished"


def test_a_long_recording_is_cut_in_its_pauses_and_nothing_is_lost() -> None:
    spoken = tone(PIECE_SECONDS * 2 + 40)
    for pause in (PIECE_SECONDS + 6, 2 * PIECE_SECONDS):
        spoken[pause * RATE : (pause + 1) * RATE] = 0
    pieces = list(DECODER.pieces(source(wav(spoken)), LIMITS))
    starts = [start for start, _ in pieces]
    assert starts[0] == 0.0
    assert PIECE_SECONDS + 6 < starts[1] < PIECE_SECONDS + 7
    assert 2 * PIECE_SECONDS < starts[2] < 2 * PIECE_SECONDS + 1
    ends = [start + len(data) / 4 / RATE for start, data in pieces]
    assert starts[1:] == pytest.approx(ends[:-1])
    joined = np.concatenate([np.frombuffer(data, np.float32) for _, data in pieces])
    assert np.allclose(joined, spoken, atol=1e-4)


def test_the_same_file_gives_the_same_pieces() -> None:
    noise = np.random.default_rng(3).normal(0, 0.1, (PIECE_SECONDS + 60) * RATE).astype(np.float32)
    file = source(wav(noise))
    assert list(DECODER.pieces(file, LIMITS)) == list(DECODER.pieces(file, LIMITS))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 20 * RATE), min_size=1, max_size=40))
def test_joining_and_cutting_keeps_every_sample(lengths: list[int]) -> None:
    numbers = iter(range(sum(lengths)))
    blocks = [np.fromiter((next(numbers) for _ in range(length)), np.float32, length) for length in lengths]
    pieces = list(_in_pauses(iter(blocks)))
    assert np.array_equal(np.concatenate(pieces), np.concatenate(blocks))
    assert all(len(piece) <= (PIECE_SECONDS + 35) * RATE for piece in pieces)


def test_files_with_wrong_bytes_in_them_are_read_or_refused_and_nothing_else() -> None:
    chance = random.Random(5)
    files = [
        encoded("mp3", "libmp3lame", 1.5),
        encoded("ogg", "libopus", 1.5),
        encoded("flac", "flac", 1.5),
        encoded("ipod", "aac", 1.5),
        encoded("matroska", "aac", 1.5, picture=True),
        wav(tone(1.5)),
    ]
    ends: Counter[str] = Counter()
    for _ in range(150):
        data = bytearray(chance.choice(files))
        reach = chance.choice([64, 600, len(data)])
        for _ in range(chance.choice([1, 5, 40])):
            data[chance.randrange(reach)] = chance.randrange(256)
        if chance.random() < 0.3:
            data = data[: chance.randrange(len(data))]
        try:
            DECODER.about(source(bytes(data)), LIMITS)
            ends["read"] += 1 if len(samples_of(source(bytes(data)))) else 0
        except Unreadable as refused:
            ends[refused.reason] += 1
    assert ends.total() == 150
    assert set(ends) <= {"read", "damaged", "wrong_type", "unsupported", "too_long"}
    assert ends["read"] > 40


def test_nothing_heavy_is_loaded_before_a_recording_is_read() -> None:
    script = (
        "import sys\n"
        "from kb.adapters.speech.decoding import AvSoundDecoder\n"
        "from kb.adapters.speech.whisper import find_speech\n"
        "from kb.adapters.parsers.sound.parser import RecordingParser\n"
        "from pathlib import Path\n"
        "print(RecordingParser(AvSoundDecoder(), find_speech([Path(sys.prefix, 'share/kb/models')])).version)\n"
        "print(sorted({'av', 'numpy', 'faster_whisper', 'ctranslate2', 'onnxruntime'} & set(sys.modules)))\n"
    )
    backend = Path(__file__).resolve().parents[4] / "backend"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(backend)},
        check=True,
        capture_output=True,
        text=True,
    )
    version, loaded = done.stdout.splitlines()
    assert version.startswith("sound-v1+")
    assert loaded == "[]"
