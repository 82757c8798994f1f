"""Attachments and archive members: items of their own that live and go with their container."""

from __future__ import annotations

import pytest

from kb.domain.documents import Member
from kb.domain.files import FileIdentity, ScannedFile, ScanProblem, Scope
from kb.domain.items import Item, ItemState, MediaType
from kb.domain.paths import WorkspacePath
from kb.ingest.members import member_changes
from kb.ingest.pipeline import IngestRun
from kb.ingest.plan import Change
from kb.ingest.run_ports import IngestOptions
from tests.fakes.reading import FakeFormatReader, PagesParser
from tests.unit.ingest.world import World, counts

ZIPS = frozenset({MediaType.ARCHIVE, MediaType.PDF})


def world() -> World:
    return World(reader=FakeFormatReader(PagesParser(ZIPS)))


def items(world: World) -> dict[str, Item]:
    return {str(path): item for path, item in world.library.live_items().items()}


def test_an_attachment_is_an_item_of_its_own_and_is_found_by_its_words() -> None:
    w = world()
    w.files.write("mail.zip", "dear reader\n@report.md all sales doubled")
    assert counts(w.ingest()) == {"scanned": 2, "new": 2, "embedded": 2}
    assert w.library.visible() == {"mail.zip": ["dear reader"], "mail.zip!/report.md": ["all sales doubled"]}


def test_a_container_without_words_says_that_its_files_are_items() -> None:
    w = world()
    w.files.write("box.zip", "@a.md one\n@b.md two")
    w.files.write("case.zip", "@a.md three")
    w.ingest()
    box, case = items(w)["box.zip"], items(w)["case.zip"]
    assert box.state is case.state is ItemState.EMPTY
    assert box.reason == "members: it has no text of its own; the 2 files in it are items of their own"
    assert case.reason == "members: it has no text of its own; the one file in it is an item of its own"


def test_members_stay_while_their_container_is_unchanged() -> None:
    w = world()
    w.files.write("box.zip", "words\n@a.md one")
    w.ingest()
    before = items(w)
    assert counts(w.ingest()) == {"scanned": 2, "skipped": 2}
    w.files.touch("box.zip")
    assert counts(w.ingest()) == {"scanned": 1, "skipped": 1}
    assert {path: item.item_id for path, item in items(w).items()} == {p: i.item_id for p, i in before.items()}
    assert w.embedded() == 2


def test_a_member_that_left_is_deleted_one_that_moved_keeps_its_id() -> None:
    w = world()
    w.files.write("box.zip", "words\n@a.md one\n@b.md two")
    w.ingest()
    before = items(w)
    w.files.write("box.zip", "words\n@renamed.md one")
    report = w.ingest()
    assert counts(report) == {"scanned": 2, "updated": 1, "renamed": 1, "deleted": 1}
    after = items(w)
    assert set(after) == {"box.zip", "box.zip!/renamed.md"}
    assert after["box.zip!/renamed.md"].item_id == before["box.zip!/a.md"].item_id


def test_members_go_with_their_container_and_follow_it_when_it_is_renamed() -> None:
    w = world()
    w.files.write("box.zip", "words\n@a.md one")
    w.ingest()
    before = items(w)
    w.files.move("box.zip", "case.zip")
    assert counts(w.ingest()) == {"scanned": 2, "renamed": 2}
    assert items(w)["case.zip!/a.md"].item_id == before["box.zip!/a.md"].item_id
    w.files.remove("case.zip")
    assert counts(w.ingest()) == {"deleted": 2}
    assert items(w) == {}


def test_the_members_of_a_container_that_vanishes_while_read_go_too() -> None:
    w = world()
    w.files.write("box.zip", "words\n@a.md one")
    w.ingest()
    w.files.write("box.zip", "other\n@a.md one")

    def vanish(path: str) -> None:
        w.files.contents.pop(path, None)

    w.files.before_read = vanish
    assert counts(w.ingest()) == {"scanned": 1, "deleted": 2}


