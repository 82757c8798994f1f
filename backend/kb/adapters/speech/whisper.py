"""`FasterWhisperReader`: speech recognised on the CPU by Whisper through CTranslate2, behind a gate for voices."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.adapters.speech.languages import Listener, code_of
from kb.adapters.speech.loops import looping
from kb.adapters.speech.onsets import onset
from kb.adapters.speech.stretches import Stretches
from kb.domain.failures import ModelUnavailable
from kb.ingest.reading_ports import SpeechReader, SpokenSegment, SpokenWord

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

RULES = "r1"
"""Changes with the options and rules below: the same sound would give other text."""
_RATE = 16_000
_FILES = ("model.bin", "config.json", "tokenizer.json")
# Shorter than this, what the gate lets through of noise is no voice.
_LEAST_SPEECH_MS = 250
_NOT_UNDERSTOOD_SECONDS = 5.0
_BREATH_MS, _PHRASE_SECONDS = 300, 12.0
# The mean probability of a phrase's words: below the first it is invented, below the second where the engine itself
# doubts that somebody speaks, and below the third when it is all that a second hearing gave.
_NEVER, _HARDLY, _SURE_ENOUGH = 0.2, 0.35, 0.5
_NO_SPEECH = 0.6
_BEAM = 5
# The engine's own six steps take three times as long over sound that gives no text at the end either.
_TEMPERATURES = (0.0, 0.4, 0.8)
_HINT = "run `python3 dev.py setup`, or put a faster-whisper model beside a model.toml into the models folder"


class FasterWhisperReader:
    """The `SpeechReader` port over a folder with a Whisper model in CTranslate2's form.

    It runs in int8, with as many threads as OMP_NUM_THREADS says, one without it. Nothing is fetched: model, tokenizer
    and the gate's model (Silero, inside faster-whisper) are local files.

    Args:
        folder: holds model.bin, config.json, tokenizer.json.
        name: id and version of the model.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._engine: Any = None

    @property
    def version(self) -> str:
        """Engine, model and rules, without loading anything."""
        return f"faster-whisper:{self._name}:int8:{RULES}"

    def read(self, samples: bytes, offset: float, language: str | None) -> Iterator[SpokenSegment]:
        """Yield what is said in mono float32 samples at 16 kHz, `offset` seconds added to all times.

        Silence and noise give nothing. The same samples give the same text.

        Raises:
            ModelUnavailable: the model is missing or damaged.
        """
        import numpy as np
        from faster_whisper.vad import VadOptions, get_speech_timestamps

        sound = np.frombuffer(samples, np.float32)
        voices = get_speech_timestamps(sound, VadOptions(min_speech_duration_ms=_LEAST_SPEECH_MS)) if len(sound) else []
        if not voices:
            return
        bounds = [(voice["start"], voice["end"]) for voice in voices]
        heard: list[SpokenWord] = []
        for segment in self._heard(sound, bounds, language):
            heard += segment.words
            yield _later(segment, offset)
        for start, end in _gaps(bounds, heard):
            for segment in self._again(sound, start, end):
                yield _later(segment, offset)

    def _again(self, sound: Samples, start: int, end: int) -> Iterator[SpokenSegment]:
        """Hear a stretch (samples) once more, phrase by phrase, and say what is still not understood.

        Where the language changes inside a window, the engine loses the rest of that window.
        """
        from faster_whisper.vad import VadOptions, get_speech_timestamps

        options = VadOptions(
            min_silence_duration_ms=_BREATH_MS, speech_pad_ms=_BREATH_MS // 2, max_speech_duration_s=_PHRASE_SECONDS
        )
        words: list[SpokenWord] = []
        for phrase in get_speech_timestamps(sound[start:end], options):
            bounds = (start + phrase["start"], start + phrase["end"])
            for segment in self._heard(sound, [bounds], None):
                if segment.confidence >= _SURE_ENOUGH:
                    words += segment.words
                    yield segment
        for first, last in _gaps([(start, end)], words):
            yield SpokenSegment((SpokenWord("", first / _RATE, last / _RATE, 0.0),), 0.0, "und")

    def _heard(
        self, sound: Samples, bounds: Sequence[tuple[int, int]], language: str | None
    ) -> Iterator[SpokenSegment]:
        """Yield what is said between bounds (samples), put end to end for the engine; times are those of `sound`."""
        import numpy as np

        stretches = _stretches(bounds)
        packed = np.concatenate([sound[start:end] for start, end in bounds])
        for words, spoken_in in self._recognised(packed, language):
            times = [stretches.original(float(word.start), float(word.end)) for word in words]
            placed = (_word(word, onset(sound, _RATE, *at), at[1]) for word, at in zip(words, times, strict=True))
            yield SpokenSegment(tuple(placed), _mean(words), spoken_in)

    def _recognised(self, sound: Samples, language: str | None) -> Iterator[tuple[list[Any], str]]:
        """Yield the words of each phrase, with the language it is in."""
        import ctranslate2  # type: ignore[import-untyped]

        engine = self._loaded()
        listener: Listener = engine.model
        listener.begin(language)
        # Where the first attempt fails the engine draws lots; they shall fall the same way each time.
        ctranslate2.set_random_seed(1)
        segments, _ = engine.transcribe(
            sound,
            # With `multilingual` the language is guessed anew for every 30 seconds; this one is only not None.
            language="en",
            multilingual=bool(listener.is_multilingual),
            beam_size=_BEAM,
            temperature=_TEMPERATURES,
            word_timestamps=True,
            # What was said before, given as a prompt, makes the engine repeat itself for minutes.
            condition_on_previous_text=False,
        )
        # Asked at once: with the first phrase of the next window the listener has moved on.
        phrases = ((segment, code_of(listener.language or "en")) for segment in segments)
        for _, window in groupby(phrases, key=lambda phrase: phrase[0].seek):
            yield from _kept(list(window))

    def _loaded(self) -> Any:  # noqa: ANN401 - faster_whisper ships no types
        if self._engine is None:
            missing = [name for name in _FILES if not (self._folder / name).is_file()]
            if missing:  # without its tokenizer the library would ask the network for one
                raise ModelUnavailable(f"the speech model {self._name} lacks {missing[0]}", hint=_HINT)
            from faster_whisper import WhisperModel

            try:
                engine = WhisperModel(
                    str(self._folder),
                    device="cpu",
                    compute_type="int8",
                    cpu_threads=_threads(),
                    local_files_only=True,
                )
            except (RuntimeError, ValueError, OSError) as error:
                raise ModelUnavailable(f"the speech model {self._name} is damaged", hint=_HINT) from error
            engine.model = Listener(engine.model, engine.hf_tokenizer)
            self._engine = engine
        return self._engine


