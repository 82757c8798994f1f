from __future__ import annotations

import pytest

from kb.adapters.parsers.mail.mbox import MboxParser
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from tests.fakes.format_reading import ledger, parse, short_id, shown

MAILBOX = """From kim@example.org Sun Mar  1 12:00:00 2026
Subject: First
Date: Sun, 1 Mar 2026 12:00:00 +0000

Three o'clock

From here on all is well at 12:00 sharp, says nobody.
>From time to time.

From lee@example.org Mon Mar  2 12:00:00 2026
this message has lost its headers

From ann@example.org Tue Mar  3 12:00:00 2026
Subject: Third
Date: Tue, 3 Mar 2026 12:00:00 +0000
Content-Type: multipart/mixed; boundary=X

--X

Words
--X
Content-Type: text/csv
Content-Disposition: attachment; filename=a.csv

1,2
--X--
"""


def test_messages_are_numbered_and_a_broken_one_costs_only_itself() -> None:
    mailbox = MAILBOX.replace("at 12:00 sharp", "at noon sharp")
    document = parse(MboxParser(), mailbox, name="mail/2026.mbox")
    assert shown(document) == [
        ("heading", 1, "First"),
        ("paragraph", 1, "Date: 2026-03-01 12:00 +0000"),
        ("paragraph", 1, "Three o'clock"),
        ("paragraph", 1, "From here on all is well at noon sharp, says nobody.\nFrom time to time."),
        ("heading", 3, "Third"),
        ("paragraph", 3, "Date: 2026-03-03 12:00 +0000"),
        ("paragraph", 3, "Words"),
    ]
    assert ledger(document) == [(1, 1, "text", None), (2, 2, "failed", "damaged"), (3, 3, "text", None)]


def test_what_came_with_message_three_is_named_so() -> None:
    assert [member.name for member in parse(MboxParser(), MAILBOX).members][-1].endswith("/a.csv")
    mailbox = MAILBOX.replace("at 12:00 sharp", "at noon sharp")
    assert [(member.name, member.data) for member in parse(MboxParser(), mailbox).members] == [("3/a.csv", b"1,2")]


def test_a_mailbox_is_called_like_its_file_and_dated_by_its_messages() -> None:
    assert parse(MboxParser(), MAILBOX, name="mail/2026.mbox").front_matter == {
        "title": "2026",
        "created": "2026-03-01T12:00:00+00:00",
        "modified": "2026-03-03T12:00:00+00:00",
    }


def test_a_message_nested_beyond_reason_costs_only_itself() -> None:
    deep = "Subject: s\n" + "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(5_000))
    mailbox = f"From a@b Sun Mar  1 12:00:00 2026\n{deep}\n\n{MAILBOX}"
    assert ledger(parse(MboxParser(), mailbox))[:2] == [(1, 1, "failed", "nested_too_deep"), (2, 2, "text", None)]


@pytest.mark.parametrize(
    ("mailbox", "reason"),
    [
        ("Subject: a letter, no mailbox\n\nwords", "wrong_type"),
        ("", "wrong_type"),
        ("From a@b Sun Mar  1 12:00:00 2026\nSubject: s\n\nx\n\n" * 20, "too_many_entries"),
    ],
    ids=short_id,
)
def test_what_is_no_mailbox_or_too_big_fails_with_its_reason(mailbox: str, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(MboxParser(), mailbox, limits=ReadingLimits(entries=10))
    assert caught.value.reason == reason