def test_a_container_that_cannot_be_read_any_more_keeps_what_was_in_it() -> None:
    w = world()
    w.files.write("box.zip", "words\n@a.md one")
    w.ingest()
    w.files.write("box.zip", "!damaged")
    assert counts(w.ingest()) == {"scanned": 1, "errors": 1}
    assert w.library.visible() == {"box.zip": ["words"], "box.zip!/a.md": ["one"]}


def test_a_member_that_failed_is_tried_again_with_its_container() -> None:
    w = world()
    w.files.write("box.zip", "words\n@a.pdf !damaged")
    assert counts(w.ingest()) == {"scanned": 2, "new": 1, "errors": 1, "embedded": 1}
    assert counts(w.ingest()) == {"scanned": 2, "skipped": 2}
    assert counts(w.ingest(retry=True)) == {"scanned": 2, "updated": 1, "errors": 1}


def test_containers_in_containers_are_opened_to_a_depth_and_no_further() -> None:
    w = world()
    w.files.write("1.zip", "one\n@2.zip @3.zip @4.zip deepest words")
    w.ingest()
    found = items(w)
    assert set(found) == {"1.zip", "1.zip!/2.zip", "1.zip!/2.zip!/3.zip", "1.zip!/2.zip!/3.zip!/4.zip"}
    deepest = found["1.zip!/2.zip!/3.zip!/4.zip"]
    assert deepest.state is ItemState.FAILED
    assert deepest.reason is not None
    assert deepest.reason.startswith("nested_too_deep: ")


def test_files_of_other_kinds_hold_each_other_to_the_same_depth() -> None:
    w = world()
    w.files.write("1.pdf", "one\n@2.pdf @3.pdf @4.pdf @5.pdf @6.pdf words without end")
    w.ingest()
    found = items(w)
    deepest = found["1.pdf!/2.pdf!/3.pdf!/4.pdf!/5.pdf"]
    assert deepest.reason is not None
    assert deepest.reason.startswith("nested_too_deep: ")
    assert len(found) == 5


def test_archives_in_archives_may_not_come_to_any_size() -> None:
    w = world()
    words = "ten bytes " * 15
    w.files.write("box.zip", "\n".join(f"@{number}.zip @a.md {words}" for number in range(5)))
    w.files.write("other.zip", f"@0.zip @a.md {words}")
    IngestRun(w.ports(), Scope(), IngestOptions(most_unpacked=3 * len(words))).run()
    reasons = {path: (item.reason or "").partition(":")[0] for path, item in items(w).items()}
    assert [reasons[f"box.zip!/{number}.zip"] for number in range(5)] == ["members"] * 3 + ["expands_too_much"] * 2
    assert (reasons["box.zip"], reasons["other.zip!/0.zip"]) == ("members", "members")


def test_what_left_a_nested_container_is_deleted_with_all_it_held() -> None:
    w = world()
    w.files.write("1.zip", "one\n@2.zip @a.md words of a\n@b.md words of b")
    w.ingest()
    assert "1.zip!/2.zip!/a.md" in items(w)
    w.files.write("1.zip", "one\n@b.md words of b")
    w.ingest()
    assert set(items(w)) == {"1.zip", "1.zip!/b.md"}


@pytest.mark.parametrize("looks", [20, 50, 80])
def test_a_container_whose_members_were_not_all_taken_in_is_opened_again_by_the_next_run(looks: int) -> None:
    w = world()
    w.files.write("box.zip", "words\n" + "\n".join(f"@{number}.md words {number}" for number in range(90)))
    left = iter(range(looks))
    assert w.ingest(should_stop=lambda: next(left, None) is None).canceled
    assert len(items(w)) < 91
    w.ingest()
    assert len(items(w)) == 91
    assert counts(w.ingest()) == {"scanned": 91, "skipped": 91}


