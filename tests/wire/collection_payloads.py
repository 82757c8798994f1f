"""Examples of collections and of searches kept by a name."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

from kb.contract.base import Wire
from kb.contract.collection_settings import CollectionChunking, CollectionRetrieval, CollectionRule
from kb.contract.collections import Collection, CollectionItem, CollectionItems, Collections, CollectionView
from kb.contract.saved_searches import KeptFilters, KeptRequest, SavedSearch, SavedSearches

_NOON = datetime(2026, 4, 27, 15, 42, 11, tzinfo=timezone(timedelta(hours=9)))


def collection_payloads() -> dict[str, Wire]:
    """Return collections with and without settings of their own, what one holds, and kept searches."""
    contracts = Collection(
        collection_id="0196750b-3a00-7000-8000-00000000000c",
        name="계약 2026",
        position=0,
        revision=4,
        archived=False,
        rules=(CollectionRule(kind="folder", value="contracts/**"), CollectionRule(kind="type", value="office")),
        chunking=CollectionChunking(
            mode="parent-child",
            target_characters=1600,
            overlap_characters=160,
            parent_characters=4800,
            child_characters=900,
        ),
        retrieval=CollectionRetrieval(top_k=12, vector_weight=0.5),
        created_at=_NOON,
        updated_at=_NOON + timedelta(days=1),
        items=31,
    )
    plain = contracts.model_copy(
        update={
            "collection_id": "0196750b-3a00-7000-8000-00000000000d",
            "name": "Reading",
            "position": 1,
            "revision": 1,
            "rules": (),
            "chunking": None,
            "retrieval": None,
            "items": None,
            "problems": ("its rules cannot be read and are left out: give them anew",),
        }
    )
    held = CollectionItem(
        item_id="0196750b-3a00-7000-8000-000000000001", doc_path="contracts/임대.docx", state="ready", by="rule"
    )
    put_in = held.model_copy(update={"doc_path": "notes/옛 계약.md", "by": "hand"})
    return {
        "collections": Collections(collections=(contracts, plain)),
        "collection": CollectionView(collection=contracts),
        "collection_items": CollectionItems(items=(held, put_in), next="notes/옛 계약.md"),
        "saved_searches": _saved_searches(),
    }


def _saved_searches() -> SavedSearches:
    filters = KeptFilters(types=("office",), changed_from=date(2026, 1, 1))
    return SavedSearches(
        searches=(
            SavedSearch(
                name="해지 조항",
                request=KeptRequest(query="해지 통보 기간", collections=("계약 2026",), filters=filters),
                created_at=_NOON,
                updated_at=_NOON,
            ),
            SavedSearch(
                name="old",
                request=None,
                created_at=_NOON,
                updated_at=_NOON,
                problem="it cannot be read any more: search anew, and save that under the same name",
            ),
        )
    )
