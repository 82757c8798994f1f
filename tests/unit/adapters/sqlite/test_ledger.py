"""What became of every part of a file is kept with it, and what was masked, without the secrets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.sqlite.catalogue import SqliteCatalogue
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.ledger import coverage_from, coverage_json, masked_from, masked_json, unread_units
from kb.adapters.sqlite.reading import SqliteReading
from kb.domain.coverage import CoverageUnit
from kb.domain.items import Item, ItemState, MediaType
from kb.domain.masking import MaskedSecret
from kb.domain.spans import PageSpan
from tests.builders import an_item, path_of, staged
from tests.contracts.library import Ports

MIXED = (
    CoverageUnit("page", 1, 3, "text"),
    CoverageUnit("page", 4, 4, "ocr", 0.93),
    CoverageUnit("page", 5, 5, "blank"),
    CoverageUnit("page", 6, 7, "failed", reason="damaged"),
    CoverageUnit("page", 8, 8, "waiting", reason="ocr_model"),
)
KEY = MaskedSecret("aws_key", "[aws_key 1]", "text", PageSpan(4, 10, 30))


@pytest.fixture
def catalogue(library: Library) -> SqliteCatalogue:
    return SqliteCatalogue(library)


@given(
    st.lists(
        st.builds(
            CoverageUnit,
            st.sampled_from(["page", "second", "sheet", "cell"]),
            st.integers(1, 9),
            st.integers(9, 99),
            st.sampled_from(["text", "ocr", "failed", "waiting"]),
            st.none() | st.floats(0, 1),
            st.none() | st.text(),
        )
    )
)
def test_a_ledger_reads_back_as_it_was(units: list[CoverageUnit]) -> None:
    assert coverage_from(coverage_json(units)) == tuple(units)


def test_what_was_masked_reads_back_as_it_was() -> None:
    secrets = (KEY, MaskedSecret("password", "[password 2]", "title"))
    assert masked_from(masked_json(secrets)) == secrets


def test_failed_and_waiting_units_are_counted_by_their_ranges() -> None:
    assert unread_units(MIXED) == 3


def test_the_ledger_of_a_document_is_kept_with_it(ports: Ports, library: Library, catalogue: SqliteCatalogue) -> None:
    one = staged("a.pdf", "One.", media_type=MediaType.PDF)
    document = replace(one.document, coverage=MIXED, masked=(KEY,), line_count=0)
    ports.publish(replace(one, document=document))
    assert catalogue.coverage(document.doc_id) == MIXED
    row = catalogue.item_at(path_of("a.pdf"))
    assert row is not None
    assert (row.kinds, row.is_of_document) == (("page",), True)
    assert row.totals == {"text": 3, "ocr": 1, "blank": 1, "failed": 2, "skipped": 0, "waiting": 1}
    assert row.unread == MIXED[3:]
    details = SqliteReading(library).details(document.doc_id)
    assert details is not None
    assert details.masked == (KEY,)


def test_staging_a_document_again_renews_its_ledger(ports: Ports, catalogue: SqliteCatalogue) -> None:
    one = staged("a.pdf", "One.", media_type=MediaType.PDF)
    ports.publish(replace(one, document=replace(one.document, coverage=MIXED)))
    read = (CoverageUnit("page", 1, 8, "text"),)
    ports.publish(replace(one, document=replace(one.document, coverage=read)))
    assert catalogue.coverage(one.document.doc_id) == read
    assert catalogue.items(attention=True).entries == ()


@pytest.mark.parametrize(
    ("state", "reason", "unit"),
    [
        (ItemState.FAILED, "damaged: it cannot be opened", CoverageUnit("section", 1, 1, "failed", reason="damaged")),
        (ItemState.FAILED, "no word before it", CoverageUnit("section", 1, 1, "failed", reason="unreadable")),
        (ItemState.WAITING, "ocr_model: a scan", CoverageUnit("section", 1, 1, "waiting", reason="ocr_model")),
        (ItemState.UNSUPPORTED, None, CoverageUnit("section", 1, 1, "skipped", reason="unsupported")),
        (ItemState.EMPTY, "empty: there is no text in it", CoverageUnit("section", 1, 1, "blank")),
    ],
)
def test_a_file_without_a_document_is_accounted_for_as_a_whole(
    ports: Ports, catalogue: SqliteCatalogue, state: ItemState, reason: str | None, unit: CoverageUnit
) -> None:
    ports.items.save_item(replace(an_item("a.bin", state=state), reason=reason))
    row = catalogue.item_at(path_of("a.bin"))
    assert row is not None
    assert sum(row.totals.values()) == row.totals[unit.state] == 1
    assert row.unread == ((unit,) if unit.state in {"failed", "waiting"} else ())


def test_the_ledger_of_a_file_without_a_document_is_kept_with_the_file(
    ports: Ports, catalogue: SqliteCatalogue
) -> None:
    scan = replace(an_item("scan.pdf", state=ItemState.WAITING), coverage=MIXED)
    ports.items.save_item(scan)
    assert ports.items.live_items()[path_of("scan.pdf")].coverage == MIXED
    row = catalogue.item_at(path_of("scan.pdf"))
    assert row is not None
    assert (row.unread, row.is_of_document) == (MIXED[3:], False)
    ports.items.save_item(replace(scan, coverage=()))
    assert ports.items.live_items()[path_of("scan.pdf")].coverage == ()


def test_a_file_that_fails_now_shows_its_own_ledger_and_not_that_of_its_earlier_version(
    ports: Ports, catalogue: SqliteCatalogue
) -> None:
    one = staged("a.pdf", "One.", media_type=MediaType.PDF)
    ports.publish(replace(one, document=replace(one.document, coverage=(CoverageUnit("page", 1, 2, "text"),))))
    now: Item = ports.items.live_items()[path_of("a.pdf")]
    ports.items.save_item(replace(now, state=ItemState.FAILED, reason="damaged: it cannot be opened"))
    row = catalogue.item_at(path_of("a.pdf"))
    assert row is not None
    assert (row.totals["failed"], row.totals["text"], row.is_of_document) == (1, 0, False)


def test_files_that_failed_or_wait_in_part_want_attention(ports: Ports, catalogue: SqliteCatalogue) -> None:
    mixed = staged("mixed.pdf", "One.", media_type=MediaType.PDF)
    ports.publish(staged("good.md", "Two."), replace(mixed, document=replace(mixed.document, coverage=MIXED)))
    ports.items.save_item(an_item("bad.pdf", state=ItemState.FAILED))
    ports.items.save_item(an_item("later.wav", state=ItemState.WAITING))
    ports.items.save_item(an_item("tool.exe", state=ItemState.UNSUPPORTED))
    wanted = ["bad.pdf", "later.wav", "mixed.pdf"]
    assert [row.item.path for row in catalogue.items(attention=True).entries] == wanted
    assert catalogue.summary(None).attention == 3
    assert [r.item.path for r in catalogue.items(state=ItemState.FAILED, attention=True).entries] == ["bad.pdf"]
