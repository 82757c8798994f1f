"""Generations: complete sets of index data, each made by one recipe, of which one serves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NewType

from kb.domain.chunks import ChunkPolicy
from kb.domain.embeddings import EmbeddingModel
from kb.domain.ids import Json, id_from
from kb.domain.items import Item, RawAsset

GenerationId = NewType("GenerationId", int)

FIRST = GenerationId(1)
"""The generation every library begins with."""


class GenerationState(StrEnum):
    """building → ready → serving → retired → discarded; a retired one can serve again."""

    BUILDING = "building"
    READY = "ready"
    SERVING = "serving"
    RETIRED = "retired"
    DISCARDED = "discarded"


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that shapes index data.

    Attributes:
        policy: how documents are cut.
        chunker: the version of what cuts them.
        parsers: by media type, what reads such files, with the rules of masking and normalising.
        model: None without vectors.
        model_name: where the model is looked up first; no part of what is made with it.
    """

    policy: ChunkPolicy
    chunker: str
    parsers: Mapping[str, str]
    model: EmbeddingModel | None
    model_name: str = ""

    def fingerprint(self) -> str:
        """Return the id of the recipe."""
        return id_from(
            {
                "kind": "generation",
                "policy": self.policy.hash(),
                "chunker": self.chunker,
                "parsers": dict(self.parsers),
                "model": self.model.fingerprint() if self.model else None,
            }
        )

    def accepts(self, fingerprint: str, now: Mapping[str, str]) -> bool:
        """Return whether what was made with `fingerprint` (parser, chunker and policy) may stay as it is.

        Nothing is read again because a parser or the chunker changed: that is for another generation. What waited for
        a model of recognition that is there `now`, in today's versions of parsers, is read again all the same; so is
        what was masked by other rules: nobody shall find a secret for longer than they have to.
        """
        version, _, cut = fingerprint.partition("|")
        if cut.partition("|")[2] != self.policy.hash():
            return False
        if not is_masked_now(version, now):
            return False
        return _lacks(version) <= frozenset().union(*map(_lacks, now.values()))

    def joined(self, now: Recipe) -> Recipe:
        """Return the recipe with what may be added to index data in place: first vectors, kinds of files not read yet.

        Args:
            now: what the settings and this program would make.
        """
        masked_alike = set(map(_masking, self.parsers.values())) == set(map(_masking, now.parsers.values()))
        parsers = dict(self.parsers if masked_alike else now.parsers)
        for media, version in now.parsers.items():
            if media not in parsers or _lacks(parsers[media]) - _lacks(version):
                parsers[media] = version
        if self.model is not None or now.model is None:
            return replace(self, parsers=parsers)
        policy = replace(self.policy, max_tokens=now.policy.max_tokens)
        return replace(self, policy=policy, parsers=parsers, model=now.model, model_name=now.model_name)

    def differences(self, now: Recipe) -> tuple[str, ...]:
        """Return in sentences what a generation made by the recipe `now` would have otherwise."""
        said: list[str] = []
        if self.model != now.model and now.model is not None:
            before = f"{self.model.id} ({self.model.version})" if self.model else "none"
            said.append(f"embedding model: {before} serves, the settings name {now.model.id} ({now.model.version})")
        wished, served = _wishes(now.policy), _wishes(self.policy)
        said += [
            f"chunking.{key}: {served[key]} serves, the settings say {value}"
            for key, value in wished.items()
            if served.get(key, value) != value
        ]
        if self.chunker != now.chunker and self.policy.mode == now.policy.mode:
            said.append(f"chunker: {self.chunker} serves, this version has {now.chunker}")
        changed = sorted(m for m, version in now.parsers.items() if _is_other(self.parsers.get(m, version), version))
        if changed:
            said.append(f"files are read otherwise by this version: {', '.join(changed)}")
        return tuple(said)

    def to_json(self) -> dict[str, Json]:
        """Return it as kept."""
        return {
            "policy": asdict(self.policy),
            "chunker": self.chunker,
            "parsers": dict(self.parsers),
            "model": asdict(self.model) if self.model else None,
            "model_name": self.model_name,
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Recipe:
        """Return what `to_json` made."""
        model = kept["model"]
        return cls(
            policy=ChunkPolicy(**kept["policy"]),
            chunker=str(kept["chunker"]),
            parsers={str(media): str(version) for media, version in kept["parsers"].items()},
            model=EmbeddingModel(**model) if model else None,
            model_name=str(kept.get("model_name", "")),
        )


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation as kept; no recipe means that nothing has been ingested under one yet."""

    generation_id: GenerationId
    state: GenerationState
    fingerprint: str
    recipe: Recipe | None
    created_at: datetime
    ready_at: datetime | None = None
    switched_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class GenerationCounts:
    """How much of a generation is made.

    Attributes:
        documents: of `documents_total`, the documents that are shown now.
        passages: of these documents; `vectors` of them have one.
        distinct_texts: among the passages.
        failed: documents that could not be read again and stay as they were.
    """

    documents: int
    documents_total: int
    passages: int
    vectors: int
    distinct_texts: int
    failed: int


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item and the bytes that its shown document was made of."""

    item: Item
    asset: RawAsset


def is_masked_now(version: str, now: Mapping[str, str]) -> bool:
    """Return whether what a parser of this version made was masked as today's parsers do (`kb.ingest.making`)."""
    return _masking(version) in set(map(_masking, now.values()))


def _wishes(policy: ChunkPolicy) -> dict[str, object]:
    """Return the settings of a policy; the window is the model's, which is told apart."""
    if policy.mode == "parent-child":
        sizes: tuple[str, ...] = ("parent_characters", "child_characters", "overlap_characters")
    else:
        sizes = ("target_characters", "overlap_characters")
    return {"mode": policy.mode, **{name: policy.settings[name] for name in sizes}}


def _is_other(served: str, version: str) -> bool:
    # An engine that is missing today is no reason to do without what it read.
    return served != version and not _lacks(version) - _lacks(served)


def _masking(version: str) -> str:
    """Return the rules of masking: the last part of a parser's version but for what a document lacks."""
    return next(part for part in reversed(version.split("+")) if not part.startswith("lacking-"))


def _lacks(version: str) -> frozenset[str]:
    """Return which engines a parser's version says are missing."""
    return frozenset(part for part in version.split("+") if part == "none" or part.startswith("no-"))
