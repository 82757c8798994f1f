"""Frames, the clock, folders for unfinished work, and what is said of a file that failed."""

from __future__ import annotations

import io
import os
import struct
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.workers.endings import ending, too_much_memory, too_slow
from kb.adapters.workers.frames import Frame, read_frame, write_frame
from kb.adapters.workers.patience import Patience
from kb.adapters.workers.scratch import Scratch
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits

LIMITS = ReadingLimits()


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none()), st.lists(st.binary()))
def test_a_frame_comes_back_with_its_tail_joined(facts: dict[str, str | int | None], tail: list[bytes]) -> None:
    stream = io.BytesIO()
    write_frame(stream, facts, tail)
    stream.seek(0)
    assert read_frame(stream, 1 << 20) == Frame(facts, b"".join(tail))
    assert read_frame(stream, 1 << 20) is None


@given(st.binary(max_size=60))
def test_what_is_no_frame_is_none(data: bytes) -> None:
    frame = read_frame(io.BytesIO(data), 100)
    assert frame is None or isinstance(frame.facts, dict)


@pytest.mark.parametrize("head", [b"[]", b"{", b"[" * 100_000, b"\xff"])
def test_a_head_that_is_no_object_is_none(head: bytes) -> None:
    assert read_frame(io.BytesIO(struct.pack("<IQ", len(head), 0) + head), 100) is None


def test_a_tail_longer_than_allowed_is_not_even_read() -> None:
    stream = io.BytesIO(struct.pack("<IQ", 2, 101) + b"{}" + b"x" * 101)
    assert read_frame(stream, 100) is None
    assert stream.tell() == 12


def test_patience_ends_after_the_seconds_without_a_sign_of_life() -> None:
    patience = Patience(3, 100, now=0)
    assert [patience.verdict(now) for now in (1, 2, 3)] == ["", "", ""]
    patience.encouraged()
    assert [patience.verdict(now) for now in (4, 5, 6, 6.5)] == ["", "", "", "quiet"]


def test_patience_ends_after_all_seconds_whatever_the_signs_of_life() -> None:
    patience = Patience(3, 5, now=0)
    verdicts = []
    for now in range(1, 7):
        patience.encouraged()
        verdicts.append(patience.verdict(now))
    assert verdicts == ["", "", "", "", "", "total"]


def test_the_hours_in_which_the_computer_slept_are_nobodys_fault() -> None:
    patience = Patience(3, 5, now=0)
    assert [patience.verdict(1), patience.verdict(30_000), patience.verdict(29_000)] == ["", "", ""]


def test_a_content_has_its_folder_until_its_work_is_finished(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path / "scratch")
    folder = scratch.take("ab12")
    assert folder == str(tmp_path / "scratch" / "ab12")
    Path(folder, "half").write_text("done", encoding="utf-8")
    scratch.give_back("ab12", finished=False)
    again = scratch.take("ab12")
    assert again == folder
    assert Path(again, "half").read_text(encoding="utf-8") == "done"
    scratch.give_back("ab12", finished=True)
    assert not Path(folder).exists()


def test_a_folder_in_which_nothing_was_kept_does_not_stay(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    scratch.take("ab12")
    scratch.give_back("ab12", finished=False)
    assert list(tmp_path.iterdir()) == []


def test_the_same_content_twice_at_once_shares_nothing(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    assert scratch.take("ab12") is not None
    assert scratch.take("ab12") is None
    scratch.give_back("ab12", finished=True)
    assert scratch.take("ab12") is not None


@pytest.mark.parametrize("checksum", ["", "../ab", "a/b", ".", "a b"])
def test_only_a_checksum_names_a_folder(tmp_path: Path, checksum: str) -> None:
    assert Scratch(tmp_path).take(checksum) is None
    assert list(tmp_path.iterdir()) == []


def test_without_a_place_there_is_no_folder() -> None:
    scratch = Scratch(None)
    assert scratch.take("ab12") is None
    scratch.give_back("ab12", finished=True)
    scratch.forget_old()


def test_what_nobody_came_back_for_is_forgotten(tmp_path: Path) -> None:
    for name, days in (("old", 40), ("new", 1)):
        folder = tmp_path / name
        folder.mkdir()
        then = time.time() - days * 86_400
        os.utime(folder, (then, then))
    Scratch(tmp_path).forget_old()
    assert [folder.name for folder in tmp_path.iterdir()] == ["new"]


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (Frame({"end": "document"}, b"nonsense"), "crashed"),
        (Frame({"end": "unreadable", "reason": "locked", "message": "m", "hint": "h"}), "locked"),
        (Frame({"end": "unreadable"}), "unreadable"),
        (Frame({"end": "memory"}), "too_much_memory"),
        (Frame({"end": "broke", "error": "ValueError"}), "crashed"),
        (Frame({"end": "broke", "error": "words of the file"}), "crashed"),
        (Frame({"end": ["odd"]}), "crashed"),
        (Frame({}), "crashed"),
    ],
)
def test_each_last_word_of_a_child_is_a_reason(frame: Frame, reason: str) -> None:
    end = ending(frame, LIMITS)
    assert isinstance(end, Unreadable)
    assert end.reason == reason
    assert "words of the file" not in end.message


def test_an_empty_document_is_a_document() -> None:
    from kb.adapters.workers.codec import encode_document

    data = b"".join(encode_document(ParsedDocument(())))
    assert ending(Frame({"end": "document"}, data), LIMITS) == ParsedDocument(())


def test_a_limit_is_named_with_the_setting_that_raises_it() -> None:
    assert "120 seconds" in too_slow("quiet", LIMITS).message
    assert "limits.seconds" in too_slow("quiet", LIMITS).hint
    assert "4 hours" in too_slow("total", LIMITS).message
    assert "limits.total_seconds" in too_slow("total", LIMITS).hint
    assert "1,536 MB" in too_much_memory(LIMITS).message
    assert "limits.memory_mb" in too_much_memory(LIMITS).hint
