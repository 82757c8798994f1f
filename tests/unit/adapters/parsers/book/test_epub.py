from __future__ import annotations

import pytest

from kb.adapters.parsers.book.epub import EpubParser
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from tests.fakes.containers import make_epub, make_png, make_zip
from tests.fakes.format_reading import ledger, parse, short_id, shown

XHTML = '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{}</body></html>'
METADATA = (
    "<dc:title>빵의 책</dc:title><dc:creator>Kim</dc:creator><dc:creator>Lee</dc:creator><dc:language>ko</dc:language>"
    "<dc:date>2026-03-01</dc:date><dc:subject>bread</dc:subject>"
)
CHAPTERS = {
    "one.xhtml": XHTML.format("<h1>Rye</h1><p>Dark.</p><h2>Sour</h2><p>Wild.</p>"),
    "sub/two.xhtml": XHTML.format("<p>Light.</p>"),
}


def test_a_book_is_read_in_its_order_with_one_numbering() -> None:
    document = parse(EpubParser(), make_epub(CHAPTERS, metadata=METADATA))
    assert shown(document) == [
        ("heading", 1, "Rye"),
        ("paragraph", 1, "Dark."),
        ("heading", 2, "Sour"),
        ("paragraph", 2, "Wild."),
        ("paragraph", 3, "Light."),
    ]
    assert ledger(document) == [(1, 3, "text", None)]
    assert document.front_matter == {
        "title": "빵의 책",
        "author": "Kim, Lee",
        "lang": "ko",
        "created": "2026-03-01T00:00:00",
        "subjects": "bread",
    }


NAVIGATION = XHTML.format(
    '<nav xmlns:epub="http://www.idpf.org/2007/ops" epub:type="toc"><ol><li><a href="sub/two.xhtml#x">Wheat</a>'
    "</li></ol></nav>"
)
NCX = (
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Wheat</text></navLabel>'
    '<content src="sub/two.xhtml"/></navPoint></navMap></ncx>'
)


@pytest.mark.parametrize(
    ("item", "name", "content"),
    [
        (
            '<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
            "nav.xhtml",
            NAVIGATION,
        ),
        ('<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>', "toc.ncx", NCX),
    ],
    ids=short_id,
)
def test_a_chapter_without_a_heading_has_the_title_of_the_contents(item: str, name: str, content: str) -> None:
    document = parse(EpubParser(), make_epub(CHAPTERS, manifest=item, extra={f"OEBPS/{name}": content}))
    assert shown(document)[-2:] == [("heading", 3, "Wheat"), ("paragraph", 3, "Light.")]


def test_a_page_the_book_lists_but_does_not_hold_is_accounted_for() -> None:
    document = parse(EpubParser(), make_epub({"one.xhtml": CHAPTERS["one.xhtml"], "lost.xhtml": None}))
    assert ledger(document) == [(1, 2, "text", None), (3, 3, "failed", "missing")]


def test_a_page_without_words_is_blank_and_its_big_picture_a_member() -> None:
    page = XHTML.format('<img src="../pictures/plan.png"/><img src="pictures/icon.png"/>')
    pictures = "".join(f'<item id="{n}" href="pictures/{n}.png" media-type="image/png"/>' for n in ("plan", "icon"))
    book = make_epub(
        {"text/one.xhtml": page},
        manifest=pictures,
        extra={
            "OEBPS/pictures/plan.png": make_png(800, 600, 9_000),
            "OEBPS/pictures/icon.png": make_png(16, 16, 9_000),
        },
    )
    document = parse(EpubParser(), book)
    assert ledger(document) == [(1, 1, "blank", None)]
    assert [member.name for member in document.members] == ["OEBPS/pictures/plan.png"]


def test_names_that_climb_out_of_the_book_reach_nothing_outside_it() -> None:
    page = XHTML.format('<p>words</p><img src="../../../../etc/passwd"/>')
    book = make_epub({"../../one.xhtml": page}, extra={"../../../evil.png": make_png(800, 600, 9_000)})
    document = parse(EpubParser(), book)
    assert ledger(document) == [(1, 1, "failed", "missing")]
    assert document.members == ()


def test_a_page_beside_the_folder_of_the_package_is_found() -> None:
    book = make_epub({"../text/one.xhtml": None}, extra={"text/one.xhtml": CHAPTERS["sub/two.xhtml"]})
    assert shown(parse(EpubParser(), book)) == [("paragraph", 1, "Light.")]


def encryption(name: str, method: str) -> dict[str, str]:
    return {
        "META-INF/encryption.xml": (
            '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<EncryptedData xmlns="http://www.w3.org/2001/04/xmlenc#">'
            f'<EncryptionMethod Algorithm="{method}"/><CipherData><CipherReference URI="{name}"/></CipherData>'
            "</EncryptedData></encryption>"
        )
    }


AES = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"


def test_a_locked_page_is_accounted_for_and_its_cipher_is_not_read() -> None:
    document = parse(EpubParser(), make_epub(CHAPTERS, extra=encryption("OEBPS/sub/two.xhtml", AES)))
    assert ledger(document) == [(1, 2, "text", None), (3, 3, "skipped", "encrypted")]
    assert "Light." not in str(shown(document))


def test_a_book_whose_fonts_alone_are_hidden_is_read() -> None:
    fonts = encryption("OEBPS/font.otf", "http://www.idpf.org/2008/embedding")
    assert ledger(parse(EpubParser(), make_epub(CHAPTERS, extra=fonts))) == [(1, 3, "text", None)]


LAUGHS = '<!DOCTYPE package [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
FILE = '<!DOCTYPE package [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("book", "reason"),
    [
        (make_epub({"one.xhtml": CHAPTERS["one.xhtml"]}, extra=encryption("OEBPS/one.xhtml", AES)), "locked"),
        (make_epub(CHAPTERS, prolog=LAUGHS, metadata="<dc:title>&b;</dc:title>"), "too_complex"),
        (make_epub(CHAPTERS, prolog=FILE, metadata="<dc:title>&x;</dc:title>"), "too_complex"),
        (make_epub({"one.xhtml": "<p>" + "a" * 20_000_000}), "expands_too_much"),
        (make_zip({"mimetype": "application/epub+zip"}), "damaged"),
        (make_epub({}), "damaged"),
        (make_epub(CHAPTERS)[:700], "damaged"),
        (b"", "damaged"),
        (make_epub({f"p{n}.xhtml": "<p>x" for n in range(60)}), "too_many_entries"),
    ],
    ids=short_id,
)
def test_what_is_no_honest_book_fails_with_its_reason(book: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(EpubParser(), book, limits=ReadingLimits(entries=50))
    assert caught.value.reason == reason


def test_entities_in_a_page_stand_for_nothing() -> None:
    page = (
        '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><html xmlns="http://www.w3.org/1999/xhtml"><p>a &x; b'
    )
    assert shown(parse(EpubParser(), make_epub({"one.xhtml": page}))) == [("paragraph", 1, "a &x; b")]