def test_a_nested_container_that_was_left_half_way_is_opened_again_too() -> None:
    whole = "one\n@2.zip @3.zip @4.md words"
    for looks in range(1, 12):
        w = world()
        w.files.write("1.zip", whole)
        left = iter(range(looks))
        w.ingest(should_stop=lambda left=left: next(left, None) is None)  # type: ignore[misc]
        w.ingest()
        assert set(items(w)) == {"1.zip", "1.zip!/2.zip", "1.zip!/2.zip!/3.zip", "1.zip!/2.zip!/3.zip!/4.md"}
        assert counts(w.ingest()) == {"scanned": 4, "skipped": 4}


def test_the_members_of_a_container_that_is_only_a_placeholder_now_stay() -> None:
    w = world()
    w.files.write("box.zip", "words\n@a.md one")
    w.ingest()
    w.files.remove("box.zip")
    w.files.problems = [ScanProblem("box.zip", "placeholder", "it is in the cloud")]
    assert counts(w.ingest()).get("deleted") is None
    assert set(items(w)) == {"box.zip", "box.zip!/a.md"}


def test_a_folder_whose_name_ends_like_a_container_is_a_folder() -> None:
    w = world()
    w.files.write("Yahoo!/a.md", "one")
    w.files.write("Yahoo!/box.zip", "words\n@a.md two")
    w.ingest()
    found = items(w)
    assert {path: item.container for path, item in found.items()} == {
        "Yahoo!/a.md": None,
        "Yahoo!/box.zip": None,
        "Yahoo!/box.zip!/a.md": "Yahoo!/box.zip",
    }
    assert counts(w.ingest()) == {"scanned": 3, "skipped": 3}
    w.files.write("Yahoo!/a.md", "another")
    assert counts(w.ingest("Yahoo!")) == {"scanned": 3, "updated": 1, "skipped": 2, "embedded": 1}
    assert items(w)["Yahoo!/a.md"].item_id == found["Yahoo!/a.md"].item_id


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a.md", "box.zip!/a.md"),
        ("../../etc/passwd", "box.zip!/etc/passwd"),
        ("/abs/a.md", "box.zip!/abs/a.md"),
        ("..\\..\\win.md", "box.zip!/win.md"),
        ("inner!/a.md", "box.zip!/inner/a.md"),
        ("", "box.zip!/unnamed"),
        ("nul\0byte.md", "box.zip!/nulbyte.md"),
    ],
)
def test_names_of_members_never_climb(name: str, path: str) -> None:
    box = Change(ScannedFile(WorkspacePath("box.zip"), "box.zip", FileIdentity(9, 9, "1")), None)
    (change,) = member_changes(box, [Member(name, b"x")], {})
    assert change.file.path == path


@pytest.mark.parametrize(
    ("said", "kept"), [(5, 5), (-(10**18), -(10**18)), (None, 9), (1 << 63, 9), (253_000_000_000 * 10**9, 9)]
)
def test_a_member_has_its_own_time_where_that_can_be_kept_else_its_containers(said: int | None, kept: int) -> None:
    box = Change(ScannedFile(WorkspacePath("m.eml"), "m.eml", FileIdentity(9, 9, "1")), None)
    (change,) = member_changes(box, [Member("a.pdf", b"1", said)], {})
    assert change.file.identity.mtime_ns == kept


def test_members_of_one_name_are_numbered() -> None:
    box = Change(ScannedFile(WorkspacePath("m.eml"), "m.eml", FileIdentity(9, 9, "1")), None)
    changes = member_changes(box, [Member("a.pdf", b"1"), Member("a.pdf", b"2"), Member("a.pdf", b"3")], {})
    assert [change.file.path for change in changes] == ["m.eml!/a.pdf", "m.eml!/a (2).pdf", "m.eml!/a (3).pdf"]


def test_ten_thousand_members_of_one_name_are_numbered_without_trying_every_number_anew() -> None:
    box = Change(ScannedFile(WorkspacePath("m.eml"), "m.eml", FileIdentity(9, 9, "1")), None)
    changes = member_changes(box, [Member("a.pdf", b"")] * 10_000, {})
    assert len({change.file.path for change in changes}) == 10_000
    assert changes[-1].file.path == "m.eml!/a (10000).pdf"
