"""What a run does to the library, file by file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kb.domain.errors import NotFound, Unreadable
from kb.domain.files import ScanProblem
from kb.domain.items import ItemState
from kb.domain.paths import WorkspacePath
from kb.ingest.report import ItemKind
from tests.unit.ingest.world import World, counts


def test_an_empty_workspace_is_a_run_with_nothing_to_do() -> None:
    report = World().ingest()
    assert counts(report) == {}
    assert report.items == ()


def test_a_missing_workspace_is_said_so_with_the_command_that_makes_one() -> None:
    world = World()
    world.files.missing = True
    with pytest.raises(NotFound) as caught:
        world.ingest()
    assert "kb init" in caught.value.hint


def test_new_files_become_visible_with_text_and_vectors() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.files.write("b/c.md", "Bananas are yellow.")
    report = world.ingest()
    assert counts(report) == {"scanned": 2, "new": 2, "embedded": 2}
    assert world.library.visible() == {"a.md": ["Apples are red."], "b/c.md": ["Bananas are yellow."]}
    assert world.text_index.texts() == ["Apples are red.", "Bananas are yellow."]
    assert len(world.scan_index.rows) == len(world.chroma.rows) == 2


def test_an_unchanged_workspace_is_not_read_again() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.ingest()
    world.files.reads.clear()
    report = world.ingest()
    assert counts(report) == {"scanned": 1, "skipped": 1}
    assert world.files.reads == []
    assert report.items is not None
    assert report.items[0].doc_id == world.library.item("a.md").active_doc_id


def test_a_file_with_a_new_time_and_the_same_bytes_is_only_touched() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.ingest()
    world.files.touch("a.md")
    assert counts(world.ingest()) == {"scanned": 1, "skipped": 1}
    world.files.reads.clear()
    world.ingest()
    assert world.files.reads == []


def test_a_changed_file_replaces_its_document_everywhere() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.ingest()
    world.files.write("a.md", "Apples are green.")
    assert counts(world.ingest()) == {"scanned": 1, "updated": 1, "embedded": 1}
    assert world.library.visible() == {"a.md": ["Apples are green."]}
    assert world.text_index.texts() == ["Apples are green."]
    assert len(world.scan_index.rows) == 1


def test_a_moved_file_keeps_its_item_and_is_not_embedded_again() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.ingest()
    item_id = world.library.item("a.md").item_id
    world.files.move("a.md", "fruit/apple.md")
    report = world.ingest()
    assert counts(report) == {"scanned": 1, "renamed": 1}
    assert report.items is not None
    assert (report.items[0].kind, report.items[0].renamed_from) == (ItemKind.RENAMED, "a.md")
    assert world.library.item("fruit/apple.md").item_id == item_id
    assert world.library.visible() == {"fruit/apple.md": ["Apples are red."]}
    assert world.embedded() == 1
    assert len(world.scan_index.rows) == 1


def test_equal_bytes_at_two_places_are_embedded_once_and_listed_twice() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.files.write("b.md", "Apples are red.")
    report = world.ingest()
    assert counts(report) == {"scanned": 2, "new": 2, "embedded": 1}
    assert len(world.library.visible()) == len(world.text_index.texts()) == len(world.scan_index.rows) == 2
    assert len(world.assets.copies) == 1


def test_a_deleted_file_leaves_every_index_in_the_same_run() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.files.write("b.md", "Bananas are yellow.")
    world.ingest()
    world.files.remove("a.md")
    assert counts(world.ingest()) == {"scanned": 1, "skipped": 1, "deleted": 1}
    assert world.library.visible() == {"b.md": ["Bananas are yellow."]}
    assert world.text_index.texts() == ["Bananas are yellow."]
    assert len(world.scan_index.rows) == 1


def test_a_run_over_one_folder_leaves_the_others_alone() -> None:
    world = World()
    world.files.write("a/x.md", "Apples are red.")
    world.files.write("b/y.md", "Bananas are yellow.")
    world.ingest()
    world.files.remove("a/x.md")
    world.files.remove("b/y.md")
    assert counts(world.ingest("a")) == {"deleted": 1}
    assert list(world.library.visible()) == ["b/y.md"]


def test_what_lies_below_a_closed_folder_is_not_taken_for_deleted() -> None:
    world = World()
    world.files.write("a/x.md", "Apples are red.")
    world.ingest()
    world.files.remove("a/x.md")
    world.files.problems = [ScanProblem("a", "permission", "no permission to look into the folder", is_folder=True)]
    report = world.ingest()
    assert counts(report) == {"scanned": 1, "skipped": 1}
    assert report.items is not None
    assert report.items[0].error == "no permission to look into the folder"
    assert list(world.library.visible()) == ["a/x.md"]


def test_a_file_of_a_kind_nothing_reads_is_kept_with_the_reason() -> None:
    world = World()
    world.files.write("a.pdf", b"%PDF-1.7")
    report = world.ingest()
    assert counts(report) == {"scanned": 1, "skipped": 1, "unsupported": 1}
    assert report.items is not None
    assert report.items[0].error == "PDF files are not read by this version"
    assert world.library.item("a.pdf").state is ItemState.UNSUPPORTED
    world.files.reads.clear()
    assert counts(world.ingest(summary_only=True)) == {"scanned": 1, "skipped": 1, "unsupported": 1}
    assert world.files.reads == []


def test_a_kind_that_a_newer_version_reads_is_taken_up_by_itself() -> None:
    world = World()
    world.files.write("a.pdf", "Apples are red.")
    world.ingest()
    world.parser.media_types |= {world.files.media_type(world.library.item("a.pdf").path, b"")}
    assert counts(world.ingest()) == {"scanned": 1, "updated": 1, "embedded": 1}


def test_a_newer_parser_makes_every_document_again_without_embedding() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.ingest()
    world.parser.version = "lines-2"
    assert counts(world.ingest()) == {"scanned": 1, "updated": 1}
    assert world.embedded() == 1


def test_an_empty_file_is_an_item_without_a_document() -> None:
    world = World()
    world.files.write("a.md", "\n")
    report = world.ingest()
    assert counts(report) == {"scanned": 1, "skipped": 1}
    assert report.items is not None
    assert report.items[0].error == "there is no text in it"
    assert world.library.item("a.md").state is ItemState.EMPTY


def test_an_empty_result_never_replaces_a_good_version() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.ingest()
    world.files.write("a.md", "")
    report = world.ingest()
    assert world.library.visible() == {"a.md": ["Apples are red."]}
    assert report.items is not None
    assert "its last version with text is still searched" in str(report.items[0].error)
    world.files.write("a.md", "Apples are blue.")
    world.ingest()
    assert world.library.visible() == {"a.md": ["Apples are blue."]}


@pytest.mark.parametrize(("text", "reason"), [("!binary", "binary"), ("!bug", "internal")])
def test_a_file_that_cannot_be_parsed_costs_that_file_only(text: str, reason: str) -> None:
    world = World()
    world.files.write("a.md", text)
    world.files.write("b.md", "Bananas are yellow.")
    report = world.ingest()
    assert counts(report) == {"scanned": 2, "new": 1, "errors": 1, "embedded": 1}
    item = world.library.item("a.md")
    assert item.state is ItemState.FAILED
    assert str(item.reason).startswith(f"{reason}: ")


def test_a_failed_file_is_an_error_once_and_skipped_while_it_stays_the_same() -> None:
    world = World()
    world.files.write("a.md", "!binary")
    assert counts(world.ingest()) == {"scanned": 1, "errors": 1}
    assert counts(world.ingest()) == {"scanned": 1, "skipped": 1}
    world.files.write("a.md", "!binary again")
    assert counts(world.ingest()) == {"scanned": 1, "errors": 1}
    assert counts(world.ingest(retry=True)) == {"scanned": 1, "errors": 1}
    world.files.write("a.md", "Apples are red.")
    assert counts(world.ingest()) == {"scanned": 1, "updated": 1, "embedded": 1}
    assert world.library.item("a.md").reason is None


def test_a_failure_keeps_the_good_version_before_it() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.ingest()
    world.files.write("a.md", "!binary")
    assert counts(world.ingest()) == {"scanned": 1, "errors": 1}
    assert world.library.visible() == {"a.md": ["Apples are red."]}


def test_a_file_without_permission_is_tried_again_without_being_told() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.files.errors["a.md"] = Unreadable("no permission to read a.md", reason="permission")
    assert counts(world.ingest()) == {"scanned": 1, "errors": 1}
    assert counts(world.ingest()) == {"scanned": 1, "skipped": 1}
    world.files.errors.clear()
    assert counts(world.ingest()) == {"scanned": 1, "updated": 1, "embedded": 1}


def test_a_new_file_that_vanishes_before_it_is_read_leaves_nothing_behind() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.files.errors["a.md"] = Unreadable("a.md is gone", reason="vanished")
    report = world.ingest()
    assert counts(report) == {"scanned": 1, "errors": 1}
    assert report.items is not None
    assert report.items[0].error == "a.md is gone"
    assert world.library.live_items() == {}


def test_a_known_file_that_vanishes_before_it_is_read_is_deleted() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.ingest()
    world.files.write("a.md", "Apples are green.")
    world.files.errors["a.md"] = Unreadable("a.md is gone", reason="vanished")
    assert counts(world.ingest()) == {"scanned": 1, "deleted": 1}
    assert world.library.visible() == {}
    assert world.text_index.texts() == []


def test_a_name_in_another_unicode_form_is_noted_without_reading() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.ingest()
    item = world.library.item("a.md")
    world.library.stored.items[item.item_id] = replace(item, disk_name="ä.md")
    world.files.reads.clear()
    world.ingest()
    assert world.files.reads == []
    assert world.library.item("a.md").disk_name == "a.md"


def test_a_summary_has_the_numbers_and_no_lines() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    report = world.ingest(summary_only=True)
    assert report.items is None
    assert counts(report) == {"scanned": 1, "new": 1, "embedded": 1}


def test_the_line_of_a_new_file_says_how_it_was_read() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.\nPears are green, most of the year.")
    report = world.ingest()
    assert report.items is not None
    (line,) = report.items
    assert (line.kind, line.doc_path, line.byte_len, line.block_count, line.chunk_count) == ("new", "a.md", 50, 2, 2)
    assert line.parser_version == "lines-1+normalise-v1+unmasked"
    assert line.chunker_version == "structure-v1"
    assert line.item_id == world.library.item("a.md").item_id


def test_old_versions_beyond_those_kept_are_purged_with_their_copies() -> None:
    world = World()
    for number in range(4):
        world.files.write("a.md", f"Apples, version {number}.")
        world.ingest(keep_versions=2)
    assert len(world.assets.discarded) == 1
    assert len(world.assets.copies) == 3
    assert world.library.visible() == {"a.md": ["Apples, version 3."]}


def test_a_file_that_was_away_for_a_while_is_the_item_it_was() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.ingest()
    known = world.library.live_items()[WorkspacePath("a.md")].item_id
    world.files.remove("a.md")
    assert world.ingest().deleted == 1
    world.files.write("a.md", "Apples are red.")
    assert world.ingest().new == 1
    assert world.library.live_items()[WorkspacePath("a.md")].item_id == known
    assert world.library.visible() != {}


def test_another_text_under_the_name_of_a_file_that_is_gone_is_another_item() -> None:
    world = World()
    world.files.write("a.md", "Apples are red.")
    world.ingest()
    known = world.library.live_items()[WorkspacePath("a.md")].item_id
    world.files.remove("a.md")
    world.ingest()
    world.files.write("a.md", "Pears are green.")
    world.ingest()
    assert world.library.live_items()[WorkspacePath("a.md")].item_id != known
