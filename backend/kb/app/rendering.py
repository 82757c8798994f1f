"""A document of any kind as Markdown, from its stored blocks and passages: the masked text and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kb.domain.blocks import BlockKind, Code, Heading, Table
from kb.domain.chunks import Chunk
from kb.domain.reading import KeptBlock
from kb.domain.recipes import BlockId
from kb.domain.spans import Segment, TimeSpan
from kb.retrieval.snippets import own_start

_GAP = re.compile(r"\n\n")
_LINES = frozenset({BlockKind.CODE, BlockKind.LIST, BlockKind.TABLE})


def markdown_of(blocks: Sequence[KeptBlock], chunks: Sequence[Chunk]) -> str:
    """Return Markdown, the same for the same document: headings, lists, code, tables, paragraphs.

    No text of the passages is lost; which of two neighbouring blocks a line belongs to is worked out from the passages.
    Passages of a recording begin with their time.
    """
    texts = _texts(blocks, chunks)
    done = [_written(block, texts[block.block_id]) for block in blocks if texts.get(block.block_id)]
    return "\n\n".join(done) + "\n" if done else ""


def _texts(blocks: Sequence[KeptBlock], chunks: Iterable[Chunk]) -> dict[BlockId, str]:
    """Put the texts of blocks together from the passages that hold them or parts of them."""
    known = {block.block_id: block for block in blocks}
    texts: dict[BlockId, str] = {}
    for chunk in chunks:
        ids = [block_id for block_id in chunk.block_ids if block_id in known]
        begin = own_start(chunk.text, chunk.segments) if ids and ids[0] in texts else 0
        for block_id, text in zip(ids, _pieces(chunk, [known[block_id] for block_id in ids], begin), strict=False):
            if block_id not in texts:
                texts[block_id] = text
            elif text:
                between = "\n" if known[block_id].kind in _LINES else " "
                texts[block_id] = f"{texts[block_id].rstrip()}{between}{text.lstrip()}"
    return texts


def _pieces(chunk: Chunk, blocks: Sequence[KeptBlock], begin: int) -> Iterator[str]:
    """Yield what of a passage belongs to each of its blocks; the last one gets all that is left."""
    text, at = chunk.text, begin
    gaps = [match.start() for match in _GAP.finditer(text) if not _is_inside(chunk.segments, match.start())]
    for number, block in enumerate(blocks):
        if number == len(blocks) - 1:
            yield text[at:].strip("\n")
            return
        title = block.heading_path[-1] if block.heading_path else ""
        if block.kind is BlockKind.HEADING and title and text.startswith(title, at):
            yield title
            at += len(title)
        else:
            end = next((gap for gap in gaps if gap > at), len(text))
            yield text[at:end].strip("\n")
            at = end
        while at < len(text) and text[at] == "\n":
            at += 1


def _is_inside(segments: Sequence[Segment], position: int) -> bool:
    return any(segment.start < position < segment.end for segment in segments)


def _written(block: KeptBlock, text: str) -> str:
    match block.payload:
        case Heading(level):
            return f"{'#' * level} {' '.join(text.split())}"
        case Code(language):
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
            return f"{fence}{language or ''}\n{text}\n{fence}"
        case Table(headers, rows) if headers or rows:
            return _table(headers, rows)
        case _ if block.kind is BlockKind.QUOTE:
            return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
        case _ if isinstance(block.span, TimeSpan):
            return f"**{_clock(block.span.start_ms)}** {text}"
        case _:
            return text


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    width = max([len(headers), *map(len, rows)])
    lines = [_row(headers, width), "|" + " --- |" * width, *(_row(row, width) for row in rows)]
    return "\n".join(lines)


def _row(cells: Sequence[str], width: int) -> str:
    escaped = [" ".join(cell.split()).replace("|", "\\|") for cell in cells]
    return "| " + " | ".join([*escaped, *[""] * (width - len(escaped))]) + " |"


def _clock(milliseconds: int) -> str:
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
