"""Settings a collection may have of its own, and their ranges (PRD sections 7.3 and 8.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from kb.domain.errors import InvalidInput

Settings: TypeAlias = Mapping[str, str | int | float]

_MODES = ("fixed", "structure", "parent-child")
# PRD section 8.1: range and default.
_CHUNKING = {
    "target_characters": (400, 8_000, 1_600),
    "overlap_characters": (0, 3_200, 160),
    "parent_characters": (1_600, 16_000, 4_800),
    "child_characters": (300, 4_000, 900),
}
# PRD section 7.3.
_WHOLE = {
    "top_k": (1, 20),
    "candidate_multiplier": (2, 10),
    "context_max_characters": (2_000, 48_000),
    "adjacent_chunk_count": (0, 2),
}
_SHARES = {
    "minimum_vector_similarity": (0.0, 1.0),
    "fts_weight": (0.0, 2.0),
    "vector_weight": (0.0, 2.0),
    "graph_weight": (0.0, 2.0),
}
_WORDS = {"rerank": ("off", "local", "model"), "fusion": ("score", "rrf")}
# Links lead on from what words or vectors find; alone they find nothing.
_WEIGHTS = ("fts_weight", "vector_weight")


def checked_chunking(given: Mapping[str, object]) -> Settings:
    """Return all five chunking settings; those not given have the defaults of PRD section 8.1.

    Raises:
        InvalidInput: one is unknown, of the wrong kind or out of its range.
    """
    _refuse_unknown(given, ("mode", *_CHUNKING))
    mode = given.get("mode", "structure")
    if not isinstance(mode, str) or mode not in _MODES:
        raise InvalidInput("mode is not a chunking mode", hint=f"use one of {', '.join(_MODES)}")
    settings: dict[str, str | int | float] = {"mode": mode}
    for name, (least, most, default) in _CHUNKING.items():
        settings[name] = _whole(name, given.get(name, default), least, most)
    limit = int(settings["target_characters"]) * 2 // 5
    if int(settings["overlap_characters"]) > limit:
        raise InvalidInput(
            "overlap_characters is more than 40 % of target_characters", hint=f"it is at most {limit:,} here"
        )
    if int(settings["child_characters"]) >= int(settings["parent_characters"]):
        raise InvalidInput(
            "child_characters is not less than parent_characters", hint="what is found stands inside of what is given"
        )
    return settings


def checked_retrieval(given: Mapping[str, object]) -> Settings:
    """Return those retrieval settings that are given.

    Raises:
        InvalidInput: one is unknown, of the wrong kind or out of its range (PRD section 7.3).
    """
    _refuse_unknown(given, (*_WHOLE, *_SHARES, *_WORDS))
    settings: dict[str, str | int | float] = {}
    for name, value in given.items():
        if name in _WHOLE:
            settings[name] = _whole(name, value, *_WHOLE[name])
        elif name in _SHARES:
            settings[name] = _share(name, value, *_SHARES[name])
        elif isinstance(value, str) and value in _WORDS[name]:
            settings[name] = value
        else:
            raise InvalidInput(f"{name} is none of its words", hint=f"use one of {', '.join(_WORDS[name])}")
    if all(settings.get(name) == 0 for name in _WEIGHTS):
        raise InvalidInput("fts_weight and vector_weight are both 0", hint="give at least one a weight above 0")
    return settings


def _refuse_unknown(given: Mapping[str, object], known: Sequence[str]) -> None:
    unknown = sorted(set(given).difference(known))
    if unknown:
        raise InvalidInput(f"there is no setting {unknown[0][:64]!r}", hint=f"there are {', '.join(known)}")


def _whole(name: str, value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidInput(f"{name} is out of its range", hint=f"it is a whole number from {least:,} to {most:,}")
    return value


def _share(name: str, value: object, least: float, most: float) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidInput(f"{name} is out of its range", hint=f"it is a number from {least:g} to {most:g}")
    return float(value)
