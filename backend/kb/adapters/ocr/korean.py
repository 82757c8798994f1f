"""Tesseract with its Korean model, one line at a time: RapidOCR's models know no Hangul."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kb.adapters.ocr.lines import ReadLine
from kb.domain.failures import ModelUnavailable

MODEL = "tesseract-korean"
"""The folder of the model, as `assets/models.toml` names it."""

_FILE = "kor.traineddata"
_HEIGHT = 36  # of a line in pixels: errors of larger print fall to those of this
_MARGIN = 8
_HANGUL = (("\uac00", "\ud7a3"), ("\u1100", "\u11ff"), ("\u3131", "\u318e"))


def find_data(folder: Path) -> Path | None:
    """Return the model's file in its folder; loads nothing."""
    file = folder / _FILE
    return file if file.is_file() else None


def engine_version(data: Path) -> str:
    """Return the engine and the size of its model, which tells its kinds apart, without loading either."""
    try:
        return f"tesserocr-{version('tesserocr')}-kor-{data.stat().st_size}"
    except (PackageNotFoundError, OSError):
        return "tesserocr-kor"


def hangul_share(text: str) -> float:
    """Return how many (0-1) of the letters and figures of a text are Korean letters."""
    letters = [character for character in text if character.isalnum()]
    hangul = sum(any(low <= character <= high for low, high in _HANGUL) for character in letters)
    return hangul / max(len(letters), 1)


class TesseractKoreanLines:
    """Reads lines of Korean. The model is loaded with the first one."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._api: Any = None

    def read(self, line: Any) -> ReadLine:  # noqa: ANN401 - an array of numpy
        """Recognise one line, given upright as rows x columns x BGR."""
        import cv2
        from PIL import Image

        height, width = line.shape[:2]
        scaled_width = max(round(width * _HEIGHT / height), 1)
        method = cv2.INTER_AREA if height > _HEIGHT else cv2.INTER_CUBIC
        scaled = cv2.resize(line, (scaled_width, _HEIGHT), interpolation=method)
        framed = cv2.copyMakeBorder(scaled, _MARGIN, _MARGIN, _MARGIN, _MARGIN, cv2.BORDER_REPLICATE)
        api = self._loaded()
        api.SetImage(Image.fromarray(framed[:, :, ::-1]))
        api.SetSourceResolution(150)
        api.Recognize()
        return _line(api, scaled_width)

    def _loaded(self) -> Any:  # noqa: ANN401 - the library has no types
        if self._api is None:
            # Read when the library is loaded; its threads get in each other's way and in everybody's.
            os.environ.setdefault("OMP_THREAD_LIMIT", "1")
            try:
                import tesserocr

                folder = f"{self._data.parent}{os.sep}"
                mode, engine = tesserocr.PSM.SINGLE_LINE, tesserocr.OEM.LSTM_ONLY
                api = tesserocr.PyTessBaseAPI(path=folder, lang=self._data.stem, psm=mode, oem=engine)
                api.SetVariable("debug_file", os.devnull)
            except (ImportError, RuntimeError) as error:
                raise ModelUnavailable(
                    "the Korean model could not be loaded", hint="run `python3 dev.py setup` again"
                ) from error
            self._api = api
        return self._api


def _line(api: Any, width: int) -> ReadLine:  # noqa: ANN401 - the library has no types
    """Put the symbols together. Spaces are taken from the line's text: Tesseract's own words end at every syllable."""
    from tesserocr import RIL, iterate_level

    whole = " ".join((api.GetUTF8Text() or "").split())
    found = api.GetIterator() if whole else None
    text = ""
    edges: list[float] = [0.0]
    weighted = 0.0
    for symbol in iterate_level(found, RIL.SYMBOL) if found is not None else ():
        piece = (symbol.GetUTF8Text(RIL.SYMBOL) or "").strip()
        box = symbol.BoundingBox(RIL.SYMBOL)
        if not piece or box is None:
            continue
        left, right = (min(max((x - _MARGIN) / width, 0.0), 1.0) for x in (box[0], box[2]))
        left = max(left, edges[-1])
        right = max(right, left)
        if text and whole[len(text) : len(text) + 1] == " ":
            text += " "
            edges.append(left)
        elif not text:
            edges[0] = left
        edges += [left + (right - left) * number / len(piece) for number in range(1, len(piece) + 1)]
        text += piece
        weighted += len(piece) * symbol.Confidence(RIL.SYMBOL) / 100
    letters = sum(not character.isspace() for character in text)
    return ReadLine(text, tuple(edges), weighted / letters if letters else 0.0, "ko")
