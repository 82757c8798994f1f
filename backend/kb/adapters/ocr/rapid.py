"""RapidOCR (PP-OCR models on onnxruntime): where lines are, which way up they are, and what Latin, Han and Kana say."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kb.adapters.ocr.geometry import Quad, quad_of
from kb.adapters.ocr.lines import ReadLine, edges_between
from kb.domain.failures import ModelUnavailable

Pixels = Any
"""A numpy array, rows x columns x BGR, uint8; numpy is imported when the first picture comes."""

_PACKAGE = "rapidocr"
_MODELS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
}
_LONGEST_SHAPE = 4
_SMALLEST = 64
_SEGMENT = 4  # the classifier squeezes what is longer than four times its height, and then takes it for upside down


def installed() -> Path | None:
    """Return the folder of the models that come with the package, None when one is missing; loads nothing."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "models"
    return folder if all((folder / name).is_file() for name in _MODELS.values()) else None


def engine_version() -> str:
    """Return the engine and its models, without loading them."""
    try:
        return f"rapidocr-{version(_PACKAGE)}-ppocrv6"
    except PackageNotFoundError:
        return "rapidocr-ppocrv6"


class RapidOcrLines:
    """Finds and reads lines. `threads` of computation; the models are loaded with the first picture."""

    def __init__(self, models: Path, threads: int = 1) -> None:
        self._models = models
        self._threads = threads
        self._engine: Any = None

    def find(self, picture: Pixels) -> list[Quad]:
        """Return the outlines of the lines on a picture, in no order, in its own pixels."""
        import numpy as np

        engine = self._loaded()
        framed = _framed(picture)
        small, _ = engine.preprocess_img(framed)
        found = engine.text_det(small)
        if found.boxes is None:
            return []
        scale = [framed.shape[1] / small.shape[1], framed.shape[0] / small.shape[0]]
        edge = [picture.shape[1], picture.shape[0]]
        return [quad_of(np.clip(box * scale, 0, edge).tolist()) for box in np.asarray(found.boxes, np.float64)]

    def cut(self, picture: Pixels, quad: Quad) -> Pixels:
        """Return a line as a picture of its own, straight and the right way up for its reader."""
        import cv2
        import numpy as np

        width, height = max(int(quad.length), 1), max(int(quad.thickness), 1)
        target = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
        matrix = cv2.getPerspectiveTransform(np.array(quad, np.float32), target)
        return cv2.warpPerspective(
            picture, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE, flags=cv2.INTER_CUBIC
        )

    def read(self, lines: Sequence[Pixels]) -> list[ReadLine]:
        """Recognise lines, which may come in any number."""
        if not lines:
            return []
        read = self._loaded().recognize_txt(list(lines))
        return [_line(*found) for found in zip(read.txts, read.scores, read.word_results, strict=True)]

    def upside_down(self, lines: Sequence[Pixels]) -> float:
        """Return the share (0-1) of the lines' beginnings and ends that stand on their head."""
        segments = []
        for line in lines:
            length = _SEGMENT * line.shape[0]
            segments += [line[:, :length], line[:, -length:]] if line.shape[1] > length else [line]
        if not segments:
            return 0.0
        found = self._loaded().text_cls(segments).cls_res
        return sum(str(label) == "180" for label, _ in found) / len(found)

    def _loaded(self) -> Any:  # noqa: ANN401 - the library has no types
        if self._engine is None:
            self._engine = self._load()
        return self._engine

    def _load(self) -> Any:  # noqa: ANN401 - the library has no types
        from rapidocr import RapidOCR

        threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": self._threads for kind in ("intra", "inter")}
        # Paths are given outright: without one the library fetches what it misses.
        paths = {f"{part}.model_path": str(self._models / name) for part, name in _MODELS.items()}
        common = {"Global.log_level": "critical", "Global.return_word_box": True}
        try:
            engine = RapidOCR(params={**common, **threads, **paths})
            engine._load_det_model()  # noqa: SLF001 - the steps are used one by one: order and turning are ours
            engine._load_cls_model()  # noqa: SLF001
            engine._load_rec_model()  # noqa: SLF001
        except Exception as error:
            raise ModelUnavailable(
                "the models that read text on pictures could not be loaded", hint="run `python3 dev.py setup` again"
            ) from error
        return engine


def _framed(picture: Pixels) -> Pixels:
    """Make a strip or a speck wider with the colour of its edge, below and to the right.

    The engine enlarges a picture until its shorter side has 736 pixels: of a strip it would make gigabytes.
    """
    import cv2

    height, width = picture.shape[:2]
    least = max(-(-max(height, width) // _LONGEST_SHAPE), _SMALLEST)
    below, beside = max(least - height, 0), max(least - width, 0)
    if not below and not beside:
        return picture
    return cv2.copyMakeBorder(picture, 0, below, 0, beside, cv2.BORDER_REPLICATE)


def _line(text: str, score: float, places: Any) -> ReadLine:  # noqa: ANN401 - the library has no types
    columns = [column for word in places.word_cols for column in word]
    length = max(float(places.line_txt_len or 1), 1.0)
    centres: list[float] = []
    letters = sum(not character.isspace() for character in text)
    if letters != len(columns):  # never seen; evenly spread characters are a fair guess
        centres = [(number + 0.5) / max(len(text), 1) for number in range(len(text))]
        return ReadLine(text, edges_between(centres), float(score))
    following = iter([*columns, length])
    column = -1.0
    coming = next(following)
    for character in text:
        if character.isspace():
            column = (column + coming) / 2
        else:
            column, coming = coming, next(following)
        centres.append(min((column + 0.5) / length, 1.0))
    return ReadLine(text, edges_between(centres), float(score))
