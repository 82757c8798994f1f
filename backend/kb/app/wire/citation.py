"""Citations on the wire."""

from __future__ import annotations

from kb.contract import citation as wire
from kb.contract.base import Wire
from kb.domain.citations import Citation
from kb.domain.places import (
    CaptionPlace,
    LinePlace,
    PagePlace,
    PartPlace,
    RegionPlace,
    SheetPlace,
    TimePlace,
)


def citation_to_wire(citation: Citation) -> wire.Citation:
    """Return a citation as `citation.v1`, with only the part its kind names."""
    kind, part = _part(citation)
    return wire.Citation.model_validate({"kind": kind, "path": citation.path, "uri": citation.to_uri(), kind: part})


def _part(citation: Citation) -> tuple[str, Wire]:
    section = citation.section
    match citation.place:
        case LinePlace(start, end):
            return "line", wire.LinePart(start=start, end=end, section=section)
        case PagePlace(start, end):
            return "page", wire.PagePart(page=start, section=section, end=end if end != start else None)
        case TimePlace(start_ms, end_ms):
            return "time", wire.TimePart(start_ms=start_ms, end_ms=end_ms, speaker=citation.speaker)
        case PartPlace(kind, number):
            return kind, wire.NumberPart(number=number, section=section)
        case RegionPlace() | CaptionPlace() | SheetPlace() as place:
            return _spread(place)


def _spread(place: RegionPlace | CaptionPlace | SheetPlace) -> tuple[str, Wire]:
    match place:
        case RegionPlace(x, y, w, h, page):
            return "region", wire.RegionPart(x=x, y=y, w=w, h=h, page=page)
        case CaptionPlace(model):
            return "caption", wire.CaptionPart(model=model)
        case SheetPlace(name, cells):
            return "sheet", wire.SheetPart(name=name, cells=cells)
