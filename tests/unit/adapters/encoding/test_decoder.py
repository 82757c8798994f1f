"""Bytes to text: the right letters, a note when they were not plain UTF-8, and no guessing at binary data."""

from __future__ import annotations

import codecs
import contextlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
from kb.domain.errors import Unreadable

DECODER = CharsetNormalizerDecoder()

KOREAN = "지식 기반은 사람이 가진 폴더 하나이며, 원본은 그 자리에 그대로 있습니다. 검색은 두 글자로도 됩니다."
CHINESE = "知识库是用户自己的一个文件夹，原件永远不会被修改。我们在这里写下会议的决定和下一步的计划。"
TRADITIONAL = "知識庫是使用者自己的一個資料夾，原件永遠不會被修改。我們在這裡寫下會議的決定和下一步的計畫。"
JAPANESE = "これは日本語のメモです。会議の予定と決定事項をここに書いておきます。カタカナも使います。"
GERMAN = "Die Prüfung der Anträge dauert länger als üblich; Gebühren fallen für Schüler nicht an, sind zu prüfen."
SPANISH = "La próxima reunión será el miércoles por la mañana; el señor Núñez traerá el acta de la última sesión."
RUSSIAN = "Следующая встреча состоится в среду утром, протокол последнего заседания принесёт секретарь."


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_utf8_is_read_without_a_word(text: str) -> None:
    data = text.encode()
    if not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not _controls(text):
        decoded = DECODER.decode(data)
        assert (decoded.text, decoded.encoding, decoded.note) == (text, "utf-8", "")


def _controls(text: str) -> bool:
    return any(ord(character) < 32 or ord(character) == 127 for character in text)


def test_a_mark_is_not_text() -> None:
    decoded = DECODER.decode(codecs.BOM_UTF8 + b"# A")
    assert (decoded.text, decoded.note) == ("# A", "")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("text", [KOREAN, CHINESE, GERMAN, "# Title\r\n\r\nplain words\r\n"])
def test_utf16_and_utf32_with_a_mark_are_read_and_told(encoding: str, text: str) -> None:
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE, "utf-32-be": codecs.BOM_UTF32_BE}
    decoded = DECODER.decode(mark.get(encoding, b"") + text.encode(encoding))
    assert decoded.text == text
    assert decoded.encoding in decoded.note
    assert decoded.encoding.startswith(encoding[:6])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [GERMAN, KOREAN, (CHINESE + "\n") * 5, "plain words\n", "x\ty\r\n"])
def test_utf16_without_a_mark_is_read_where_it_is_obvious(encoding: str, text: str) -> None:
    decoded = DECODER.decode(text.encode(encoding))
    assert (decoded.text, decoded.encoding) == (text, encoding)
    assert encoding in decoded.note


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (KOREAN, "cp949"),
        ("똠방각하 이야기를 하는 사람들의 이름을 적은 것이다", "cp949"),
        (CHINESE, "gb18030"),
        (TRADITIONAL, "big5"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (GERMAN, "cp1252"),
        (SPANISH, "cp1252"),
        (RUSSIAN, "cp1251"),
        ("price: 5 €, “quoted” – naïve café, résumé of the señor and the Fräulein from Zürich", "cp1252"),
    ],
)
def test_old_encodings_are_read_and_named(text: str, encoding: str) -> None:
    decoded = DECODER.decode(text.encode(encoding))
    assert decoded.text == text
    assert decoded.note == f"not UTF-8; read as {decoded.encoding}"


def test_an_old_encoding_may_begin_far_down_the_file() -> None:
    text = "plain line\n" * 20_000 + SPANISH
    assert DECODER.decode(text.encode("cp1252")).text == text


def test_utf8_with_a_damaged_byte_stays_utf8() -> None:
    data = (KOREAN * 3).encode()
    decoded = DECODER.decode(data[:100] + b"\xff" + data[100:])
    assert decoded.encoding == "utf-8"
    assert decoded.text.replace("\ufffd", "").startswith(KOREAN[:30])
    assert "damaged" in decoded.note


def test_a_cut_off_utf16_file_keeps_its_words() -> None:
    decoded = DECODER.decode(codecs.BOM_UTF16_LE + GERMAN.encode("utf-16-le") + b"\x41")
    assert decoded.text.startswith(GERMAN)
    assert "damaged" in decoded.note


def test_a_stray_nul_is_still_text() -> None:
    assert DECODER.decode(b"some words\0and more words after it").text == "some words\0and more words after it"


def test_nothing_is_nothing() -> None:
    assert DECODER.decode(b"").text == ""


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\x02\x01\x01" + bytes(64),
        bytes(range(256)) * 20,
        random.Random(1).randbytes(20_000),
        bytes(1000),
        b"\x89PNG\r\n\x1a\n" + b"\x00\x00\x00\rIHDR" * 10,
    ],
    ids=["elf", "all", "random", "zeros", "png"],
)
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        DECODER.decode(data)
    assert caught.value.reason == "binary"
    assert caught.value.hint


@given(st.binary(max_size=400))
def test_any_bytes_are_text_or_refused_as_unreadable(data: bytes) -> None:
    with contextlib.suppress(Unreadable):
        DECODER.decode(data).text.encode()


def test_a_short_table_of_names_and_places_in_han_letters_alone_is_read() -> None:
    text = "名前,年齢,住所\r\n佐藤太郎,30,東京\r\n三木英子,25,大阪\r\n髙橋淳,35,名古屋\r\n"
    decoded = CharsetNormalizerDecoder().decode(text.encode("cp932"))
    assert (decoded.text, decoded.encoding) == (text, "cp932")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (f"{CHINESE}\n{GERMAN} \U0001f600\r\n{KOREAN}", "utf-8"),
        (f"\ufeff{CHINESE}\n{KOREAN}\n", "utf-8"),
        (f"\ufeff{CHINESE}\r{GERMAN} \U0001f600\r\n{KOREAN}", "utf-16-le"),
        (f"{KOREAN}\n{KOREAN}\n", "cp949"),
        (f"{CHINESE}\n\n{CHINESE}", "gb18030"),
        (f"{GERMAN}\n" * 3, "cp1252"),
        ("", "utf-8"),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 64, 4096])
def test_a_text_in_pieces_is_the_whole_one_and_pieces_end_with_a_line(text: str, encoding: str, size: int) -> None:
    data = text.encode(encoding)
    whole, parts = DECODER.decode(data), CharsetNormalizerDecoder(size).pieces(data)
    pieces = list(parts.pieces)
    assert "".join(pieces) == whole.text
    assert all(piece.endswith("\n") for piece in pieces[:-1])
    assert (parts.encoding, parts.note) == (whole.encoding, whole.note)


def test_damaged_bytes_are_the_same_in_pieces() -> None:
    data = CHINESE.encode() * 3 + b"\xe4\xb8\nend \xff"
    pieces = CharsetNormalizerDecoder(5).pieces(data)
    assert ("".join(pieces.pieces), pieces.note) == (DECODER.decode(data).text, DECODER.decode(data).note)
    assert "damaged" in pieces.note
