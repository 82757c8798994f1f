"""The log: ids yes, words and places no."""

from __future__ import annotations

import io
import logging
import logging.handlers
import os
import stat
from pathlib import Path

import pytest

from kb.app.logs import LogFormatter, logging_to
from kb.domain.errors import NotFound

log = logging.getLogger("kb.test")


def lines(folder: Path) -> str:
    """What stands in the log."""
    return (folder / "kb.log").read_text(encoding="utf-8")


def test_lines_carry_the_ids_that_are_known(tmp_path: Path) -> None:
    with logging_to(tmp_path / "logs", "kb test"):
        log.info("answered", extra={"trace_id": "ans_1", "doc_id": "d1"})
    first, second = lines(tmp_path / "logs").splitlines()
    assert first.endswith("INFO kb.app.logs kb test has the library")
    assert second.endswith("INFO kb.test answered trace_id=ans_1 doc_id=d1")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX modes")
def test_only_the_owner_may_read_the_log(tmp_path: Path) -> None:
    with logging_to(tmp_path / "logs", "kb test"):
        pass
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "logs" / "kb.log").stat().st_mode) == 0o600


def test_a_traceback_names_places_in_the_program_but_no_values(tmp_path: Path) -> None:
    def fail() -> None:
        raise ValueError("the words of a note")

    with pytest.raises(ValueError, match="words"), logging_to(tmp_path / "logs", "kb test"):
        fail()
    text = lines(tmp_path / "logs")
    assert "kb test ended with an error nobody foresaw" in text
    assert "ValueError\n" in text
    assert "test_logs.py:" in text
    assert "words of a note" not in text
    assert str(tmp_path) not in text
    assert str(Path(__file__).parent) not in text


def test_an_error_that_the_person_is_told_of_is_not_logged_as_a_bug(tmp_path: Path) -> None:
    with pytest.raises(NotFound), logging_to(tmp_path / "logs", "kb test"):
        raise NotFound("there is no such thing")
    assert "nobody foresaw" not in lines(tmp_path / "logs")


def test_the_causes_of_our_own_errors_are_followed() -> None:
    error = NotFound("the note is gone")
    error.__cause__ = OSError(5, "Input/output error", "secret/path")
    text = LogFormatter().formatException((NotFound, error, None))
    assert text == "NotFound: the note is gone\nOSError"


def test_a_folder_that_cannot_be_made_costs_only_the_log(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file stands in the way", encoding="utf-8")
    with logging_to(tmp_path / "logs", "kb test"):
        log.info("still at work")


def test_a_disk_that_is_full_costs_only_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Full(io.StringIO):
        def write(self, _text: str) -> int:
            raise OSError(28, "No space left on device")

    with logging_to(tmp_path / "logs", "kb test"):
        (handler,) = logging.getLogger("kb").handlers
        assert isinstance(handler, logging.StreamHandler)
        file = handler.setStream(Full())
        log.info("not to be written")
        handler.setStream(file)
        log.info("room again")
    assert capsys.readouterr().err == ""
    assert "room again" in lines(tmp_path / "logs")


def test_afterwards_nothing_is_written_any_more(tmp_path: Path) -> None:
    with logging_to(tmp_path / "logs", "kb test"):
        pass
    log.warning("too late")
    assert "too late" not in lines(tmp_path / "logs")


def test_rolled_files_are_kept_for_two_weeks(tmp_path: Path) -> None:
    with logging_to(tmp_path / "logs", "kb test"):
        (handler,) = logging.getLogger("kb").handlers
        assert isinstance(handler, logging.handlers.TimedRotatingFileHandler)
        assert (handler.when, handler.backupCount) == ("MIDNIGHT", 14)
        handler.doRollover()
        log.info("a new day")
    assert len(list((tmp_path / "logs").iterdir())) == 2
