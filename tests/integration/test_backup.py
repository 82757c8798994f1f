"""A library in one file, and back: while it is in use, on another path, over newer work, into another library."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import zipfile
from pathlib import Path

import pytest
from blake3 import blake3

from kb.app.backup.making import make_backup
from kb.app.backup.manifest import manifest_bytes, manifest_of
from kb.app.backup.restoring import NewerWork
from kb.app.restoring import restore_library
from kb.contract.answers import AskRequest
from kb.contract.backup import BackupCreateRequest, BackupRequest
from kb.contract.base import Empty
from kb.contract.ingest import IngestRequest
from kb.contract.jobs import JobRequest, JobsRequest
from kb.contract.viewer import ViewerOpenRequest
from kb.domain.backups import BackupMember
from kb.domain.errors import InvalidInput, NotFound, Unreadable
from kb.domain.failures import Busy, Cancelled, StorageFailed
from tests.places import Place, at_work, backed_up, found, over, rebuilt, state

OVEN = "# Oven\n\nThe oven is lit at 05:30 every morning except Sunday.\n"
GRILL = "# Grill\n\nThe grill turns all day long.\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "here")
    made.put("oven.md", OVEN)
    made.put("메모/불.md", "# 불\n\n불은 아침 다섯 시 반에 켠다.\n")
    return made


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    return tmp_path / "disk" / "a.kbbackup"


def test_a_backup_opens_on_another_path_with_its_answers_and_places(place: Place, elsewhere: Path) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        asked = facade.answers.ask(AskRequest(question="When is the oven lit?", mode="lexical"))
        before, hits = state(facade), found(facade, "oven lit")
        made = backed_up(facade, elsewhere)
    assert (made.counts.items, made.counts.answers, made.originals) == (2, 1, sum(map(len_of, place.files())))
    other = Place(place.folder.parent / "another computer" / "home of ann")
    report = restore_library(other.configuration, str(elsewhere), agreed=False)
    assert (report.kept_as, report.counts) == (None, made.counts)
    with other.opened() as facade:
        assert rebuilt(facade) == 0
        assert state(facade) == before
        assert found(facade, "oven lit") == hits
        (citation, *_) = asked.citations
        view = facade.viewer.open(ViewerOpenRequest(chunk_id=citation.chunk_id, quote=citation.quote))
        assert (view.state, view.doc_path) == ("exact", "oven.md")
        # The workspace has not come along yet: the copy opens.
        assert facade.viewer.file(view.item_id).path.read_text(encoding="utf-8") == OVEN


def len_of(file: Path) -> int:
    return file.stat().st_size


def test_a_backup_restored_at_its_own_place_leaves_the_same_hashes(place: Place, elsewhere: Path) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        backed_up(facade, elsewhere)
        before = state(facade)
    shutil.rmtree(place.data)
    restore_library(place.configuration, str(elsewhere), agreed=False)
    again = elsewhere.with_name("b.kbbackup")
    with place.opened() as facade:
        assert state(facade) == before
        assert place.ingest(facade).updated == 0
        backed_up(facade, again)
    kept = [hashes(file) for file in (elsewhere, again)]
    assert kept[0] == kept[1]


def hashes(backup: Path) -> dict[str, str]:
    with zipfile.ZipFile(backup) as packed:
        members = manifest_of(packed.read("manifest.json")).members
    return {member.name: member.checksum for member in members if member.name.startswith("assets/")}


def test_a_backup_made_while_an_ingest_runs_is_of_one_moment(place: Place, tmp_path: Path) -> None:
    for number in range(300):
        place.put(f"many/{number}.md", f"# Note {number}\n\nShelf {number} holds {number * 7} jars.\n")
    made: list[Path] = []
    with at_work(place) as (parts, facade):
        job = facade.library.ingest(IngestRequest())
        while facade.jobs.get(JobRequest(job_id=job.id)).finished_at is None or not made:
            target = tmp_path / "disk" / f"{len(made)}.kbbackup"
            writing = parts.backup_parts()
            make_backup(writing, target, originals=True, report=lambda _p: None, should_stop=lambda: False)
            made.append(target)
        for file in (made[0], made[len(made) // 2], made[-1]):
            report = facade.backup.verify(BackupRequest(file=str(file)))
            assert report.ok, report.checks
            assert "missing" not in " ".join(check.detail for check in report.checks)
        assert facade.library.summary(Empty()).items == 302
    other = Place(tmp_path / "other")
    restore_library(other.configuration, str(made[0]), agreed=False)
    shutil.copytree(place.folder / "workspace", other.folder / "workspace")
    with other.opened() as facade:
        # What was under way in the backup counts as stopped, and the next ingest ends it.
        assert {job.status for job in facade.jobs.recent(JobsRequest()).jobs} <= {"canceled", "succeeded"}
        assert other.ingest(facade).errors == 0
        assert facade.library.summary(Empty()).items == 302


def test_newer_work_is_not_put_aside_unasked(place: Place, elsewhere: Path) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        backed_up(facade, elsewhere)
        place.put("grill.md", GRILL)
        place.ingest(facade)
        newer = state(facade)
    with pytest.raises(NewerWork, match=r"the library here is newer: changed .* with 3 items") as caught:
        restore_library(place.configuration, str(elsewhere), agreed=False)
    assert "--yes" in caught.value.hint
    with place.opened() as facade:
        assert state(facade) == newer
    report = restore_library(place.configuration, str(elsewhere), agreed=True)
    assert report.kept_as is not None
    # What was moved aside is a data folder of its own.
    kept = Place(place.folder, {"KB_STORAGE_DATA_DIR": str(place.data / report.kept_as)})
    with kept.opened() as facade:
        assert state(facade) == newer
    with place.opened() as facade:
        assert len(state(facade)[0]) == 2


def test_nothing_is_asked_where_the_backup_has_all_there_is(place: Place, elsewhere: Path) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        backed_up(facade, elsewhere)
    assert restore_library(place.configuration, str(elsewhere), agreed=False).kept_as is not None


def test_another_library_is_not_put_aside_unasked(place: Place, tmp_path: Path, elsewhere: Path) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        backed_up(facade, elsewhere)
    other = Place(tmp_path / "other")
    other.put("grill.md", GRILL)
    with other.opened() as facade:
        other.ingest(facade)
    with pytest.raises(NewerWork, match="another library is here"):
        restore_library(other.configuration, str(elsewhere), agreed=False)


def test_a_library_that_cannot_be_read_is_not_put_aside_unasked(place: Place, elsewhere: Path) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        backed_up(facade, elsewhere)
    (place.data / "kb.sqlite").write_bytes(b"garbage" * 1000)
    with pytest.raises(NewerWork, match="cannot read"):
        restore_library(place.configuration, str(elsewhere), agreed=False)
    restore_library(place.configuration, str(elsewhere), agreed=True)
    with place.opened() as facade:
        assert len(state(facade)[0]) == 2


def test_a_restore_says_who_holds_the_library(place: Place, elsewhere: Path) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        backed_up(facade, elsewhere)
        with pytest.raises(Busy, match=rf"`test` \(process {os.getpid()}\) holds the library"):
            restore_library(place.configuration, str(elsewhere), agreed=True)
        assert found(facade, "oven lit")


def spoilt(backup: Path, name: str, change: bytes) -> Path:
    """A copy in which one member is other bytes, with everything around it as it should be."""
    path = backup.with_name("spoilt.kbbackup")
    with zipfile.ZipFile(backup) as packed, zipfile.ZipFile(path, "w") as out:
        manifest = manifest_of(packed.read("manifest.json"))
        members = tuple(
            BackupMember(m.name, len(change), blake3(change).hexdigest()) if m.name == name else m
            for m in manifest.members
        )
        for member in manifest.members:
            out.writestr(member.name, change if member.name == name else packed.read(member.name))
        said = type(manifest)(manifest.created_at, manifest.version, manifest.facts, members)
        out.writestr("manifest.json", manifest_bytes(said))
    return path


def test_a_backup_of_a_newer_program_is_refused_and_nothing_is_touched(place: Place, elsewhere: Path) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        backed_up(facade, elsewhere)
        before = state(facade)
    library = elsewhere.with_name("newer.sqlite")
    with zipfile.ZipFile(elsewhere) as packed:
        library.write_bytes(packed.read("kb.sqlite"))
    changed = sqlite3.connect(library)
    changed.execute("UPDATE schema_meta SET value = '99' WHERE key = 'schema_version'")
    changed.commit()
    changed.close()
    newer = spoilt(elsewhere, "kb.sqlite", library.read_bytes())
    untouched = library_bytes(place)
    with pytest.raises(StorageFailed, match="newer Kebab"):
        restore_library(place.configuration, str(newer), agreed=True)
    assert library_bytes(place) == untouched
    with place.opened() as facade:
        assert state(facade) == before
        assert not facade.backup.verify(BackupRequest(file=str(newer))).ok
        job = facade.backup.merge(BackupRequest(file=str(newer)))
        while job.finished_at is None:
            job = facade.jobs.get(JobRequest(job_id=job.id))
        assert job.status == "failed"
        assert state(facade) == before


def library_bytes(place: Place) -> dict[str, bytes]:
    names = ("assets", "artifacts")
    files = [place.data / "kb.sqlite", *(f for name in names for f in (place.data / name).rglob("*") if f.is_file())]
    return {str(file): file.read_bytes() for file in files}


def test_a_library_that_acts_by_itself_is_refused(place: Place, elsewhere: Path) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        backed_up(facade, elsewhere)
    library = elsewhere.with_name("trigger.sqlite")
    with zipfile.ZipFile(elsewhere) as packed:
        library.write_bytes(packed.read("kb.sqlite"))
    changed = sqlite3.connect(library)
    changed.execute("CREATE TRIGGER forget AFTER INSERT ON jobs BEGIN DELETE FROM answers; END")
    changed.commit()
    changed.close()
    with pytest.raises(Unreadable, match="things of its own"):
        restore_library(place.configuration, str(spoilt(elsewhere, "kb.sqlite", library.read_bytes())), agreed=True)


def test_a_flipped_byte_anywhere_in_the_contents_is_found(place: Place, elsewhere: Path) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        backed_up(facade, elsewhere)
        whole = elsewhere.read_bytes()
        with zipfile.ZipFile(elsewhere) as packed:
            members = packed.infolist()
        for number, member in enumerate([*members, *members[:1] * 8]):
            data = bytearray(whole)
            (name, extra) = struct.unpack_from("<HH", data, member.header_offset + 26)
            start = member.header_offset + 30 + name + extra
            data[start + (number * 7919) % member.compress_size] ^= 0x55
            elsewhere.write_bytes(data)
            report = facade.backup.verify(BackupRequest(file=str(elsewhere)))
            assert not report.ok, member.filename
            assert next(check for check in report.checks if not check.ok).hint


def test_backups_of_the_own_folder_are_listed_newest_first(place: Place) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        first = backed_up(facade)
        job = over(facade, facade.backup.create(BackupCreateRequest(file=str(place.data / "backups" / "second"))))
        second = facade.backup.report(JobRequest(job_id=job.id))
        (place.data / "backups" / "torn.kbbackup").write_bytes(b"PK")
        listed = facade.backup.list(Empty())
    assert [backup.file for backup in listed.backups] == [second.file, first.file] == ["second.kbbackup", first.file]
    assert listed.backups[1] == first


def test_a_backup_without_originals_still_answers(place: Place, elsewhere: Path, tmp_path: Path) -> None:
    with place.opened() as facade:
        place.ingest(facade)
        job = over(facade, facade.backup.create(BackupCreateRequest(file=str(elsewhere), originals=False)))
        assert facade.backup.report(JobRequest(job_id=job.id)).originals == 0
    other = Place(tmp_path / "other")
    restore_library(other.configuration, str(elsewhere), agreed=False)
    shutil.copytree(place.folder / "workspace", other.folder / "workspace")
    with other.opened() as facade:
        rebuilt(facade)
        (hit, *_) = found(facade, "oven lit")
        view = facade.viewer.open(ViewerOpenRequest(citation=hit[0]))
        assert facade.viewer.file(view.item_id).path.read_text(encoding="utf-8") == OVEN


@pytest.mark.parametrize("name", ["oven", "../oven", "a/b", "~nobody/x"])
def test_a_backup_by_an_odd_name_is_no_backup(place: Place, name: str) -> None:
    with place.opened() as facade, pytest.raises((InvalidInput, NotFound)):
        facade.backup.verify(BackupRequest(file=name))


def test_no_backup_is_written_among_a_persons_files_or_over_one_that_is_there(place: Place, elsewhere: Path) -> None:
    with place.opened() as facade:
        for target, reason in (
            (place.folder / "workspace" / "a", "for your files alone"),
            (place.data / "assets" / "a", "lost with them"),
        ):
            with pytest.raises(InvalidInput, match=reason):
                facade.backup.create(BackupCreateRequest(file=str(target)))
        backed_up(facade, elsewhere)
        with pytest.raises(InvalidInput, match="exists already"):
            facade.backup.create(BackupCreateRequest(file=str(elsewhere)))


def test_a_stop_leaves_no_file_and_nothing_in_the_data_folder(place: Place, elsewhere: Path) -> None:
    with at_work(place) as (parts, facade):
        place.ingest(facade)
        writing = parts.backup_parts()
        with pytest.raises(Cancelled):
            make_backup(writing, elsewhere, originals=True, report=lambda _p: None, should_stop=lambda: True)
    assert not elsewhere.exists()
    assert not list(elsewhere.parent.glob("*"))
    assert not list(place.data.glob(".backup-*"))
