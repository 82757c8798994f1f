"""The prompt `rag-v1`: rules, question, and as much evidence as fits the model's own window.

Any change of the texts or of the packing changes what models answer: bump `PROMPT_VERSION` with it.
`tests/unit/answering/golden/` holds the whole output for fixed input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kb.answering.evidence import block, neutral
from kb.answering.phrases import phrases
from kb.answering.ports import PackedChunk
from kb.domain.text import sentences
from kb.retrieval.values import Hit

PROMPT_VERSION = "rag-v1"

TEMPLATE_TOKENS = 64
"""Room for what a chat template puts around two messages; the longest seen takes 31."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much a prompt may hold.

    Attributes:
        context_tokens: the model's window, prompt and completion together.
        completion_tokens: kept free for the answer.
        characters: of evidence text, whatever the window.
    """

    context_tokens: int
    completion_tokens: int
    characters: int


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is given.

    Attributes:
        packed: the evidence in it, best first; `number` is what `[#n]` means.
        dropped: hits left out, the worst, because there was no room.
        cut: whether the only block had to lose its end.
        stop: strings at which a generation ends: a forged next question, a forged block.
    """

    system: str
    user: str
    packed: tuple[PackedChunk, ...]
    dropped: int
    cut: bool
    stop: tuple[str, ...]


def build_prompt(question: str, hits: Sequence[Hit], room: Room, count_tokens: Callable[[str], int]) -> Prompt:
    """Return the prompt for `question` over `hits`, best first.

    The worst hits are dropped until the whole fits; a best hit that is too long by itself is cut at a sentence end.
    No hit fits at all when the question alone fills the window: then nothing is packed.
    """
    words = phrases(question)
    system = words.rules.format(insufficient=words.insufficient)
    head = f"{words.question}\n{neutral(question.strip())}\n\n{words.evidence}\n"
    budget = room.context_tokens - room.completion_tokens - TEMPLATE_TOKENS - count_tokens(system)

    def fits(blocks: Sequence[str]) -> bool:
        return count_tokens(head + "\n\n".join(blocks)) <= budget

    texts = _within(hits, room.characters)
    blocks = [block(n, hit, text) for n, (hit, text) in enumerate(zip(hits, texts, strict=False), start=1)]
    # Each block costs about what it costs alone; counting the whole again and again would be quadratic.
    kept = _roughly_fitting(blocks, budget - count_tokens(head), count_tokens)
    while kept > 1 and not fits(blocks[:kept]):
        kept -= 1
    if kept == 1 and not fits(blocks[:1]):
        kept = 0
    if kept == 0 and hits:
        texts = [_longest(texts[0], lambda text: fits([block(1, hits[0], text)]))]
        kept = 1 if texts[0] else 0
        blocks = [block(1, hits[0], texts[0])]
    packed = tuple(
        PackedChunk(number, hit.stored.chunk.chunk_id, hit.stored.chunk.doc_id, text)
        for number, (hit, text) in enumerate(zip(hits[:kept], texts, strict=False), start=1)
    )
    return Prompt(
        system=system,
        user=head + "\n\n".join(blocks[:kept]),
        packed=packed,
        dropped=len(hits) - kept,
        cut=any(len(chunk.text) < len(hit.stored.chunk.text) for chunk, hit in zip(packed, hits, strict=False)),
        stop=(f"\n{words.question}", f"\n{words.evidence}", "<<<"),
    )


def _within(hits: Sequence[Hit], characters: int) -> list[str]:
    """Return the texts of the best hits that fit into `characters`; the first is cut rather than left out."""
    texts: list[str] = []
    room = characters
    for hit in hits:
        text = hit.stored.chunk.text
        if len(text) > room:
            if not texts:
                texts.append(_longest(text, lambda part: len(part) <= characters))
            break
        texts.append(text)
        room -= len(text)
    return texts


def _roughly_fitting(blocks: Sequence[str], budget: int, count_tokens: Callable[[str], int]) -> int:
    for kept, text in enumerate(blocks):
        budget -= count_tokens(text)
        if budget < 0:
            return kept
    return len(blocks)


def _longest(text: str, fits: Callable[[str], bool]) -> str:
    """Return the longest beginning of `text` that fits and ends with a sentence; empty when none does."""
    ends = [end for _, end in sentences(text)]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(text[: ends[middle - 1]]):
            low = middle
        else:
            high = middle - 1
    if low:
        return text[: ends[low - 1]]
    return _longest_beginning(text[: ends[0]] if ends else "", fits)


def _longest_beginning(sentence: str, fits: Callable[[str], bool]) -> str:
    """Return as much of a sentence without end as fits: a table row or a minified line has no better place."""
    low, high = 0, len(sentence)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(sentence[:middle]) else (low, middle - 1)
    return sentence[:low]
