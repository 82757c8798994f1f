"""One generation, from the model's pieces to text people see: markers read, refusals held back, stops obeyed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field

from kb.answering.claims import answer_sentences
from kb.answering.events import Reader, TextCame
from kb.answering.markers import MarkerReader, Piece
from kb.answering.phrases import may_become_insufficient, says_insufficient
from kb.answering.ports import GeneratedPiece, GenerateRequest, LanguageModel
from kb.domain.errors import KebabError
from kb.domain.text import fold

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Generation:
    """What came of it.

    Attributes:
        raw: the text as the model wrote it, with `[#n]`.
        pieces: the text as people see it, with what each marker means.
        shown: evidence number to shown number.
        finish_reason: stop, length, aborted, repetition or error; None until there is one.
        failure: why it broke off: `model_unavailable` before the first text, `model_failed` after; else None.
    """

    raw: str = ""
    pieces: list[Piece] = field(default_factory=list)
    shown: dict[int, int] = field(default_factory=dict)
    dropped_markers: tuple[int, ...] = ()
    finish_reason: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    failure: str | None = None

    @property
    def text(self) -> str:
        """The text as people see it."""
        return "".join(piece.text for piece in self.pieces).strip()


class Teller:
    """Passes text on as it comes, white space at the ends left off: all it told together is the stripped text."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._blank = ""
        self.told = False

    def tell(self, text: str) -> None:
        """Pass text on; white space waits for what follows it."""
        text = self._blank + text if self.told else text.lstrip()
        content = text.rstrip()
        self._blank = text[len(content) :]
        if content:
            self.told = True
            self._reader.tell(TextCame(content))


def generate(
    model: LanguageModel,
    request: GenerateRequest,
    allowed: Collection[int],
    teller: Teller,
    stop: Callable[[], bool],
) -> Generation:
    """Run one generation to its end, its failure, its first repeated sentence, or the person's stop.

    Text that may still become the refusal sentence is not told: a refusal is shown in Kebab's words.
    """
    writing = _Writing(MarkerReader(allowed), teller)
    done = writing.done
    try:
        # Closing is what stops the model; an abandoned generator would only stop when collected.
        with closing(model.generate(request, stop)) as pieces:
            for piece in pieces:
                writing.take(piece)
                if done.finish_reason is None and stop():
                    done.finish_reason = "aborted"
                if done.finish_reason is not None:
                    break
    except KebabError as error:
        _log.warning("the model %s gave up: %s", model.ref.id, error.message)
        done.finish_reason = None
    if done.finish_reason in {None, "error"}:
        done.failure = "model_failed" if done.raw else "model_unavailable"
        return done
    writing.finish()
    if done.finish_reason in {"aborted", "repetition"}:
        # The model was closed before it could say what it read and wrote.
        done.prompt_tokens = model.count_tokens(request.system) + model.count_tokens(request.user)
        done.completion_tokens = model.count_tokens(done.raw)
    return done


class _Writing:
    """A generation in progress."""

    def __init__(self, markers: MarkerReader, teller: Teller) -> None:
        self.done = Generation()
        self._markers = markers
        self._teller = teller
        self._held: list[Piece] = []
        self._open = False

    def take(self, piece: GeneratedPiece) -> None:
        """Take one piece of the model."""
        done = self.done
        done.raw += piece.text
        read = self._markers.feed(piece.text)
        cited = any(entry.number is not None for entry in read)
        again = _cited_again([*done.pieces, *read]) if cited else None
        if again is not None:
            read = read[: again - len(done.pieces)]
        self._show(read)
        if piece.finish_reason is not None:
            done.finish_reason = piece.finish_reason
            done.prompt_tokens, done.completion_tokens = piece.prompt_tokens, piece.completion_tokens
        elif again is not None:
            done.finish_reason = "repetition"

    def finish(self) -> None:
        """Show what waited."""
        self._show([] if self.done.finish_reason == "repetition" else self._markers.close(), final=True)
        self.done.shown, self.done.dropped_markers = self._markers.shown, tuple(self._markers.dropped)

    def _show(self, pieces: list[Piece], *, final: bool = False) -> None:
        raw = self.done.raw
        self.done.pieces += pieces
        self._held += pieces
        if not self._open and (says_insufficient(raw) or (may_become_insufficient(raw) and not final)):
            return
        # A text that has left the way to a refusal never comes back to it.
        self._open = True
        for piece in self._held:
            self._teller.tell(piece.text)
        self._held.clear()


def _cited_again(pieces: list[Piece]) -> int | None:
    """Return where the last marker ends if its sentence was said before, else None.

    A small model that says the same twice goes on with it for ever.
    """
    end = max((i for i, piece in enumerate(pieces, start=1) if piece.number is not None), default=0)
    said = [fold(sentence.text).strip(" .!?…。！？．") for sentence in answer_sentences(pieces[:end])]
    return end if len(said) > 1 and said[-1] in said[:-1] else None
