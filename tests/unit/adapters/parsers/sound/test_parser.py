"""Recordings as documents: text with times, every second accounted for, work taken up again."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.parsers.sound.parser import RecordingParser
from kb.domain.blocks import BlockKind
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.metadata import ProvenanceKind
from kb.domain.paths import WorkspacePath
from kb.domain.spans import TimeSpan
from kb.domain.transcripts import TranscriptSegment
from kb.ingest.reading_ports import SourceFile, SpokenSegment
from tests.fakes.sound import FakeDecoder, ScriptedSpeech, not_understood, phrase

LIMITS = ReadingLimits()


def source(media: MediaType = MediaType.AUDIO, scratch: Path | None = None, checksum: str = "c1") -> SourceFile:
    return SourceFile(WorkspacePath("rec/talk.mp3"), media, b"", checksum, scratch=str(scratch) if scratch else None)


def read(decoder: FakeDecoder, *says: SpokenSegment, media: MediaType = MediaType.AUDIO) -> ParsedDocument:
    return RecordingParser(decoder, ScriptedSpeech(says)).read(source(media), LIMITS, lambda *_: None)


def states(document: ParsedDocument) -> list[tuple[int, int, str, str | None]]:
    return [(unit.start, unit.end, unit.state, unit.reason) for unit in document.coverage]


def test_what_is_said_becomes_a_paragraph_with_a_time_for_every_word() -> None:
    document = read(FakeDecoder(4.0), phrase("Hello there, world.", 1.0, 2.5))
    (block,) = document.blocks
    assert (block.kind, block.text, block.span) == (BlockKind.PARAGRAPH, "Hello there, world.", TimeSpan(1000, 2500))
    assert [(block.text[s.start : s.end], s.span) for s in block.segments] == [
        ("Hello", TimeSpan(1000, 1500)),
        ("there,", TimeSpan(1500, 2000)),
        ("world.", TimeSpan(2000, 2500)),
    ]
    assert document.transcript is not None
    assert document.transcript.segments == (TranscriptSegment(1000, 2500, "Hello there, world.", 0.9),)
    assert (document.transcript.language, document.transcript.duration_ms) == ("en", 4000)
    assert document.steps == ((ProvenanceKind.TRANSCRIBED, "scripted-1"),)
    assert document.front_matter == {"lang": "en"}
    assert document.warnings == ()


def test_every_second_is_accounted_for() -> None:
    document = read(
        FakeDecoder(30.4),
        phrase("clear words", 2.0, 4.0, confidence=0.9),
        phrase("mumbled words", 10.0, 12.0, confidence=0.3),
        not_understood(20.0, 26.5),
    )
    assert document.coverage == (
        CoverageUnit("second", 1, 2, "blank"),
        CoverageUnit("second", 3, 4, "text", 0.9),
        CoverageUnit("second", 5, 10, "blank"),
        CoverageUnit("second", 11, 12, "text", 0.3, "low_confidence"),
        CoverageUnit("second", 13, 20, "blank"),
        CoverageUnit("second", 21, 27, "failed", reason="not_understood"),
        CoverageUnit("second", 28, 30, "blank"),
    )


@given(
    st.floats(0.2, 400.0),
    st.lists(st.tuples(st.floats(0, 500), st.floats(0, 30), st.floats(0, 1)), max_size=12),
)
def test_the_ledger_sums_to_the_length_and_times_stay_inside(
    seconds: float, said: list[tuple[float, float, float]]
) -> None:
    says = [phrase("a few words here", at, at + length, confidence=sure) for at, length, sure in said]
    document = read(FakeDecoder(seconds), *says)
    units = document.coverage
    assert [unit.start for unit in units] == [1, *(unit.end + 1 for unit in units[:-1])]
    assert units[-1].end == max(int(round(seconds * 16_000) / 16_000 + 0.5), 1)
    limit = round(seconds * 1000) + 1
    last = 0
    for block in document.blocks:
        for segment in block.segments:
            assert isinstance(segment.span, TimeSpan)
            assert last <= segment.span.start_ms <= segment.span.end_ms <= limit
            last = segment.span.start_ms


def test_silence_is_a_document_without_text_and_all_blank() -> None:
    document = read(FakeDecoder(600.0))
    assert (document.blocks, states(document)) == ((), [(1, 600, "blank", None)])
    assert document.transcript is not None
    assert (document.transcript.segments, document.transcript.language) == ((), "und")


def test_without_a_model_a_recording_waits_and_its_length_is_known() -> None:
    parser = RecordingParser(FakeDecoder(61.0, tags={"title": "Talk"}), None)
    document = parser.read(source(), LIMITS, lambda *_: None)
    assert (document.blocks, document.waits_for) == ((), "speech_model")
    assert states(document) == [(1, 61, "waiting", "speech_model")]
    assert document.front_matter == {"title": "Talk"}
    assert document.transcript is None
    assert parser.version != RecordingParser(FakeDecoder(), ScriptedSpeech()).version


def test_a_video_without_sound_is_skipped_second_by_second() -> None:
    document = read(FakeDecoder(12.0, has_sound=False), media=MediaType.VIDEO)
    assert (document.blocks, states(document)) == ((), [(1, 12, "skipped", "no_sound")])


def test_a_sound_file_without_sound_is_damaged() -> None:
    with pytest.raises(Unreadable) as caught:
        read(FakeDecoder(12.0, has_sound=False))
    assert caught.value.reason == "damaged"


def test_of_a_recording_cut_short_the_promised_rest_is_damaged_and_the_ledger_sums_to_the_whole() -> None:
    document = read(FakeDecoder(20.0, claimed=60.0), phrase("cut off", 18.0, 19.5))
    assert states(document) == [(1, 18, "blank", None), (19, 20, "text", None), (21, 60, "failed", "damaged")]
    assert document.transcript is not None
    assert document.transcript.duration_ms == 20_000
    assert [warning.kind for warning in document.warnings] == ["extract_failed"]
    assert "60 s" in document.warnings[0].note
    assert "20 s" in document.warnings[0].note
    exact = read(FakeDecoder(20.0, claimed=20.9))
    assert (states(exact), exact.warnings) == ([(1, 20, "blank", None)], ())
    assert states(read(FakeDecoder(20.0, claimed=22.0)))[-1] == (21, 22, "failed", "damaged")


def test_a_film_that_goes_on_after_its_sound_is_not_damaged() -> None:
    document = read(FakeDecoder(20.0, claimed=60.0, track=20.2), media=MediaType.VIDEO)
    assert states(document) == [(1, 20, "blank", None), (21, 60, "skipped", "no_sound")]
    assert document.warnings == ()


def test_tags_become_front_matter() -> None:
    tags = {
        "title": "  An \x00Evening ",
        "artist": "Ada",
        "album": "Talks",
        "date": "2019",
        "encoder": "x",
        "comment": "no",
    }
    document = read(FakeDecoder(tags=tags))
    assert document.front_matter == {
        "title": "An Evening",
        "author": "Ada",
        "album": "Talks",
        "created": "2019-01-01",
    }


@pytest.mark.parametrize(
    ("told", "created"),
    [
        ({"creation_time": "2024-03-01T10:00:00.000000Z"}, "2024-03-01T10:00:00.000000Z"),
        ({"creation_time": "1904-01-01T00:00:00.000000Z"}, None),
        ({"date": "0000"}, None),
        ({"date": "", "year": "1987"}, "1987-01-01"),
    ],
)
def test_dates_that_nobody_set_are_no_dates(told: dict[str, str], created: str | None) -> None:
    assert read(FakeDecoder(tags=told)).front_matter.get("created") == created


def test_chapters_are_headings_above_what_is_said_in_them() -> None:
    decoder = FakeDecoder(60.0, chapters=((0.0, "Opening"), (20.0, "Middle"), (40.0, "  ")))
    document = read(decoder, phrase("first words", 1, 3), phrase("second words", 21, 23), phrase("third", 41, 42))
    assert [(block.kind.value, block.text, block.heading_path) for block in document.blocks] == [
        ("heading", "Opening", ("Opening",)),
        ("paragraph", "first words", ("Opening",)),
        ("heading", "Middle", ("Middle",)),
        ("paragraph", "second words", ("Middle",)),
        ("paragraph", "third", ("Middle",)),
    ]
    assert document.blocks[2].span == TimeSpan(20_000, 60_000)


def test_paragraphs_end_at_sentences_and_pauses_and_stay_short() -> None:
    says = [phrase(f"Sentence number {n} goes on for a while.", 3.0 * n, 3.0 * n + 2.9) for n in range(60)]
    document = read(FakeDecoder(200.0), *says)
    assert all(block.text.endswith(".") for block in document.blocks)
    assert all(390 <= len(block.text) <= 850 for block in document.blocks[:-1])
    apart = read(FakeDecoder(60.0), phrase("One thing", 1, 2), phrase("another thing", 30, 31))
    assert [block.text for block in apart.blocks] == ["One thing", "another thing"]


def test_speech_without_any_pause_is_cut_between_words() -> None:
    document = read(FakeDecoder(900.0), phrase("word " * 2000, 0, 900))
    assert all(len(block.text) <= 1210 for block in document.blocks)
    assert sum(block.text.count("word") for block in document.blocks) == 2000


def test_chinese_is_written_without_spaces_and_its_script_is_left_to_the_text() -> None:
    document = read(FakeDecoder(5.0), phrase("会议明天开始。", 1, 3, language="zh", joined=True))
    assert document.blocks[0].text == "会议明天开始。"
    assert len(document.blocks[0].segments) == 7
    assert "lang" not in document.front_matter
    assert document.transcript is not None
    assert document.transcript.language == "zh"


def test_two_languages_are_two_paragraphs() -> None:
    document = read(FakeDecoder(9.0), phrase("Good morning.", 1, 2), phrase("안녕하세요 여러분", 2.2, 4, language="ko"))
    assert [block.text for block in document.blocks] == ["Good morning.", "안녕하세요 여러분"]


def test_a_doubtful_phrase_that_never_ends_stays_three_times() -> None:
    noise = [phrase("Thank you.", 10.0 * n, 10.0 * n + 1, confidence=0.4) for n in range(20)]
    document = read(FakeDecoder(200.0), *noise)
    assert document.transcript is not None
    assert len(document.transcript.segments) == 3
    sung = [phrase("Row your boat.", 10.0 * n, 10.0 * n + 2, confidence=0.9) for n in range(5)]
    kept = read(FakeDecoder(60.0), *sung).transcript
    assert kept is not None
    assert len(kept.segments) == 5


def test_times_beyond_the_end_or_out_of_order_are_put_right() -> None:
    document = read(FakeDecoder(10.0), phrase("late words", 9.0, 14.0), phrase("early words", 1.0, 3.0))
    assert [block.span for block in document.blocks] == [TimeSpan(1000, 3000), TimeSpan(9000, 10_000)]


def test_progress_is_told_in_seconds_and_never_runs_past_the_whole() -> None:
    told: list[tuple[int, int, str]] = []
    parser = RecordingParser(FakeDecoder(100.0, piece=40.0, claimed=90.0), ScriptedSpeech([phrase("half way", 50, 52)]))
    parser.read(source(), LIMITS, lambda *step: told.append(step))
    assert told == [
        (0, 90, "second"),
        (40, 90, "second"),
        (40, 90, "second"),
        (52, 90, "second"),
        (80, 90, "second"),
        (80, 90, "second"),
        (100, 100, "second"),
    ]


def test_the_language_of_earlier_pieces_is_passed_on() -> None:
    speech = ScriptedSpeech([phrase("안녕하세요 여러분", 1, 3, language="ko")])
    RecordingParser(FakeDecoder(30.0, piece=10.0), speech).read(source(), LIMITS, lambda *_: None)
    assert speech.languages == [None, "ko", "ko"]


SAID = (phrase("first piece.", 1, 3), phrase("second piece.", 11, 13), phrase("third piece.", 21, 23))


def test_work_goes_on_at_the_last_finished_piece_and_gives_the_same(tmp_path: Path) -> None:
    scratch = tmp_path / "unfinished"
    decoder = FakeDecoder(30.0, piece=10.0)
    with pytest.raises(MemoryError):
        RecordingParser(decoder, ScriptedSpeech(SAID, dies_at=20.0)).read(
            source(scratch=scratch), LIMITS, lambda *_: None
        )
    again = ScriptedSpeech(SAID)
    document = RecordingParser(decoder, again).read(source(scratch=scratch), LIMITS, lambda *_: None)
    assert again.heard == [20.0]
    assert document == RecordingParser(decoder, ScriptedSpeech(SAID)).read(source(), LIMITS, lambda *_: None)
    assert sorted(path.name for path in scratch.iterdir()) == [f"piece-000{n:07}.json" for n in (0, 10_000, 20_000)]
    assert {stat.S_IMODE(path.stat().st_mode) for path in scratch.iterdir()} == {0o600}
    assert stat.S_IMODE(scratch.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{}",
        b"[1, 2]",
        b'{"key": 1',
        b"\xff\xfe",
        {"segments": [[0.5, "en", [["x", 1]]]]},
        {"segments": [["a", "en", []]]},
        {"segments": [[0.5, "en", [["x", 1, 2, "no"]]]]},
        {"segments": 7},
        {"key": "another content"},
        {"end": 9.0},
    ],
)
def test_a_note_that_is_damaged_or_of_other_content_is_heard_again(
    tmp_path: Path, damage: bytes | dict[str, object]
) -> None:
    decoder = FakeDecoder(10.0)
    whole = RecordingParser(decoder, ScriptedSpeech(SAID)).read(source(scratch=tmp_path), LIMITS, lambda *_: None)
    (note,) = tmp_path.iterdir()
    if isinstance(damage, dict):
        damage = json.dumps({**json.loads(note.read_text()), **damage}).encode()
    note.write_bytes(damage)
    again = ScriptedSpeech(SAID)
    assert RecordingParser(decoder, again).read(source(scratch=tmp_path), LIMITS, lambda *_: None) == whole
    assert again.heard == [0.0]


def test_another_content_or_engine_does_not_use_the_notes(tmp_path: Path) -> None:
    decoder = FakeDecoder(10.0)
    for checksum, version in (("c1", "scripted-1"), ("c2", "scripted-1"), ("c2", "scripted-2")):
        speech = ScriptedSpeech(SAID, version)
        RecordingParser(decoder, speech).read(source(scratch=tmp_path, checksum=checksum), LIMITS, lambda *_: None)
        assert speech.heard == [0.0]


def test_a_scratch_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    document = RecordingParser(FakeDecoder(10.0), ScriptedSpeech(SAID)).read(
        source(scratch=blocked), LIMITS, lambda *_: None
    )
    assert document.blocks[0].text == "first piece."
    assert blocked.read_bytes() == b""


def test_a_file_that_turns_out_damaged_on_the_way_fails_with_its_reason() -> None:
    broken = FakeDecoder(10.0, fails=Unreadable("torn", reason="damaged"))
    with pytest.raises(Unreadable) as caught:
        read(broken, phrase("lost words", 1, 2))
    assert caught.value.reason == "damaged"
