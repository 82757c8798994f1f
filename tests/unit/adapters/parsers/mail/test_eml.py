from __future__ import annotations

import base64

import pytest

from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
from kb.adapters.parsers.mail.eml import EmlParser
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from tests.fakes.containers import make_png
from tests.fakes.format_reading import ledger, parse, short_id, shown

PARSER = EmlParser(CharsetNormalizerDecoder())

LETTER = """From: =?utf-8?B?6rmA7LKg7IiY?= <kim@example.org>
To: "Lee, Ann" <ann@example.org>, bob@example.org
Cc: =?ISO-8859-1?Q?J=F6rg?= <joerg@example.org>
Subject: Re: =?euc-kr?B?yLjAxw==?= on
 Monday
Date: Sun, 1 Mar 2026 12:00:00 +0900
Content-Type: text/plain; charset=utf-8

Let us meet at ten.
The room is booked.

On Friday, Ann wrote:
> When do we meet?
>> Soon.

--\x20
Kim
"""


def test_a_letter_says_who_wrote_to_whom_when_and_what() -> None:
    document = parse(PARSER, LETTER)
    assert shown(document) == [
        ("heading", 1, "Re: 회의 on Monday"),
        (
            "paragraph",
            1,
            (
                'From: 김철수 <kim@example.org>\nTo: "Lee, Ann" <ann@example.org>, bob@example.org\n'
                "Cc: Jörg <joerg@example.org>\nDate: 2026-03-01 12:00 +0900"
            ),
        ),
        ("paragraph", 1, "Let us meet at ten.\nThe room is booked."),
        ("paragraph", 1, "On Friday, Ann wrote:"),
        ("quote", 1, "When do we meet?\nSoon."),
        ("paragraph", 1, "Kim"),
    ]
    assert ledger(document) == [(1, 1, "text", None)]


def test_a_letter_gives_title_author_and_date() -> None:
    facts = parse(PARSER, LETTER).front_matter
    assert facts["title"] == "Re: 회의 on Monday"
    assert facts["author"] == "김철수 <kim@example.org>"
    assert facts["created"] == "2026-03-01T12:00:00+09:00"


def multipart(kind: str, *parts: str, headers: str = "Subject: s\n") -> str:
    body = "".join(f"--X\n{part}\n" for part in parts)
    return f'{headers}Content-Type: multipart/{kind}; boundary="X"\n\n{body}--X--\n'


def test_of_two_versions_the_plain_one_is_read() -> None:
    letter = multipart(
        "alternative",
        "Content-Type: text/plain\n\nThe same words",
        "Content-Type: text/html\n\n<p>The <b>same</b> words",
    )
    assert shown(parse(PARSER, letter))[1:] == [("paragraph", 1, "The same words")]


@pytest.mark.parametrize("plain", ["", "See the other version."], ids=short_id)
def test_of_two_versions_the_fuller_one_is_read_when_the_plain_one_is_poor(plain: str) -> None:
    page = "<h2>Agenda</h2><table><tr><th>When<th>What<tr><td>ten<td>opening and all the rest</table>"
    letter = multipart("alternative", f"Content-Type: text/plain\n\n{plain}", f"Content-Type: text/html\n\n{page}")
    assert shown(parse(PARSER, letter))[1:] == [
        ("heading", 1, "Agenda"),
        ("table", 1, "When | What\nten | opening and all the rest"),
    ]


@pytest.mark.parametrize(
    ("charset", "encoding", "words"),
    [
        ("euc-kr", "cp949", "회의는 열 시에 시작합니다"),
        ("ks_c_5601-1987", "cp949", "회의는 열 시에 시작합니다"),
        ("gb2312", "gb18030", "会议十点开始，請準時"),
        ("iso-2022-jp", "iso2022_jp", "会議は十時に始まります"),
        ("x-unknown", "utf-8", "회의는 열 시에 시작합니다"),
        ("us-ascii", "cp949", "회의는 열 시에 시작합니다. 모두 시간에 맞추어 와 주십시오. 장소는 삼 층입니다."),
    ],
    ids=short_id,
)
def test_bodies_are_read_in_their_encoding(charset: str, encoding: str, words: str) -> None:
    body = base64.encodebytes(words.encode(encoding)).decode()
    head = f"Subject: s\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: base64\n\n"
    assert shown(parse(PARSER, head + body))[1:] == [("paragraph", 1, words)]


def test_a_broken_name_of_an_encoding_does_not_cost_the_letter() -> None:
    letter = b"Subject: s\nContent-Type: text/plain; charset=\x80\x81\n\n\x80 words"
    assert [kind for kind, _, _ in shown(parse(PARSER, letter))] == ["heading", "paragraph"]


