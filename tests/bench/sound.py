"""Speech: words against texts, the second of a quote, silence and noise; cost beside faster-whisper alone, memory."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import wave
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kb.adapters.parsers.sound.parser import RecordingParser
from kb.adapters.speech.decoding import RATE, AvSoundDecoder
from kb.adapters.speech.whisper import find_speech
from kb.domain.documents import ParsedDocument
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.domain.spans import TimeSpan
from kb.ingest.reading_ports import SourceFile
from tests.bench.measure import Row, alternate
from tests.recordings import TRANSCRIPTS, recording

_ROOT = Path(__file__).resolve().parents[2]
_MODELS = Path(sys.prefix) / "share" / "kb" / "models"
_SECTION = "sound"
_QUOTE, _SECOND = "ask what you can do for your country", 8.15
"""Where the quote begins in `jfk.wav`: by the wave form, the pause before "ask" ends at 8.15 s."""
_TEN_MINUTES = 600


def recognition(scratch: Path, rounds: int) -> list[Row]:
    """Measure all of it; nothing where the recordings or the model are not here."""
    if not TRANSCRIPTS or not (_MODELS / "whisper-base").is_dir():
        return [Row(_SECTION, "sound: not measured, recordings or model are not here", 0.0, "")]
    rows = [_errors(name, *TRANSCRIPTS[name]) for name in sorted(TRANSCRIPTS)]
    rows.append(_quote())
    rows += [_segments(name, make(), scratch) for name, make in _noises().items()]
    rows.append(_languages())
    rows.append(_ratio(scratch, rounds))
    rows.append(_memory(scratch))
    return rows


@cache
def _parser() -> RecordingParser:
    return RecordingParser(AvSoundDecoder(), find_speech([_MODELS]))


def _read(path: Path) -> ParsedDocument:
    source = SourceFile(WorkspacePath(path.name), MediaType.AUDIO, path.read_bytes())
    return _parser().read(source, ReadingLimits(), lambda *_: None)


def _errors(name: str, language: str, text: str) -> Row:
    """Word error rate without case and punctuation: edits ÷ words of the text."""
    said = " ".join(block.text for block in _read(recording(name)).blocks)
    told, heard = _words(text), _words(said)
    what = f"word error rate of {name} ({language}, {len(told)} words)"
    return Row(_SECTION, what, 100 * _edits(told, heard) / len(told), "%", "at most", 5.0)


def _quote() -> Row:
    (block, *_) = (block for block in _read(recording("jfk.wav")).blocks if _QUOTE in block.text.lower())
    at = block.text.lower().index(_QUOTE)
    segment = next(segment for segment in block.segments if segment.end > at)
    assert isinstance(segment.span, TimeSpan)
    off = abs(segment.span.start_ms / 1000 - _SECOND)
    return Row(_SECTION, f"jfk.wav: distance of {_QUOTE!r} from where it is said", off, "s", "at most", 0.7)


def _languages() -> Row:
    """Half of `fw-multilingual.mp3` is English, half German; no text comes with it, so seconds are counted."""
    document = _read(recording("fw-multilingual.mp3"))
    heard = sum(unit.end - unit.start + 1 for unit in document.coverage if unit.state == "text")
    whole = document.coverage[-1].end
    return Row(
        _SECTION,
        "fw-multilingual.mp3 (English, then German): seconds with text",
        100 * heard / whole,
        "%",
        "at least",
        90,
    )


def _noises() -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(20_240_601)
    count = _TEN_MINUTES * RATE

    def pink() -> Any:
        spectrum = np.fft.rfft(rng.normal(size=count))
        sound = np.fft.irfft(spectrum / np.sqrt(np.maximum(np.arange(len(spectrum)), 1)), count)
        return sound / np.abs(sound).max()

    return {
        "silence": lambda: np.zeros(count),
        "white noise": lambda: rng.normal(0, 0.1, count),
        "pink noise": pink,
        "a half-hour loop of two seconds of noise": lambda: np.tile(rng.normal(0, 0.2, 2 * RATE), 900),
    }


def _segments(name: str, sound: Any, scratch: Path) -> Row:
    document = _read(_wav(scratch / "noise.wav", sound))
    assert document.transcript is not None
    found = len(document.transcript.segments)
    minutes = document.transcript.duration_ms / 60_000
    return Row(_SECTION, f"segments in {minutes:.0f} minutes: {name}", found, "", "at most", 0)


def _ratio(scratch: Path, rounds: int) -> Row:
    """Time the parser against the library, both decoding the file, gating voices, timing words; one thread each."""
    from faster_whisper import WhisperModel

    path = _wav(scratch / "talk.wav", _talk(400))
    bare = WhisperModel(str(_MODELS / "whisper-base"), device="cpu", compute_type="int8", cpu_threads=1)

    def alone() -> int:
        segments, _ = bare.transcribe(
            str(path), vad_filter=True, word_timestamps=True, condition_on_previous_text=False, beam_size=5
        )
        return len(list(segments))

    pair = alternate(lambda: _read(path), alone, rounds=min(rounds, 3))
    return pair.row(_SECTION, "a talk of 400 s with pauses, as a document ÷ faster-whisper alone, CPU", 1.1)


def _memory(scratch: Path) -> Row:
    """Read a recording of ten minutes in a process of its own."""
    path = _wav(scratch / "long.wav", _talk(_TEN_MINUTES))
    command = [sys.executable, "-m", "tests.bench.sound", str(path)]
    done = subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True)
    peak = float(json.loads(done.stdout)["peak_mb"])
    return Row(_SECTION, "peak memory of a child that hears ten minutes", peak, "MB", "at most", 1024)


def _talk(seconds: int) -> Any:
    """Return both English recordings in turn, with pauses of different lengths, until `seconds` are full."""
    parts: list[Any] = []
    held = 0
    while held < seconds * RATE:
        for number, name in enumerate(sorted(TRANSCRIPTS)):
            with wave.open(str(recording(name))) as file:
                data = np.frombuffer(file.readframes(file.getnframes()), np.int16)
            parts += [data / 32768, np.zeros((1 + (len(parts) + number) % 4) * RATE)]
            held += sum(map(len, parts[-2:]))
    return np.concatenate(parts)[: seconds * RATE]


def _wav(path: Path, sound: Any) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes((np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes())
    return path


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.casefold())


def _edits(told: Sequence[str], heard: Sequence[str]) -> int:
    """Return the Levenshtein distance in words."""
    row = list(range(len(heard) + 1))
    for number, word in enumerate(told, 1):
        previous, row = row, [number]
        for at, other in enumerate(heard, 1):
            row.append(min(previous[at] + 1, row[-1] + 1, previous[at - 1] + (word != other)))
    return row[-1]


if __name__ == "__main__":
    _read(Path(sys.argv[1]))
    # Not ru_maxrss where it can be helped: that begins with the size of the parent.
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    peaks = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
    print(json.dumps({"peak_mb": (peaks or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss])[0] / 1024}))
