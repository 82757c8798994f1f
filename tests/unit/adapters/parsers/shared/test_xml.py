"""XML from strangers: entities stand for nothing, and nothing outside is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.adapters.parsers.shared.xml import elements, local, parsed, refuse_doctype, words_of
from kb.domain.errors import Unreadable

LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a0 "ha">'
    + b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 10))
    + b"]><a>before &a9; after</a>"
)


def reason_of(data: bytes, *, doctype: bool = False) -> str:
    with pytest.raises(Unreadable) as caught:
        parsed(data, doctype=doctype)
    return caught.value.reason


def test_words_and_names_of_elements() -> None:
    root = parsed("<n:a xmlns:n='u'>one <!-- no --><b>두 번째</b> three</n:a>".encode())
    assert local(root) == "a"
    assert words_of(root) == "one 두 번째 three"


def test_a_billion_laughs_are_refused_in_office_parts() -> None:
    assert reason_of(LAUGHS) == "too_complex"


def test_a_billion_laughs_are_refused_where_a_document_type_is_allowed_too() -> None:
    assert reason_of(LAUGHS, doctype=True) == "too_complex"
    assert words_of(parsed(LAUGHS.replace(b"&a9;", b""), doctype=True)) == "before  after"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", "cp037"])
def test_a_document_type_is_seen_in_any_encoding(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    assert reason_of(text.encode(encoding)) in {"too_complex", "damaged"}


def test_a_file_of_this_computer_is_not_read_through_an_entity(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    text = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">]><a>[&x;]</a>'.encode()
    assert words_of(parsed(text, doctype=True)) == "[]"
    assert reason_of(text) == "too_complex"


def test_a_document_type_elsewhere_is_not_fetched(tmp_path: Path) -> None:
    outside = tmp_path / "outside.dtd"
    outside.write_text('<!ENTITY x "fetched">')
    text = f'<!DOCTYPE a SYSTEM "{outside.as_uri()}"><a>[&x;]</a>'.encode()
    assert words_of(parsed(text, doctype=True, forgiving=True)) == "[]"


def test_the_text_around_an_entity_stays_in_order() -> None:
    text = b'<!DOCTYPE a [<!ENTITY x "no">]><a>1&x;2<b>3</b>4&x;5</a>'
    assert words_of(parsed(text, doctype=True)) == "12345"


def test_elements_without_end_are_too_complex_or_damaged() -> None:
    assert reason_of(b"<a>" * 100_000) == "too_complex"
    assert reason_of(b"<a><b></a>") == "damaged"
    assert reason_of(b"") == "damaged"
    assert reason_of(b"no xml at all") == "damaged"


def test_one_text_beyond_ten_megabytes_is_too_complex() -> None:
    assert reason_of(b"<a>" + b"x" * (11 << 20) + b"</a>") == "too_complex"


def test_xml_without_a_document_type_passes() -> None:
    refuse_doctype(b"<?xml version='1.0'?><a>&amp;</a>")


def test_a_long_part_is_read_element_by_element() -> None:
    rows = b"".join(b"<row n='%d'><c>%d</c></row>" % (n, n) for n in range(50_000))
    found = [(row.get("n"), words_of(row)) for row in elements(b"<t xmlns='u'><x/>" + rows + b"</t>", "row")]
    assert found == [(str(n), str(n)) for n in range(50_000)]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(LAUGHS, "too_complex"), (b"<t><row/>", "damaged"), (b"", "damaged"), (b"<t>" * 9000, "too_complex")],
    ids=["laughs", "open", "empty", "deep"],
)
def test_what_is_refused_as_a_tree_is_refused_element_by_element(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        list(elements(data, "row"))
    assert caught.value.reason == reason
