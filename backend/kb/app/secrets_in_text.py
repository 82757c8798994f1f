"""Secrets taken out of a text that a person wrote, by the rules that hold for files."""

from __future__ import annotations

from kb.domain.blocks import BlockKind, Prose
from kb.domain.documents import ParsedBlock, ParsedDocument
from kb.domain.spans import LineSpan, Segment


def without_secrets(text: str) -> tuple[str, int]:
    """Return a text with placeholders in place of secrets, and how many places were masked."""
    from kb.governance.masking import SecretMasker

    span = LineSpan(1, 1)
    block = ParsedBlock(BlockKind.PARAGRAPH, text, span, (), Prose(), (Segment(0, len(text), span),))
    parsed, masked = SecretMasker().mask(ParsedDocument((block,)))
    return parsed.blocks[0].text, len(masked)
