"""Whatever bytes come, a parser gives a document whose ledger is whole, or says with a reason that it cannot."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
from kb.adapters.parsers.archive.parser import ArchiveParser
from kb.adapters.parsers.book.epub import EpubParser
from kb.adapters.parsers.mail.eml import EmlParser
from kb.adapters.parsers.mail.mbox import MboxParser
from kb.adapters.parsers.mail.msg import MsgParser
from kb.adapters.parsers.notebook.parser import NotebookParser
from kb.adapters.parsers.web.feed import FeedParser
from kb.adapters.parsers.web.html import HtmlParser
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.ingest.reading_ports import FormatParser
from tests.fakes.containers import make_compound, make_epub, make_properties, make_tar, make_zip, wide_texts
from tests.fakes.format_reading import parse

REASONS = frozenset(
    (
        "damaged",
        "locked",
        "too_big",
        "too_many_entries",
        "expands_too_much",
        "nested_too_deep",
        "too_complex",
        "unsupported",
        "wrong_type",
    )
)
LETTER = (
    b"From: =?utf-8?B?6rmA?= <kim@example.org>\nSubject: =?euc-kr?Q?=C8=B8?= s\nDate: Sun, 1 Mar 2026 12:00:00 +0900\n"
    b'Content-Type: multipart/mixed; boundary="X"\n\n--X\nContent-Type: text/html; charset=euc-kr\n'
    b"Content-Transfer-Encoding: quoted-printable\n\n<p>=C8=B8=C0=C7</p>\n--X\n"
    b"Content-Disposition: attachment; filename*0*=utf-8''%ED%95; filename*1*=%9C.bin\n"
    b"Content-Transfer-Encoding: base64\n\nAAAA\n--X\nContent-Type: message/rfc822\n\nSubject: in\n\nx\n--X--\n"
)
PAGE = "<html lang=ko><meta charset=utf-8><h1>제목</h1><table><tr><th colspan=2>a<td>b</table><ul><li>x<pre>y</ul>"
NOTEBOOK = (
    '{"nbformat": 4, "metadata": {"title": "t"}, "cells": [{"cell_type": "markdown", "source": ["# a\\n"]}, '
    '{"cell_type": "code", "source": "1", "outputs": [{"output_type": "stream", "text": "1"}, '
    '{"data": {"text/html": "<table><tr><td>1</table>", "image/png": "AAAA"}}]}]}'
)
FEED = (
    "<rss><channel><title>t</title><item><title>a</title><link>http://x/</link><pubDate>Sun, 01 Mar 2026 12:00:00 "
    "+0900</pubDate><description>&lt;p&gt;words&lt;/p&gt;</description></item></channel></rss>"
)
MESSAGE = make_compound(
    {
        **wide_texts({0x37: "s", 0x1000: "words", 0x0C1A: "Kim"}),
        "__properties_version1.0": make_properties(32, {0x39: 1 << 56, 0x3FFD: 949}),
        "__recip_version1.0_#00000000": {**wide_texts({0x3001: "Ann"}), "__properties_version1.0": b"\0" * 24},
        "__attach_version1.0_#00000000": {"__substg1.0_37010102": b"x" * 5_000, "__properties_version1.0": b"\0" * 24},
    }
)
BOOK = make_epub({"a.xhtml": PAGE, "b.xhtml": None}, metadata="<date>2026</date>")
FILES: dict[str, tuple[Callable[[], FormatParser], bytes]] = {
    "html": (lambda: HtmlParser(CharsetNormalizerDecoder()), PAGE.encode()),
    "feed": (FeedParser, FEED.encode()),
    "epub": (EpubParser, BOOK),
    "eml": (EmlParser, LETTER),
    "mbox": (
        MboxParser,
        b"From a@b Sun Mar  1 12:00:00 2026\n" + LETTER + b"\nFrom a@b Mon Mar  2 12:00:00 2026\n\nx\n",
    ),
    "msg": (MsgParser, MESSAGE),
    "notebook": (NotebookParser, NOTEBOOK.encode()),
    "zip": (ArchiveParser, make_zip({"a/b.md": "# A" * 50, "표.csv": "1"})),
    "tar": (ArchiveParser, make_tar([("a/b.md", b"# A" * 50)], links=[("l", "../x")])),
    "tar.xz": (ArchiveParser, make_tar([("a/b.md", b"# A" * 50)], mode="w:xz")),
}


def check(parser: FormatParser, data: bytes) -> None:
    reason = ""
    document = ParsedDocument(())
    try:
        document = parse(parser, data)
    except Unreadable as error:
        reason = error.reason
    assert reason in {"", *REASONS}
    end = 0
    for unit in document.coverage:
        assert unit.start == end + 1 <= unit.end
        end = unit.end
    for block in document.blocks:
        assert "\x00" not in block.text
        assert not re.search("[\ud800-\udfff]", block.text)
    names = [member.name for member in document.members]
    assert len({name.casefold() for name in names}) == len(names)
    assert not any(name.startswith("/") or ".." in name.split("/") or "\\" in name for name in names)


@pytest.mark.parametrize("kind", FILES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.binary(max_size=400))
def test_random_bytes_end_in_a_document_or_a_reason(kind: str, data: bytes) -> None:
    make, sample = FILES[kind]
    check(make(), data)
    check(make(), sample[:8] + data)


@pytest.mark.parametrize("kind", FILES)
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(cut=st.data())
def test_damaged_files_end_in_a_document_or_a_reason(kind: str, cut: st.DataObject) -> None:
    make, sample = FILES[kind]
    data = bytearray(sample[: cut.draw(st.integers(0, len(sample)))])
    for _ in range(cut.draw(st.integers(0, 6))):
        if data:
            data[cut.draw(st.integers(0, len(data) - 1))] = cut.draw(st.integers(0, 255))
    check(make(), bytes(data))


@pytest.mark.parametrize("kind", FILES)
def test_the_samples_themselves_are_read(kind: str) -> None:
    make, sample = FILES[kind]
    document = parse(make(), sample)
    assert document.blocks or document.members
