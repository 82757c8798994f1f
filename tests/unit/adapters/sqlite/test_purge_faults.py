"""A purge that fails at any statement is gone on with by the next one: nothing is left that nobody looks for."""

from __future__ import annotations

import itertools
from contextlib import closing
from pathlib import Path

from kb.adapters.sqlite.documents import SqliteDocumentWriter
from kb.adapters.sqlite.items import SqliteItemStore
from kb.adapters.sqlite.purge import SqlitePurge
from kb.domain.failures import StorageFailed
from tests.builders import MODEL, staged
from tests.unit.adapters.sqlite.test_faults import Fault, open_library


def test_a_purge_that_fails_anywhere_leaves_no_copy_behind(tmp_path: Path) -> None:
    one = staged("a.md", "Only here.")
    for nth in itertools.count(1):
        fault = Fault(nth)
        with closing(open_library(tmp_path / str(nth), fault)) as library:
            documents = SqliteDocumentWriter(library)
            documents.stage(one.item, one.asset, one.document, one.chunks, MODEL)
            documents.activate([one.document.doc_id])
            SqliteItemStore(library).delete_items([one.item.item_id])
            fault.armed = True
            try:
                SqlitePurge(library).purge(0)
                failed = False
            except StorageFailed:
                failed = True
            fault.armed = False
            SqlitePurge(library).purge(0)
            left = {table: library.row(f"SELECT count(*) FROM {table}") for table in ("documents", "assets", "items")}
            assert left == dict.fromkeys(("documents", "assets", "items"), (0,)), nth
            assert [name for (name,) in library.rows("SELECT name FROM removals WHERE kind = 'asset'")] == [
                one.asset.storage_path
            ], nth
        if not failed:
            assert nth > 5
            break
