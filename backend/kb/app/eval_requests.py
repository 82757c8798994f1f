"""What people type about evaluations: figures to hold runs to, and hits by their rank."""

from __future__ import annotations

from collections.abc import Sequence

from kb.domain.errors import InvalidInput


def figures_of(given: Sequence[str], option: str) -> dict[str, float]:
    """Return figures such as `recall@5=0.9` by name.

    Raises:
        InvalidInput: one is no figure.
    """
    found = {}
    for one in given:
        name, mark, value = one.partition("=")
        try:
            if not (mark and name.strip()):
                raise ValueError(one)  # noqa: TRY301 - one way out for all that is wrong with it
            found[name.strip()] = float(value)
        except ValueError as error:
            raise InvalidInput(f"{option} {one[:40]!r} is no figure", hint=f"such as {option} recall@5=0.9") from error
    return found


def ranked(expected: Sequence[str], ids: Sequence[str]) -> tuple[str, ...]:
    """Return what is expected with ranks (from 1) as the ids of those hits.

    Raises:
        InvalidInput: there is no hit of such a rank.
    """
    found = []
    for one in expected:
        if one.isdecimal() and not 1 <= int(one) <= len(ids):
            raise InvalidInput(f"there is no hit {one[:20]}", hint=f"the search has {len(ids)}")
        found.append(ids[int(one) - 1] if one.isdecimal() else one)
    return tuple(found)
