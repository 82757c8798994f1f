"""What a file is: content first, then its name."""

from __future__ import annotations

import pytest

from kb.adapters.files.media import media_type_of
from kb.domain.items import MediaType


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.md", b"# Hi", "markdown"),
        ("a.MD", "메모".encode(), "markdown"),
        ("a.txt", b"", "text"),
        ("a.txt", "caf\xe9".encode("latin-1"), "text"),
        ("a.txt", "한글".encode("utf-16"), "text"),
        ("a.txt", b"before\0after", "text"),
        ("a.py", b"print()", "code"),
        ("Makefile", b"all:", "code"),
        (".env", b"A=1", "code"),
        ("LICENSE", b"Permission is granted", "text"),
        ("notes", "끝".encode() * 4000, "text"),
        ("notes.xyz", b"plain words", "text"),
        ("blob", b"\0\1\2", "other"),
        ("blob.xyz", b"\xff\xfe\xfa\xf0\x80", "text"),
        ("blob.xyz", b"\x80\x81", "other"),
        ("a.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "pdf"),
        ("a.md", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "pdf"),
        ("a.pdf", b"%PDF-1.4\n1 0 obj", "pdf"),
        ("a", b"%PDF-1.4\n1 0 obj", "pdf"),
        ("about-pdf.md", b"%PDF-1.4 is how a PDF begins", "markdown"),
        ("a.pdf", b"<html><body>", "html"),
        ("a.pdf", b"damaged", "pdf"),
        ("a.html", b"<p>", "html"),
        ("page", b"\n<!-- x -->\n<!DOCTYPE html>", "html"),
        ("a.md", b"<html> in a note", "markdown"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0", "image"),
        ("a.txt", b"\x89PNG\r\n\x1a\n\0", "image"),
        ("photo", b"\xff\xd8\xff\xe0", "image"),
        ("a.webp", b"RIFF\0\0\0\0WEBPVP8 ", "image"),
        ("a.heic", b"\0\0\0\x18ftypheic\0", "image"),
        ("a.ogg", b"RIFF\0\0\0\0WAVEfmt ", "audio"),
        ("a.wav", b"OggS\0", "audio"),
        ("a.mp3", b"\xff\xfb\x90\0", "audio"),
        ("a.mp3", b"ID3\4\0\0", "audio"),
        ("id3.md", b"ID3 is a tag format", "markdown"),
        ("bm.txt", b"BM is short for business model", "text"),
        ("mz", b"MZ letters in a plain file", "text"),
        ("a.m4a", b"\0\0\0\x20ftypM4A \0", "audio"),
        ("a.mp4", b"\0\0\0\x20ftypisom\0", "video"),
        ("a.avi", b"RIFF\0\0\0\0AVI LIST", "video"),
        ("a.mkv", b"\x1aE\xdf\xa3\0", "video"),
        ("a.docx", b"PK\3\4\x14\0", "docx"),
        ("a.bin", b"PK\3\4\x14\0\x06\0[Content_Types].xml", "office"),
        ("a.odt", b"PK\3\4" + b"\0" * 26 + b"mimetypeapplication/vnd.oasis.opendocument.text", "odt"),
        ("a.zip", b"PK\3\4" + b"\0" * 26 + b"mimetypeapplication/epub+zip", "epub"),
        ("a.zip", b"PK\3\4\x14\0" + b"\0" * 9000 + b"META-INF/container.xml", "epub"),
        ("a.zip", b"PK\3\4\x14\0", "archive"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "office"),
        ("a.rtf", b"{\\rtf1\\ansi", "rtf"),
        ("a.gz", b"\x1f\x8b\x08\0", "archive"),
        ("a.tar", b"a" + b"\0" * 256 + b"ustar\0", "archive"),
        ("a.eml", b"From: a@b", "eml"),
        ("a.bin", b"PK\3\4\x14\0\x06\0[Content_Types].xml" + b"\0" * 9000 + b"word/document.xml", "docx"),
        ("a.csv", b"a,b\n1,2", "csv"),
        ("a.ipynb", b"{}", "notebook"),
        ("mail.bin", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "__substg1.0_".encode("utf-16-le"), "msg"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook".encode("utf-16-le"), "xls"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "docx"),
        ("a", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "office"),
        ("news.xml", b'<?xml version="1.0"?>\n<?xml-stylesheet href="a.xsl"?>\n<!-- x --><rss version="2.0">', "feed"),
        ("news.xml", b"\xef\xbb\xbf<rss>", "feed"),
        ("news.xml", b'<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "rss.dtd">\n<rss version="0.91">', "feed"),
        ("news", b'<feed xml:lang="ko"\n xmlns="http://www.w3.org/2005/Atom">', "feed"),
        ("news.rdf", b'<rdf:RDF xmlns:rdf="x#" xmlns="http://purl.org/rss/1.0/">', "feed"),
        ("classes.xml", b'<rdf:RDF xmlns:rdf="x#" xmlns:owl="http://www.w3.org/2002/07/owl#">', "code"),
        ("cattle.xml", b"<feed><hay/></feed>", "code"),
        ("rss.md", b"<rss> is the first element", "markdown"),
        ("pom.xml", b'<?xml version="1.0"?><project>', "code"),
        ("page.xml", b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">', "html"),
        ("page", b'<?xml version="1.0"?>\n<!DOCTYPE html>', "html"),
        ("page.xml", b"<html><b/></html>", "code"),
        ("program", b"\x7fELF\2\1\1\0", "other"),
        ("a.sqlite", b"SQLite format 3\0", "other"),
    ],
)
def test_the_family_of_a_file(name: str, data: bytes, expected: str) -> None:
    assert media_type_of(f"folder.v1/{name}", data) is MediaType(expected)


def test_a_sample_that_ends_inside_a_letter_is_text() -> None:
    assert media_type_of("notes", b"x" + "가".encode() * 5000) is MediaType.TEXT


def test_a_page_that_begins_with_many_comments_is_told_at_once() -> None:
    # A hang here would fail the suite by its time limit.
    assert media_type_of("a", b"<!-- x -->" * 700 + b"<p>") is MediaType.TEXT
    assert media_type_of("a", b"<!-- x -->" * 700 + b"<html>") is MediaType.HTML