def find_speech(model_places: Sequence[Path]) -> SpeechReader | None:
    """Return a reader with the model of the first place that has one, None where none has; nothing is loaded."""
    for place in model_places:
        for manifest in sorted(place.glob("*/model.toml")):
            try:
                told = tomllib.loads(manifest.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if told.get("kind") == "speech":
                return FasterWhisperReader(manifest.parent, f"{told.get('id')}@{told.get('version')}")
    return None


def _kept(window: Sequence[tuple[Any, str]]) -> Iterator[tuple[list[Any], str]]:
    """Yield the phrases of one window of 30 seconds without loops and without what is hardly speech."""
    loops = iter(looping([word.word for segment, _ in window for word in segment.words or ()]))
    for segment, language in window:
        kept = [word for word in segment.words or () if not next(loops)]
        if kept and _mean(kept) >= (_HARDLY if segment.no_speech_prob > _NO_SPEECH else _NEVER):
            yield kept, language


def _stretches(bounds: Sequence[tuple[int, int]]) -> Stretches:
    return Stretches((start / _RATE, end / _RATE) for start, end in bounds)


def _gaps(bounds: Sequence[tuple[int, int]], words: Sequence[SpokenWord]) -> list[tuple[int, int]]:
    """Return where, between bounds (samples), somebody speaks and no words came of it."""
    times = sorted((word.start, word.end) for word in words)
    found = _stretches(bounds).without(times, _NOT_UNDERSTOOD_SECONDS)
    return [(round(start * _RATE), round(end * _RATE)) for start, end in found]


def _later(segment: SpokenSegment, seconds: float) -> SpokenSegment:
    words = (
        SpokenWord(w.text, round(w.start + seconds, 3), round(w.end + seconds, 3), w.probability) for w in segment.words
    )
    return SpokenSegment(tuple(words), segment.confidence, segment.language)


def _word(word: Any, start: float, end: float) -> SpokenWord:  # noqa: ANN401 - faster_whisper ships no types
    return SpokenWord(str(word.word), start, end, round(float(word.probability), 4))


def _mean(words: Sequence[Any]) -> float:
    return float(sum(word.probability for word in words)) / len(words)


def _threads() -> int:
    told = os.environ.get("OMP_NUM_THREADS", "")
    return int(told) if told.isdecimal() and int(told) > 0 else 1
