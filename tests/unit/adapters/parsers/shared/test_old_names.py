"""Names of archives that do not say their encoding come out as the letters that were typed."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.parsers.shared.old_names import tar_names, zip_names

TYPED = {
    "cp949": ["보고서.hwp", "회의록 (최종).txt", "사진/가나다.jpg", "설명서", "안녕", "이력서_홍길동.docx"],
    "gb18030": ["报告.doc", "会议记录.txt", "照片/北京.jpg", "2024年计划.pdf", "你好", "（最终）合同.pdf"],
    "big5": ["報告.doc", "會議記錄.txt", "照片/臺北.jpg", "說明", "新資料夾/文件.txt"],
    "cp932": ["報告書.doc", "会議メモ.txt", "写真/東京タワー.jpg", "りんご", "新しいフォルダー/テスト.txt"],
    "cp866": ["отчёт.doc", "Новая папка/документ.txt", "привет", "фото.jpg"],
    "cp437": ["Café.txt", "résumé.doc", "Übung.txt", "Größe/Straße.txt", "Año.txt", "ärger über öl.txt"],
    "utf-8": ["보고서.hwp", "报告.doc", "Café.txt"],
}


def unflagged(raw: bytes, extra: bytes = b"") -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(raw.decode("cp437"))
    info.extra = extra
    return info


@pytest.mark.parametrize(("encoding", "name"), [(encoding, name) for encoding in TYPED for name in TYPED[encoding]])
def test_a_single_name_comes_out_as_it_was_typed(encoding: str, name: str) -> None:
    assert zip_names([unflagged(name.encode(encoding))]) == [name]


@pytest.mark.parametrize("encoding", TYPED)
def test_names_of_one_archive_are_told_together(encoding: str) -> None:
    names = TYPED[encoding]
    assert zip_names([unflagged(name.encode(encoding)) for name in names]) == names


@pytest.mark.parametrize("encoding", ["cp949", "gb18030", "big5", "cp932"])
def test_old_tapes_too(encoding: str) -> None:
    names = TYPED[encoding]
    told = tar_names([name.encode(encoding).decode("utf-8", "surrogateescape") for name in [*names, "a.txt"]])
    assert told == [*names, "a.txt"]


def test_a_name_that_is_stated_beside_the_old_one_is_taken_while_it_belongs_to_it() -> None:
    stated = b"\x01" + struct.pack("<L", zlib.crc32(b"?.txt")) + "표.txt".encode()
    extra = struct.pack("<HH", 0x5455, 1) + b"x" + struct.pack("<HH", 0x7075, len(stated)) + stated
    assert zip_names([unflagged(b"?.txt", extra), unflagged(b"renamed.txt", extra)]) == ["표.txt", "renamed.txt"]


def test_a_name_flagged_as_utf8_is_left_as_it_is() -> None:
    info = zipfile.ZipInfo("괩멩.txt")
    info.flag_bits = 0x800
    assert zip_names([info, unflagged("报告.txt".encode("gbk"))]) == ["괩멩.txt", "报告.txt"]


@given(st.lists(st.binary(min_size=1, max_size=30).filter(lambda raw: b"\0" not in raw), max_size=5))
def test_any_bytes_have_a_name(raw: list[bytes]) -> None:
    assert len(zip_names([unflagged(one) for one in raw])) == len(raw)
    names = tar_names([one.decode("utf-8", "surrogateescape") for one in raw])
    assert len(names) == len(raw)
    assert all(name.isascii() or name.encode() for name in names)


def test_an_archive_read_by_the_library_is_told_too() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x" * 10, "1")
    raw = "회의록.a".encode("cp949")
    data = buffer.getvalue().replace(b"x" * 10, raw + b"bc"[: 10 - len(raw)])
    assert zip_names(zipfile.ZipFile(io.BytesIO(data)).infolist())[0].startswith("회의록.a")
