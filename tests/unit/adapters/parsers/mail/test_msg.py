from __future__ import annotations

import struct

import pytest

from kb.adapters.parsers.mail.compressed_rtf import unpacked_rtf
from kb.adapters.parsers.mail.eml import EmlParser
from kb.adapters.parsers.mail.msg import MsgParser
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from tests.fakes.containers import Tree, make_compound, make_properties, wide_texts
from tests.fakes.format_reading import ledger, parse, short_id, shown

SUBJECT, CLASS, BODY, SENDER, SENDER_SMTP = 0x0037, 0x001A, 0x1000, 0x0C1A, 0x5D01
NAME, SMTP, LONG_NAME = 0x3001, 0x39FE, 0x3707
SUBMITTED, RECIPIENT_TYPE, METHOD, CODE_PAGE = 0x0039, 0x0C15, 0x3705, 0x3FFD
NOON = 134_168_400_000_000_000  # 2026-03-01 12:00 UTC, in steps of 100 ns since 1601


def message(texts: dict[int, str], *, header: int = 32, more: Tree | None = None, **numbers: int) -> Tree:
    keys = {"sent": SUBMITTED, "code_page": CODE_PAGE}
    properties = make_properties(header, {keys[name]: value for name, value in numbers.items()})
    return {**wide_texts(texts), "__properties_version1.0": properties, **(more or {})}


def recipient(name: str, address: str, kind: int) -> Tree:
    return {
        **wide_texts({NAME: name, SMTP: address}),
        "__properties_version1.0": make_properties(8, {RECIPIENT_TYPE: kind}),
    }


def attachment(name: str, data: bytes) -> Tree:
    properties = make_properties(8, {METHOD: 1})
    return {**wide_texts({LONG_NAME: name}), "__substg1.0_37010102": data, "__properties_version1.0": properties}


LETTER = message(
    {
        SUBJECT: "회의",
        CLASS: "IPM.Note",
        SENDER: "Kim",
        SENDER_SMTP: "kim@example.org",
        BODY: "At ten.\r\n\r\n> When?\r\n",
    },
    sent=NOON,
    more={
        "__recip_version1.0_#00000000": recipient("Ann", "ann@example.org", 1),
        "__recip_version1.0_#00000001": recipient("Bob", "/o=firm/cn=bob", 2),
        "__attach_version1.0_#00000000": attachment("표.csv", b"1,2\n" * 2_000),
        "__attach_version1.0_#00000001": {
            "__properties_version1.0": make_properties(8, {METHOD: 5}),
            "__substg1.0_3701000D": message(
                {SUBJECT: "안쪽", BODY: "inner words"},
                header=24,
                more={"__attach_version1.0_#00000000": attachment("b.txt", b"in")},
            ),
        },
    },
)


def test_a_message_of_outlook_reads_as_a_letter() -> None:
    document = parse(MsgParser(), make_compound(LETTER))
    assert shown(document) == [
        ("heading", 1, "회의"),
        (
            "paragraph",
            1,
            "From: Kim <kim@example.org>\nTo: Ann <ann@example.org>\nCc: Bob\nDate: 2026-03-01 12:00 +0000",
        ),
        ("paragraph", 1, "At ten."),
        ("quote", 1, "When?"),
    ]
    assert ledger(document) == [(1, 1, "text", None)]
    assert document.front_matter["created"] == "2026-03-01T12:00:00+00:00"


def test_what_came_with_it_are_members_and_a_message_among_them_can_be_read() -> None:
    first, second = parse(MsgParser(), make_compound(LETTER)).members
    assert (first.name, first.data) == ("표.csv", b"1,2\n" * 2_000)
    assert second.name == "안쪽.eml"
    inner = parse(EmlParser(), second.data)
    assert [text for _, _, text in shown(inner)] == ["안쪽", "inner words"]
    assert [(member.name, member.data) for member in inner.members] == [("b.txt", b"in")]


def test_the_same_message_gives_the_same_members() -> None:
    data = make_compound(LETTER)
    assert parse(MsgParser(), data).members == parse(MsgParser(), data).members


def test_texts_in_an_old_code_page_are_read() -> None:
    tree = message({}, code_page=949, more={"__substg1.0_0037001E": "회의".encode("cp949")})
    assert shown(parse(MsgParser(), make_compound(tree)))[0] == ("heading", 1, "회의")


def test_a_page_is_read_where_there_is_no_plain_body() -> None:
    tree = message({SUBJECT: "s"}, more={"__substg1.0_10130102": b"<h1>Agenda</h1><p>Words"})
    assert shown(parse(MsgParser(), make_compound(tree)))[1:] == [("heading", 1, "Agenda"), ("paragraph", 1, "Words")]


def packed(rtf: bytes) -> bytes:
    body = b"".join(b"\x00" + rtf[n : n + 8] for n in range(0, len(rtf), 8))
    return struct.pack("<IIII", len(body) + 12, len(rtf), 0x75465A4C, 0) + body


def test_rtf_is_read_where_there_is_no_other_body() -> None:
    tree = message({SUBJECT: "s"}, more={"__substg1.0_10090102": packed(rb"{\rtf1\ansi Words of \b rich\b0  text}")})
    assert shown(parse(MsgParser(), make_compound(tree)))[1:] == [("paragraph", 1, "Words of rich text")]


def test_packed_rtf_is_unpacked_as_its_specification_shows() -> None:
    example = bytes.fromhex(  # MS-OXRTFCP, section 3.1
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
    )
    assert unpacked_rtf(example, lambda count: None) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"


def test_an_encrypted_message_is_accounted_for() -> None:
    tree = message(
        {SUBJECT: "s", CLASS: "IPM.Note.SMIME"}, more={"__attach_version1.0_#00000000": attachment("smime.p7m", b"x")}
    )
    assert ledger(parse(MsgParser(), make_compound(tree))) == [(1, 1, "skipped", "encrypted")]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (make_compound(LETTER)[:2_000], "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\xff" * 2_000, "damaged"),
        (b"", "damaged"),
        (make_compound({"WordDocument": b"x" * 5_000}), "wrong_type"),
    ],
    ids=short_id,
)
def test_what_is_no_message_fails_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(MsgParser(), data)
    assert caught.value.reason == reason


def test_a_message_with_too_many_attachments_fails() -> None:
    many: Tree = {f"__attach_version1.0_#{n:08X}": attachment("a", b"x") for n in range(5)}
    with pytest.raises(Unreadable) as caught:
        parse(MsgParser(), make_compound(message({SUBJECT: "s"}, more=many)), limits=ReadingLimits(entries=4))
    assert caught.value.reason == "too_many_entries"
