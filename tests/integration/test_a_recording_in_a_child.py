"""A recording read the way ingest reads it: in a child process, without network, within its memory limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from blake3 import blake3

from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
from kb.adapters.workers.process import ChildSetup
from kb.adapters.workers.reader import COMMAND, ChildReader
from kb.app.readers import format_parsers
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.files import FileBytes, FileIdentity
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from tests.homes import MODELS
from tests.recordings import TRANSCRIPTS, needs_recordings, recording

needs_model = pytest.mark.skipif(
    not (MODELS / "whisper-base").is_dir(), reason="the speech model is made by `dev.py setup`"
)


def read(data: bytes, folder: Path, places: tuple[Path, ...]) -> ParsedDocument:
    parsers = format_parsers(CharsetNormalizerDecoder(), places)
    versions = {media: parser.version for parser in parsers for media in parser.media_types}
    reader = ChildReader(versions, ChildSetup(COMMAND, ReadingLimits(), places, folder), width=1)
    try:
        content = FileBytes(data, blake3(data).hexdigest(), FileIdentity(len(data), 1, "1"))
        return reader.begin(content, WorkspacePath("rec/talk.wav"), MediaType.AUDIO).result()
    finally:
        reader.close()


@needs_model
@needs_recordings
@pytest.mark.slow
def test_a_recording_is_heard_in_a_child_and_nothing_unfinished_stays(tmp_path: Path) -> None:
    document = read(recording("jfk.wav").read_bytes(), tmp_path, (MODELS,))
    assert [block.text.casefold() for block in document.blocks] == [TRANSCRIPTS["jfk.wav"][1].casefold()]
    assert [(unit.start, unit.end, unit.state) for unit in document.coverage] == [(1, 11, "text")]
    assert list(tmp_path.rglob("*.json")) == []


@needs_recordings
def test_without_a_model_a_child_says_what_a_recording_waits_for(tmp_path: Path) -> None:
    document = read(recording("jfk.wav").read_bytes(), tmp_path, ())
    assert document.waits_for == "speech_model"
    assert [(unit.start, unit.end, unit.state) for unit in document.coverage] == [(1, 11, "waiting")]


def test_a_broken_recording_costs_itself_only(tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as caught:
        read(b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(24), tmp_path, ())
    assert caught.value.reason == "damaged"
