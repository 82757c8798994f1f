"""`CrossEncoder`: an ONNX model in this process that reads question and passage together."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.domain.failures import ModelUnavailable

if TYPE_CHECKING:
    import onnxruntime
    from tokenizers import Tokenizer

MOST_TOKENS = 512
MOST_TEXTS = 100
MOST_CHARACTERS = 8_000
_FILES = ("model.onnx", "tokenizer.json", "config.json")
_KNOWN_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_STEEPEST = 60.0
_REMEDY = "choose another folder in `models.rerank.model`, or set `search.rerank` to `local`"


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: onnxruntime.InferenceSession
    tokenizer: Tokenizer
    inputs: frozenset[str]


class CrossEncoder:
    """`Reranker` over a folder with `model.onnx`, `tokenizer.json` and `config.json`.

    Pairs go through one by one on one thread, so that a score depends on nothing but its pair; of a pair longer than
    the window the longer text loses its end. May be used from several threads.

    Args:
        folder: where the files are.
        threads: of one run; more can change the last digits of a score.
    """

    def __init__(self, folder: Path, threads: int = 1) -> None:
        """Look whether the files are there; they are read when first needed.

        Raises:
            ModelUnavailable: one is missing, or the configuration names no window.
        """
        missing = next((name for name in _FILES if not (folder / name).is_file()), None)
        if missing is not None:
            raise _unavailable(f"the file {missing} of the rerank model {folder.name!r} is missing")
        self._folder = folder
        self._threads = threads
        self._window = _window(folder)
        self._lock = threading.Lock()
        self._model: _Loaded | None = None

    @property
    def name(self) -> str:
        """The model, as diagnostics name it."""
        return self._folder.name

    def scores(self, question: str, texts: Sequence[str], timeout_s: float) -> Sequence[float]:
        """Return a score for each text, 0 to 1, in order; at most 100 texts, of each its first 8,000 characters.

        Raises:
            ModelUnavailable: the model cannot be loaded or run, or not in time.
        """
        if len(texts) > MOST_TEXTS:
            raise ModelUnavailable(f"more than {MOST_TEXTS} passages cannot be ordered again")
        ends = time.monotonic() + timeout_s
        model = self._loaded()
        found: list[float] = []
        for text in texts:
            if time.monotonic() > ends:
                raise ModelUnavailable(
                    f"the rerank model {self.name} took too long: {len(found)} of {len(texts)} passages",
                    hint="raise `search.rerank_seconds`, or choose a smaller model",
                )
            found.append(self._score(model, question, text[:MOST_CHARACTERS]))
        return tuple(found)

    def _score(self, model: _Loaded, question: str, text: str) -> float:
        import numpy as np

        try:
            encoding = model.tokenizer.encode(_sound(question[:MOST_CHARACTERS]), _sound(text))
            rows = {
                "input_ids": encoding.ids,
                "attention_mask": encoding.attention_mask,
                "token_type_ids": encoding.type_ids,
            }
            feed = {name: np.asarray([rows[name]], dtype=np.int64) for name in model.inputs}
            output = np.asarray(model.session.run(None, feed)[0], dtype=np.float64).reshape(-1)
        # onnxruntime and tokenizers raise what they like, and none of it can be mended here.
        except Exception as error:
            raise _unavailable(f"the rerank model {self.name} failed to run") from error
        return _probability([float(value) for value in output], self.name)

    def _loaded(self) -> _Loaded:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> _Loaded:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = self._threads
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(
                str(self._folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
            tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
            tokenizer.no_padding()
            tokenizer.enable_truncation(self._window, strategy="longest_first")
        # Each raises what it likes for a damaged file.
        except Exception as error:
            raise _unavailable(f"the files of the rerank model {self.name} are damaged") from error
        inputs = frozenset(given.name for given in session.get_inputs())
        if not inputs <= _KNOWN_INPUTS or "input_ids" not in inputs:
            raise _unavailable(f"the rerank model {self.name} wants inputs that are not known")
        return _Loaded(session, tokenizer, inputs)


def _window(folder: Path) -> int:
    try:
        config: Any = json.loads((folder / "config.json").read_bytes())
        stated = int(config.get("max_position_embeddings", MOST_TOKENS))
        # RoBERTa counts positions from behind the padding mark.
        if config.get("model_type") in {"roberta", "xlm-roberta"}:
            stated -= int(config.get("pad_token_id", 1)) + 1
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise _unavailable(f"the configuration of the rerank model {folder.name!r} is damaged") from error
    return max(8, min(stated, MOST_TOKENS))


def _probability(output: Sequence[float], name: str) -> float:
    """Return 0 to 1: of one logit its sigmoid, of two the share of the second."""
    if not all(map(math.isfinite, output)) or len(output) not in {1, 2}:
        raise _unavailable(f"the rerank model {name} gives no score for a pair")
    logit = output[0] if len(output) == 1 else output[1] - output[0]
    return 1 / (1 + math.exp(-max(-_STEEPEST, min(logit, _STEEPEST))))


def _unavailable(message: str) -> ModelUnavailable:
    return ModelUnavailable(message, hint=_REMEDY)


def _sound(text: str) -> str:
    """Return `text` without halves of surrogate pairs, which the Rust side refuses."""
    return text.encode("utf-8", "replace").decode()
