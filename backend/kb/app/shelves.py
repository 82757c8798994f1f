"""Parts of the facade put together from parts of the library."""

from __future__ import annotations

from kb.app.bootstrap import Parts
from kb.app.facade.events import Events
from kb.app.facade.versions import VersionShelf
from kb.app.work import JobDesk
from kb.domain.jobs import JobKind
from kb.domain.recipes import ItemId


def version_shelf(parts: Parts, desk: JobDesk, events: Events) -> VersionShelf:
    """Return what shows the versions of items, purges them, and takes items in and out."""
    storage = parts.settings.storage

    def include(item_id: ItemId, included: bool) -> None:  # noqa: FBT001 - it is what is said
        parts.include(item_id, included=included)
        events.changed("documents", "items")

    return VersionShelf(
        parts.versions,
        parts.reading,
        keep_versions=storage.kept_versions,
        expected=lambda keep: parts.purge().expected(keep, storage.keep_deleted_days),
        start=lambda keep: desk.start(JobKind.PURGE, {"keep_versions": keep}),
        look=parts.job_control.get,
        include=include,
    )
