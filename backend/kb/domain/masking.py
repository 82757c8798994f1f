"""What was masked in a document: the kind and place of a secret, never the secret."""

from __future__ import annotations

from dataclasses import dataclass

from kb.domain.spans import SourceSpan


@dataclass(frozen=True, slots=True)
class MaskedSecret:
    """One masked place.

    Attributes:
        kind: one stable word, such as `aws_key` or `password`.
        placeholder: what stands in its place.
        where: `text`, `title`, `heading`, `tag`, `front_matter` or `page`.
        span: its place in the original; None outside the text.
    """

    kind: str
    placeholder: str
    where: str
    span: SourceSpan | None = None
