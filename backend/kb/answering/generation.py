"""One generation, from the model's pieces to text people see: markers read, refusals held back, stops obeyed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field

from kb.answering.events import Reader, TextCame
from kb.answering.markers import MarkerReader, Piece
from kb.answering.phrases import may_become_insufficient, says_insufficient
from kb.answering.ports import GenerateRequest, LanguageModel
from kb.domain.errors import KebabError


@dataclass(slots=True)
class Generation:
    """What came of it.

    Attributes:
        raw: the text as the model wrote it, with `[#n]`.
        pieces: the text as people see it, with what each marker means.
        shown: evidence number to shown number.
        finish_reason: stop, length, aborted or error.
        failure: why it broke off: `model_unavailable` before the first text, `model_failed` after; else None.
    """

    raw: str = ""
    pieces: list[Piece] = field(default_factory=list)
    shown: dict[int, int] = field(default_factory=dict)
    dropped_markers: tuple[int, ...] = ()
    finish_reason: str = "error"
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
    """Run one generation to its end, its failure, or the person's stop.

    Text that may still become the refusal sentence is not told: a refusal is shown in Kebab's words.
    """
    markers = MarkerReader(allowed)
    done = Generation()
    held: list[Piece] = []

    def show(pieces: list[Piece], *, final: bool = False) -> None:
        done.pieces += pieces
        held.extend(pieces)
        if says_insufficient(done.raw) or (may_become_insufficient(done.raw) and not final):
            return
        for piece in held:
            teller.tell(piece.text)
        held.clear()

    try:
        # Closing is what stops the model; an abandoned generator would only stop when collected.
        with closing(model.generate(request)) as pieces:
            for piece in pieces:
                done.raw += piece.text
                show(markers.feed(piece.text))
                if piece.finish_reason is not None:
                    done.finish_reason = piece.finish_reason
                    done.prompt_tokens, done.completion_tokens = piece.prompt_tokens, piece.completion_tokens
                elif stop():
                    done.finish_reason = "aborted"
                    break
    except KebabError:
        done.finish_reason = "error"
    if done.finish_reason == "error":
        done.failure = "model_failed" if done.raw else "model_unavailable"
    else:
        show(markers.close(), final=True)
    done.shown, done.dropped_markers = markers.shown, tuple(markers.dropped)
    return done
