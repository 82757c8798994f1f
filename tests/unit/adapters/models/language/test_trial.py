from __future__ import annotations

import ctypes
import json
import os
import signal
import struct
import time
from pathlib import Path

import pytest

from kb.adapters.models.language.trial import ModelTrial


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    return path


# What a child may meet; they stand at the top of the module because the child imports them by name.
def opens(path: str) -> None:
    assert Path(path).is_file()


def refuses(path: str) -> None:
    raise ValueError(path)


def divides_by_zero(path: str) -> None:
    os.kill(os.getpid(), signal.SIGFPE)


def reads_wildly(path: str) -> None:
    ctypes.string_at(0)


def hangs(path: str) -> None:
    time.sleep(600)


def counts(path: str) -> None:
    with Path(path).with_name("count").open("a") as file:
        file.write("x")


def test_a_file_that_opens_passes(model: Path) -> None:
    assert ModelTrial().passes(model, opens)


@pytest.mark.parametrize("opening", [refuses, divides_by_zero, reads_wildly])
def test_a_file_that_raises_or_crashes_fails_and_the_process_lives(model: Path, opening: object) -> None:
    assert not ModelTrial().passes(model, opening)  # type: ignore[arg-type]


def test_a_file_that_hangs_is_given_up_and_not_tried_again_until_it_changes(model: Path) -> None:
    trial = ModelTrial(seconds=8)
    assert not trial.passes(model, hangs)
    assert not trial.passes(model, counts)
    assert not model.with_name("count").exists()
    model.write_bytes(b"GGUF" + bytes(101))
    assert trial.passes(model, counts)


@pytest.mark.parametrize("data", [b"", b"GG", b"PK\x03\x04 a zip", b"\x00" * 100])
def test_a_file_that_is_no_gguf_needs_no_child(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(data)
    assert not ModelTrial().passes(path, counts)
    assert not (tmp_path / "count").exists()


def test_a_missing_file_fails(tmp_path: Path) -> None:
    assert not ModelTrial().passes(tmp_path / "none")


def test_a_tried_file_is_tried_again_only_when_it_changed(model: Path, tmp_path: Path) -> None:
    record = tmp_path / "state" / "tried.json"
    assert ModelTrial(record).passes(model, counts)
    trial = ModelTrial(record)
    assert trial.passes(model, counts)
    assert trial.passes(model, counts)
    assert (tmp_path / "count").read_text() == "x"
    model.write_bytes(b"GGUF" + bytes(200))
    assert trial.passes(model, counts)
    assert (tmp_path / "count").read_text() == "xx"


def test_a_failure_is_not_remembered(model: Path, tmp_path: Path) -> None:
    trial = ModelTrial(tmp_path / "tried.json")
    assert not trial.passes(model, refuses)
    assert trial.passes(model, opens)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', "\x00"])
def test_a_damaged_record_means_trying_again(model: Path, tmp_path: Path, text: str) -> None:
    record = tmp_path / "tried.json"
    record.write_text(text)
    assert ModelTrial(record).passes(model, opens)
    assert json.loads(record.read_text())


def test_a_record_that_cannot_be_written_does_no_harm(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert ModelTrial(tmp_path / "file" / "tried.json").passes(model, opens)


def test_real_bad_files_fail_in_the_child_and_the_process_lives(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    # One tensor of two dimensions, the first of them zero: a division by zero in a loader that trusts it.
    zero = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + text("general.architecture") + struct.pack("<I", 8) + text("llama")
    zero += text("token_embd.weight") + struct.pack("<IQQIQ", 2, 0, 64, 0, 0) + bytes(64)
    # Scores of the vocabulary given as bytes where floats are expected.
    scores = (
        b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + text("tokenizer.ggml.model") + struct.pack("<I", 8) + text("llama")
    )
    scores += text("tokenizer.ggml.scores") + struct.pack("<IIQ", 9, 0, 4) + bytes(4)
    for name, data in (("zero", zero), ("scores", scores), ("short", b"GGUF\x03"), ("huge", b"GGUF" + b"\xff" * 60)):
        path = tmp_path / name
        path.write_bytes(data)
        assert not ModelTrial().passes(path), name
