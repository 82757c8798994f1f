"""Block payloads, metadata and provenance as JSON, and back."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from kb.adapters.sqlite.json_text import compact
from kb.domain.blocks import Code, Heading, MediaRef, Payload, Prose, Table
from kb.domain.documents import CanonicalDocument, ParseWarning
from kb.domain.inlines import Inline, Link, Styled
from kb.domain.metadata import Metadata, ProvenanceEvent, ProvenanceKind, SourceType, TrustLevel

_NO_PROSE = '{"kind":"prose"}'


def payload_json(payload: Payload) -> str:
    """Return a payload as JSON; the block's text stands in the chunks and the original."""
    match payload:
        case Prose(inlines=(), ordered=False):
            return _NO_PROSE
        case Heading(level):
            return f'{{"kind":"heading","level":{level}}}'
        case Code(language):
            return compact({"kind": "code", "language": language})
        case Prose(inlines, ordered):
            return compact({"kind": "prose", "inlines": [_fields(inline) for inline in inlines], "ordered": ordered})
        case Table(headers, rows):
            return compact({"kind": "table", "headers": headers, "rows": rows})
        case MediaRef(src, alt):
            return compact({"kind": "media", "src": src, "alt": alt})


def payload_from(text: str) -> Payload:
    """Read a payload."""
    values: dict[str, Any] = json.loads(text)
    match values["kind"]:
        case "heading":
            return Heading(values["level"])
        case "code":
            return Code(values["language"])
        case "table":
            return Table(tuple(values["headers"]), tuple(map(tuple, values["rows"])))
        case "media":
            return MediaRef(values["src"], values["alt"])
        case _:
            inlines = tuple(_inline(inline) for inline in values.get("inlines", ()))
            return Prose(inlines, bool(values.get("ordered")))


def _inline(fields: dict[str, Any]) -> Inline:
    return Link(**fields) if "href" in fields else Styled(**fields)


def _fields(inline: Inline) -> dict[str, Any]:
    # As `asdict`, which copies every value deeply and made up a tenth of storing a document.
    return {name: getattr(inline, name) for name in type(inline).__slots__}


def metadata_json(metadata: Metadata) -> str:
    """Return what has no column of its own."""
    return compact(
        {
            "aliases": metadata.aliases,
            "tags": metadata.tags,
            "user_id_alias": metadata.user_id_alias,
            "user": dict(metadata.user),
        }
    )


def metadata_from(text: str, row: tuple[str, str, str, str]) -> Metadata:
    """Read metadata; `row` is created_at, updated_at, source_type, trust_level."""
    values: dict[str, Any] = json.loads(text)
    created, updated, source_type, trust_level = row
    return Metadata(
        aliases=tuple(values["aliases"]),
        tags=tuple(values["tags"]),
        created_at=datetime.fromisoformat(created),
        updated_at=datetime.fromisoformat(updated),
        source_type=SourceType(source_type),
        trust_level=TrustLevel(trust_level),
        user_id_alias=values["user_id_alias"],
        user=values["user"],
    )


def provenance_json(document: CanonicalDocument) -> str:
    """Return the steps a document went through."""
    return compact([[e.at.isoformat(), e.agent, e.kind.value, e.note] for e in document.provenance])


def provenance_from(text: str) -> tuple[ProvenanceEvent, ...]:
    """Read the steps a document went through."""
    return tuple(
        ProvenanceEvent(datetime.fromisoformat(at), agent, ProvenanceKind(kind), note)
        for at, agent, kind, note in json.loads(text)
    )


def warnings_json(document: CanonicalDocument) -> str:
    """Return what the parser bent."""
    return compact([[w.kind, w.note] for w in document.warnings])


def warnings_from(text: str) -> tuple[ParseWarning, ...]:
    """Read what the parser bent."""
    return tuple(ParseWarning(kind, note) for kind, note in json.loads(text))
