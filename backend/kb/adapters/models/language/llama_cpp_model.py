"""`LlamaCppModel`: a GGUF file through llama-cpp-python, in this process, one generation at a time."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.adapters.models.language.chat_template import Part, chat_parts, template_of, tokens_of
from kb.adapters.models.language.stops import StopReader
from kb.adapters.models.language.trial import ModelTrial
from kb.answering.ports import GeneratedPiece, GenerateRequest
from kb.domain.answers import ModelRef
from kb.domain.failures import ModelUnavailable

if TYPE_CHECKING:
    from llama_cpp import Llama

_EXTRACTIVE = "or choose the extractive provider, which needs no model"

_PROMPT_PIECE = 64
"""Tokens of a prompt read at once: about a second on a slow computer, so long does a stop wait."""
_LOOK_SECONDS = 0.2


def _never() -> bool:
    return False


class LlamaCppModel:
    """The `LanguageModel` port over a GGUF file.

    The file is opened on first use, the first time ever in a child process. The prompt is built by the file's own
    chat template (see `chat_template`). The state is cleared before each generation, so that the same request gives
    the same text whatever was asked before.

    Args:
        gguf_path: the model file.
        ref: which model it is, for answers to say.
        context_tokens: the window: prompt and completion together.
        threads: None for all cores but one; with every core busy llama.cpp falls to a few tokens a second.
        trial: remembers tried files.
    """

    def __init__(
        self,
        gguf_path: Path,
        ref: ModelRef,
        context_tokens: int,
        threads: int | None = None,
        trial: ModelTrial | None = None,
    ) -> None:
        self._path = gguf_path
        self._ref = ref
        self._context_tokens = context_tokens
        self._threads = threads or max(1, (os.cpu_count() or 2) - 1)
        self._trial = trial or ModelTrial()
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._llama: Llama | None = None

    @property
    def ref(self) -> ModelRef:
        """Which model it is, known without loading it."""
        return self._ref

    @property
    def context_tokens(self) -> int:
        """The window: prompt and completion together."""
        return self._context_tokens

    def count_tokens(self, text: str) -> int:
        """Return the tokens of `text`, none of them a control token.

        Raises:
            ModelUnavailable: the model cannot be loaded.
        """
        return len(_tokenize(self._loaded(), Part(text)))

    def generate(self, request: GenerateRequest, stop: Callable[[], bool] = _never) -> Generator[GeneratedPiece]:
        """Yield pieces as they come and one last piece with the finish reason.

        Closing the generator stops the model within a token. `stop` is asked while there is no piece to yield: while
        another generation runs, and every 64 tokens while the prompt is read.

        Raises:
            ModelUnavailable: the model cannot be loaded or run, or the prompt is longer than the window.
        """
        llama = self._loaded()
        while not self._lock.acquire(timeout=_LOOK_SECONDS):
            if stop():
                yield GeneratedPiece("", "aborted")
                return
        try:
            yield from self._generate(llama, request, stop)
        finally:
            self._lock.release()

    def _generate(self, llama: Llama, request: GenerateRequest, stop: Callable[[], bool]) -> Generator[GeneratedPiece]:
        prompt = self._prompt(llama, request)
        limit = min(request.max_tokens, self._context_tokens - len(prompt))
        if limit < 1:
            message = f"the prompt of {len(prompt)} tokens does not fit the model's window of {self._context_tokens}"
            raise ModelUnavailable(message, hint=f"ask a shorter question, choose another model, {_EXTRACTIVE}")
        reader = StopReader(request.stop)
        written, reason = 0, "length"
        if not self._read(llama, prompt, stop):
            yield GeneratedPiece("", "aborted", prompt_tokens=len(prompt))
            return
        tokens = self._tokens(llama, prompt, request)
        try:
            for token in tokens:
                if _ends(llama, token):
                    reason = "stop"
                    break
                written += 1
                text = reader.feed(llama.detokenize([token]))
                if text:
                    yield GeneratedPiece(text)
                if reader.stopped:
                    reason = "stop"
                    break
                if written >= limit:
                    break
        finally:
            tokens.close()
        yield GeneratedPiece(reader.feed(b"", final=True), reason, prompt_tokens=len(prompt), completion_tokens=written)

    def _prompt(self, llama: Llama, request: GenerateRequest) -> list[int]:
        begin = llama.token_bos()
        bos = llama._model.token_get_text(begin) if begin >= 0 else ""  # noqa: SLF001 - the library offers no other way
        end = llama.token_eos()
        eos = llama._model.token_get_text(end) if end >= 0 else ""  # noqa: SLF001
        parts = chat_parts(template_of(llama.metadata), request.system, request.user, bos=bos, eos=eos)
        tokens = tokens_of(parts, lambda part: _tokenize(llama, part))
        if llama._model.add_bos_token() and tokens[:1] != [begin]:  # noqa: SLF001
            return [begin, *tokens]
        return tokens

    def _read(self, llama: Llama, prompt: list[int], stop: Callable[[], bool]) -> bool:
        """Let the model read all of a prompt but its last token, piece by piece; False when told to stop."""
        # Without this the library reuses what two prompts share, and the last digits of the numbers, and with them
        # the words, would depend on what was asked before.
        llama.reset()
        try:
            for start in range(0, len(prompt) - 1, _PROMPT_PIECE):
                if stop():
                    return False
                llama.eval(prompt[start : min(start + _PROMPT_PIECE, len(prompt) - 1)])
        except (RuntimeError, ValueError) as error:
            raise self._failed() from error
        return True

    def _tokens(self, llama: Llama, prompt: list[int], request: GenerateRequest) -> Generator[int]:
        """Yield token after token, with the library's failures in our words; what `_read` read is not read again."""
        grammar = self._grammar(llama, request.grammar)
        llama.set_seed(request.seed)
        try:
            yield from llama.generate(prompt, temp=request.temperature, grammar=grammar)
        except (RuntimeError, ValueError) as error:
            raise self._failed() from error

    def _failed(self) -> ModelUnavailable:
        return ModelUnavailable(f"the model {self._ref.id} failed while writing", hint=self._hint())

    def _grammar(self, llama: Llama, grammar: str | None) -> Any:  # noqa: ANN401 - a class of a library loaded late
        if grammar is None:
            return None
        import llama_cpp

        # The library would pass a null pointer on, and crash.
        sampler = llama_cpp.llama_sampler_init_grammar(llama._model.vocab, grammar.encode(), b"root")  # noqa: SLF001
        if not sampler:
            raise ModelUnavailable("the answer grammar was refused", hint=self._hint())
        llama_cpp.llama_sampler_free(sampler)
        return llama_cpp.LlamaGrammar.from_string(grammar)

    def _loaded(self) -> Llama:
        if self._llama is None:
            with self._loading:
                if self._llama is None:
                    self._llama = self._load()
        return self._llama

    def _load(self) -> Llama:
        try:
            import llama_cpp
        except (ImportError, OSError, RuntimeError) as error:
            hint = f"run `python3 dev.py setup`, {_EXTRACTIVE}"
            raise ModelUnavailable("llama-cpp-python is not installed", hint=hint) from error
        if not self._path.is_file():
            raise ModelUnavailable(f"the file of the model {self._ref.id} is missing", hint=self._hint())
        if not self._trial.passes(self._path):
            raise ModelUnavailable(f"the file of the model {self._ref.id} is not a usable model", hint=self._hint())
        llama_cpp.llama_log_set(_quiet_log(), ctypes.c_void_p(0))
        try:
            # `verbose=False` would point the whole process's stdout and stderr to nowhere while it loads.
            with _silent_thread():
                llama = llama_cpp.Llama(
                    str(self._path),
                    n_ctx=self._context_tokens,
                    n_threads=self._threads,
                    n_threads_batch=self._threads,
                    verbose=True,
                )
        # The library raises ValueError, RuntimeError, and what its template reader raises.
        except Exception as error:
            raise ModelUnavailable(f"the model {self._ref.id} could not be loaded", hint=self._hint()) from error
        llama.verbose = False
        return llama

    def _hint(self) -> str:
        return f"install or choose another model, {_EXTRACTIVE}"


def _tokenize(llama: Llama, part: Part) -> list[int]:
    tokens: list[int] = llama.tokenize(part.text.encode("utf-8", "replace"), add_bos=False, special=part.control)
    return tokens


def _ends(llama: Llama, token: int) -> bool:
    import llama_cpp

    return bool(llama_cpp.llama_vocab_is_eog(llama._model.vocab, token))  # noqa: SLF001


@cache
def _quiet_log() -> Any:  # noqa: ANN401 - a ctypes function type made by the library
    """Return the one callback; llama.cpp holds a bare pointer to it, so it must live as long as the process."""
    import llama_cpp

    return llama_cpp.llama_log_callback(lambda _level, _text, _data: None)


class _ThisThreadOff:
    """A stderr that drops what one thread writes and passes on the rest."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - whatever stands for sys.stderr
        self._stream = stream
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        if threading.get_ident() == self._thread:
            return len(text)
        return int(self._stream.write(text))

    def flush(self) -> None:
        if self._stream is not None:
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._stream, name)


@contextmanager
def _silent_thread() -> Iterator[None]:
    stream = sys.stderr
    sys.stderr = _ThisThreadOff(stream)
    try:
        yield
    finally:
        sys.stderr = stream
