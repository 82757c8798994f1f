"""Examples of what `graph` says."""

from __future__ import annotations

from kb.app.facade.graph import link_to_wire, open_to_wire
from kb.contract.graph import GraphLinks, GraphState
from kb.contract.graph_reading import GraphReport
from kb.domain.edges import EdgeRow, OpenTarget
from kb.domain.links import LinkKind, LinkOutcome
from kb.domain.recipes import ItemId

_COUNTS = {"wiki": 12, "link": 5, "tag": 3, "heading": 1, "manual": 1}


def graph_state() -> GraphState:
    """All links read; one may mean two files."""
    unclear = OpenTarget("notes/kb.md", LinkKind.WIKI, "Plan", LinkOutcome.AMBIGUOUS)
    return GraphState(
        state="done",
        documents=9,
        documents_read=9,
        links=_COUNTS,
        removed=1,
        ambiguous=1,
        unresolved=0,
        open_targets=(open_to_wire(unclear),),
    )


def graph_links() -> GraphLinks:
    """A link as written, and one that a person took away."""
    out = EdgeRow(
        outward=True,
        item_id=ItemId("01890a5d-ac96-774b-bcce-b302099a8058"),
        path="notes/plan.md",
        title="Plan",
        kind=LinkKind.WIKI,
        is_manual=False,
        is_active=True,
        evidence="the plan",
    )
    back = EdgeRow(
        outward=False,
        item_id=ItemId("01890a5d-ac96-774b-bcce-b302099a8059"),
        path="inbox/later.md",
        title="Later",
        kind=LinkKind.MANUAL,
        is_manual=True,
        is_active=False,
        evidence="",
    )
    return GraphLinks(
        item_id="01890a5d-ac96-774b-bcce-b302099a8057",
        doc_path="notes/kb.md",
        links=(link_to_wire(out), link_to_wire(back)),
        next=None,
    )


def graph_report() -> GraphReport:
    """Nine files read."""
    return GraphReport(documents=9, links=_COUNTS, ambiguous=1, unresolved=0, duration_ms=40)
