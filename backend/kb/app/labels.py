"""How places are shown to people."""

from __future__ import annotations

from kb.domain.citations import Citation


def citation_label(uri: str) -> str:
    """Return a citation URI with its letters readable."""
    return Citation.parse(uri).label()
