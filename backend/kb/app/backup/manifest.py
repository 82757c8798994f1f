"""The manifest of a backup as JSON."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from kb.domain.backups import BackupMember, LibraryCounts, LibraryFacts, Manifest, is_member
from kb.domain.errors import Unreadable

FORMAT = 1
_CHECKSUM = re.compile(r"[0-9a-f]{64}\Z")
_MOST_BYTES = 1 << 50


def manifest_bytes(manifest: Manifest) -> bytes:
    """Return a manifest as JSON; a member is `[size, blake3]` under its name."""
    facts, counts = manifest.facts, manifest.facts.counts
    value = {
        "format": FORMAT,
        "created_at": manifest.created_at.isoformat(),
        "version": manifest.version,
        "library_id": facts.library_id,
        "schema": facts.schema,
        "changed_at": facts.changed_at.isoformat() if facts.changed_at else None,
        "counts": {name: getattr(counts, name) for name in LibraryCounts.__slots__},
        "missing": list(manifest.missing),
        "members": {member.name: [member.size, member.checksum] for member in manifest.members},
    }
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def manifest_of(data: bytes) -> Manifest:
    """Return the manifest in some JSON, trusting none of it.

    Raises:
        Unreadable: it is no manifest, or of a later format.
    """
    try:
        value = json.loads(data)
        form = value["format"]
        if isinstance(form, int) and form > FORMAT:
            raise Unreadable("the backup was made by a newer Kebab", hint="update Kebab", reason="newer")
        return _manifest(value)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable("the backup's list of contents is damaged", hint=OTHER_BACKUP, reason="damaged") from error


def _manifest(value: dict[str, Any]) -> Manifest:
    if value["format"] != FORMAT:
        raise ValueError(FORMAT)
    changed = value["changed_at"]
    facts = LibraryFacts(
        library_id=_text(value["library_id"]),
        schema=_number(value["schema"]),
        changed_at=_time(changed) if changed is not None else None,
        counts=LibraryCounts(**{name: _number(value["counts"][name]) for name in LibraryCounts.__slots__}),
    )
    members = tuple(_member(name, size, checksum) for name, (size, checksum) in value["members"].items())
    missing = tuple(_text(name) for name in value["missing"])
    return Manifest(_time(value["created_at"]), _text(value["version"]), facts, members, missing)


def _member(name: str, size: object, checksum: object) -> BackupMember:
    if not is_member(name) or not isinstance(checksum, str) or not _CHECKSUM.match(checksum):
        raise ValueError(name)
    return BackupMember(name, _number(size), checksum)


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_BYTES:
        raise ValueError(value)
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > 200:  # noqa: PLR2004
        raise TypeError
    return value


def _time(value: object) -> datetime:
    time = datetime.fromisoformat(_text(value))
    if time.tzinfo is None:
        raise ValueError(value)
    return time


OTHER_BACKUP = "use another backup: `kb backup list` shows those in the library's own folder"
