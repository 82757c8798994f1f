from __future__ import annotations

import pytest

from kb.adapters.parsers.web.feed import FeedParser
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from tests.fakes.format_reading import ledger, parse, short_id, shown

RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
     xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
<title>Bread news</title><link>https://bread.example/</link><description>All about bread</description>
<language>en</language>
<item><title>Rye &amp;amp; wheat</title><link>https://bread.example/rye</link><dc:creator>Lee</dc:creator>
<pubDate>Sun, 01 Mar 2026 12:00:00 +0900</pubDate><description>Short.</description>
<content:encoded><![CDATA[<h2>Rye</h2><p>Long and <b>dark</b>.</p><script>no()</script>]]></content:encoded></item>
<item><title>Second</title><description>Plain words.</description></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="ko"><title>빵</title>
<entry><title type="html">&lt;b&gt;호밀&lt;/b&gt;</title><link rel="alternate" href="https://bread.example/1"/>
<updated>2026-03-01T12:00:00Z</updated><author><name>김</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>검은 빵</p></div></content></entry></feed>"""


def test_a_feed_is_a_section_and_each_entry_one_more() -> None:
    document = parse(FeedParser(), RSS)
    assert shown(document) == [
        ("heading", 1, "Bread news"),
        ("paragraph", 1, "All about bread"),
        ("heading", 2, "Rye & wheat"),
        ("paragraph", 2, "2026-03-01 12:00:00+09:00\nLee\nhttps://bread.example/rye"),
        ("heading", 2, "Rye"),
        ("paragraph", 2, "Long and dark."),
        ("heading", 3, "Second"),
        ("paragraph", 3, "Plain words."),
    ]
    assert document.blocks[5].heading_path == ("Bread news", "Rye & wheat", "Rye")
    assert ledger(document) == [(1, 3, "text", None)]


def test_a_feed_says_its_title_language_and_address() -> None:
    facts = parse(FeedParser(), RSS).front_matter
    assert (facts["title"], facts["lang"], facts["url"]) == ("Bread news", "en", "https://bread.example/")


def test_atom_entries_are_read_with_their_pages() -> None:
    assert [text for _, _, text in shown(parse(FeedParser(), ATOM))] == [
        "빵",
        "호밀",
        "2026-03-01 12:00:00+00:00\n김\nhttps://bread.example/1",
        "검은 빵",
    ]


LAUGHS = '<!DOCTYPE rss [<!ENTITY a "lol">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (f"<?xml version='1.0'?>{LAUGHS}]><rss><channel><title>&j;</title></channel></rss>", "too_complex"),
        ('<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><title>&x;</title></rss>', "too_complex"),
        ("<html><body>words</body></html>", "wrong_type"),
        ("", "damaged"),
        ("no feed at all", "damaged"),
    ],
    ids=short_id,
)
def test_what_is_no_honest_feed_fails_with_its_reason(data: str, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(FeedParser(), data)
    assert caught.value.reason == reason


def test_an_old_feed_may_name_its_type() -> None:
    old = '<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://feeds.example/rss-0.91.dtd"><rss><channel>'
    assert shown(parse(FeedParser(), f"{old}<title>Old</title></channel></rss>")) == [("heading", 1, "Old")]


def test_a_feed_of_too_many_entries_fails() -> None:
    with pytest.raises(Unreadable) as caught:
        parse(FeedParser(), RSS, limits=ReadingLimits(entries=1))
    assert caught.value.reason == "too_many_entries"
