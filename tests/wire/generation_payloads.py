"""Examples of generations on the wire."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from kb.contract.base import Wire
from kb.contract.generations import Generation, GenerationReport, Generations
from kb.contract.replay import GenerationPreview, ReplayedPassage, ReplayedQuestion

_NOON = datetime(2026, 4, 27, 15, 42, 11, tzinfo=timezone(timedelta(hours=9)))


def generation_payloads() -> dict[str, Wire]:
    """Return one being built beside one that serves, what a build did, and what a switch would change."""
    serving = _serving()
    building = serving.model_copy(
        update={
            "id": 2,
            "state": "building",
            "fingerprint": "9b4a8c1e7d3f2a059b4a8c1e7d3f2a05",
            "embedding_model": "bge-m3",
            "dimensions": 1024,
            "documents": 9,
            "passages": 14,
            "vectors": 3,
        }
    )
    pending = "embedding model: multilingual-e5-small (1-int8) serves, the settings name bge-m3 (1)"
    lost = ReplayedPassage(
        uri="notes/kb.md#L12-L34",
        doc_path="notes/kb.md",
        quote="The backup runs on Sunday at 03:00.",
        rank_before=2,
        rank_after=None,
    )
    gained = lost.model_copy(update={"uri": "notes/kb.md#L60", "rank_before": None, "rank_after": 5})
    return {
        "generations": Generations(serving=1, pending=(pending,), generations=(building, serving)),
        "generation_report": GenerationReport(
            generation=2,
            serving=1,
            documents=16,
            passages=24,
            distinct_texts=23,
            embedded=20,
            reused=3,
            failed=1,
            duration_ms=5300,
        ),
        "generation_preview": GenerationPreview(
            generation=2,
            serving=1,
            questions=8,
            unchanged=7,
            changed=(ReplayedQuestion(question="When does the backup run?", kept=5, gained=(gained,), lost=(lost,)),),
        ),
    }


def _serving() -> Generation:
    return Generation(
        id=1,
        state="serving",
        fingerprint="3f9a2c10ee4d6b783f9a2c10ee4d6b78",
        embedding_model="multilingual-e5-small",
        dimensions=384,
        chunk_mode="structure",
        target_characters=1600,
        overlap_characters=160,
        chunker_version="structure-v1",
        created_at=_NOON,
        ready_at=None,
        switched_at=None,
        documents=16,
        documents_total=16,
        passages=24,
        vectors=24,
    )