def test_raw_bytes_in_headers_are_read_in_the_encoding_of_the_body() -> None:
    letter = "Subject: 회의\nContent-Type: text/plain; charset=euc-kr\n\n열 시".encode("cp949")
    assert [text for _, _, text in shown(parse(PARSER, letter))] == ["회의", "열 시"]


def test_attachments_are_members_with_the_names_their_senders_gave() -> None:
    letter = multipart(
        "mixed",
        "Content-Type: text/plain\n\nwords",
        "Content-Type: application/pdf\nContent-Disposition: attachment; filename*=utf-8''%ED%95%9C.pdf\n\n%PDF",
        'Content-Type: text/csv; name="=?utf-8?B?7ZGcLmNzdg==?="\nContent-Disposition: attachment\n\na,b',
        'Content-Type: text/csv\nContent-Disposition: attachment; filename="../../etc/passwd"\n\nx',
        'Content-Type: text/csv\nContent-Disposition: attachment; filename="C:\\\\evil\\\\표.csv"\n\ny',
        "Content-Type: application/ms-tnef; name=winmail.dat\n\nz",
        "Content-Type: message/rfc822\n\nSubject: inner\n\ninner words\n",
    )
    document = parse(PARSER, letter)
    assert [(member.name, member.data) for member in document.members] == [
        ("한.pdf", b"%PDF"),
        ("표.csv", b"a,b"),
        ("etc/passwd", b"x"),
        ("evil/표.csv", b"y"),
        ("winmail.dat", b"z"),
        ("inner.eml", b"Subject: inner\n\ninner words\n"),
    ]
    assert "inner words" not in str(shown(document))


def test_pictures_in_the_text_are_members_only_when_they_are_big() -> None:
    pictures = [
        f"Content-Type: image/png\nContent-ID: <{name}>\nContent-Disposition: inline; filename={name}\n"
        f"Content-Transfer-Encoding: base64\n\n{base64.encodebytes(make_png(side, side, 9_000)).decode()}"
        for name, side in (("icon.png", 16), ("plan.png", 800))
    ]
    letter = multipart("related", "Content-Type: text/html\n\n<p>words", *pictures)
    assert [member.name for member in parse(PARSER, letter).members] == ["plan.png"]


@pytest.mark.parametrize(
    "letter",
    [
        multipart(
            "encrypted", "Content-Type: application/pgp-encrypted\n\nVersion: 1", "Content-Type: text/plain\n\nx"
        ),
        'Subject: s\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"\n\nMIIB',
        "Subject: s\n\n-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n",
    ],
    ids=short_id,
)
def test_an_encrypted_letter_is_accounted_for_and_its_cipher_is_not_read(letter: str) -> None:
    document = parse(PARSER, letter)
    assert shown(document) == [("heading", 1, "s")]
    assert ledger(document) == [(1, 1, "skipped", "encrypted")]
    assert document.members == ()


def test_a_signed_letter_is_read_without_its_signature() -> None:
    letter = multipart(
        "signed",
        "Content-Type: text/plain\n\nwords",
        "Content-Type: application/pgp-signature; name=signature.asc\n\n-----BEGIN PGP SIGNATURE-----",
    )
    document = parse(PARSER, letter)
    assert shown(document)[1:] == [("paragraph", 1, "words")]
    assert document.members == ()


NESTED = "Subject: s\n" + "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(10_000))


@pytest.mark.parametrize(
    ("letter", "reason"),
    [
        (NESTED, "nested_too_deep"),
        ("X: y\n" * 200_000, "too_complex"),
        ("Subject: " + "a" * 2_000_000, "too_complex"),
        (multipart("mixed", *["\n\nx"] * 50), "too_many_entries"),
        ("", "damaged"),
        (b"\x00\xff" * 500, "damaged"),
        ("just words, no letter", "damaged"),
    ],
    ids=short_id,
)
def test_what_is_no_honest_letter_fails_with_its_reason(letter: str | bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(PARSER, letter, limits=ReadingLimits(entries=40))
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "value",
    ["(" * 5_000, "a," * 50_000, '"' * 50_001, "g:" * 5_000, "=?utf-8?q?a?= " * 5_000, "=?x?b?=="],
    ids=short_id,
)
def test_headers_made_to_stop_a_reader_are_read(value: str) -> None:
    document = parse(PARSER, f"Subject: s\nTo: {value}\nDate: {value}\n\nwords")
    assert shown(document)[-1] == ("paragraph", 1, "words")
