"""Terms: what a word, an identifier, a CJK run becomes; and a golden file that holds all of it."""

from __future__ import annotations

import hashlib
import json
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kb.adapters.tantivy.analysis import ANALYZER_VERSION, cjk_terms, in_order, index_text, query_terms, word_terms

_SAMPLES = (
    "getUserName in my_module.py: HTTPServer v1.2.3, 3.14, C++ and C#; parse_query_lenient, a/b-c.d@e",
    "Cities, houses, buses; naïve café, Straße, đường, Ærø; ΑΘΉΝΑ",
    "Языки мира: языка, языков 2019; والعربيّة لغة; हिन्दी ภาษาไทย עברית",
    "步2 重跑gen-itgc后50条悬空引用清零。資料庫與资料库",
    "학교에서는 자연을 배운다. ﾃﾞｰﾀ、サンドボックス Ｆｕｌｌ ＷＩＤＴＨ１２",
    unicodedata.normalize("NFD", "한국어를 café"),
    "\0 \ud800 🎉 \u200b x" + "y" * 90,
)
_GOLDEN = {"2": "bb6eeb5bc70b1bf1"}


def _digest() -> str:
    found = [[list(index_text(text, text[:40])), query_terms(text).by_kind] for text in _SAMPLES]
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]


def test_output_changes_only_with_the_version() -> None:
    assert _digest() == _GOLDEN.get(ANALYZER_VERSION), (
        "terms changed: raise ANALYZER_VERSION in analysis.py, so that indexes are rebuilt, and put the digest here"
    )


def test_identifiers_are_split_and_kept_whole() -> None:
    terms = word_terms("getUserName in my_module.py calls HTTPServer")
    assert {"getusername", "get", "user", "name", "my", "module", "http", "server"} <= set(terms.words)
    assert "my_module.py" in terms.compounds


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Python 3.11 is", "3.11"),
        ("v1.2.3", "v1.2.3"),
        ("see src/kb/index.py", "src/kb/index.py"),
        ("write to ann@example.org", "ann@example.org"),
        ("C++ and C#", "c++"),
        ("std::vector", "std::vector"),
        ("usb-c", "usb-c"),
    ],
)
def test_numbers_paths_and_names_with_marks_are_kept_whole(text: str, whole: str) -> None:
    assert whole in word_terms(text).compounds


@pytest.mark.parametrize(
    ("one", "other"), [("cities", "city"), ("houses", "house"), ("café", "cafe"), ("đường", "duong")]
)
def test_forms_of_a_latin_word_share_a_stem(one: str, other: str) -> None:
    assert word_terms(one).stems == word_terms(other).stems


@pytest.mark.parametrize(("one", "other"), [("языка", "языков"), ("العربية", "والعربيّة")])
def test_forms_of_words_in_other_alphabets_share_letter_triples(one: str, other: str) -> None:
    assert set(word_terms(one).triples) & set(word_terms(other).triples)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("資料庫", "资料库"),
        ("ﾃﾞｰﾀ", "データ"),
        ("한국어", unicodedata.normalize("NFD", "한국어")),
    ],
)
def test_forms_of_a_cjk_word_have_the_same_terms(one: str, other: str) -> None:
    assert cjk_terms(one) == cjk_terms(other)
    assert word_terms("ＡＢＣ１２３") == word_terms("abc123")


def test_pairs_never_cross_the_end_of_a_run() -> None:
    assert cjk_terms("안녕 세계").pairs == ["안녕", "세계"]
    assert cjk_terms("안녕 세계").starts == ["안녕~", "세계~"]


def test_a_question_asks_for_single_letters_only_when_a_run_is_one() -> None:
    kinds = dict(query_terms("小猫").by_kind)
    assert kinds["single"] == ()
    assert dict(query_terms("猫").by_kind)["single"] == ("猫",)


def test_no_term_is_long_enough_to_be_refused() -> None:
    terms = word_terms("x" * 100_000 + " " + "a.b" * 50_000)
    assert max(map(len, (*terms.words, *terms.compounds))) <= 200


@given(st.text(max_size=400))
def test_every_text_has_terms_that_can_be_written(text: str) -> None:
    for field, terms in index_text(text, text):
        terms.encode()
        assert terms.split() == terms.split(" "), field


@settings(max_examples=500, deadline=None)
@given(st.text(st.characters(codec=None), max_size=200) | st.text("aB1_.#-+:( \u00b4한中ｱé\u0301я", max_size=30))
@example("C#, _a->b_ 'getUser' (HTTPServer) a.b. \u00b4x 中a国 #c a\u0301")
def test_a_text_analysed_piece_by_piece_has_the_terms_of_the_whole(text: str) -> None:
    words, cjk = word_terms(text), cjk_terms(text)
    whole = {
        "words": words.words + words.compounds,
        "stem": words.stems,
        "gram": words.triples,
        "cjk": cjk.pairs + cjk.starts,
        "cjk1": cjk.singles,
        "order": in_order(text),
    }
    pieces = {field: sorted(terms.split()) for field, terms in index_text(text, "")}
    assert pieces == {field: sorted(terms) for field, terms in whole.items() if terms}
    assert dict(index_text(text, "")).get("order", "").split() == in_order(text)


@given(st.text(max_size=200))
def test_a_question_finds_the_text_it_was_copied_from(text: str) -> None:
    asked = query_terms(text)
    held = {term for _, terms in index_text(text, "") for term in terms.split()}
    assert all(term in held for _, terms in asked.by_kind for term in terms)
