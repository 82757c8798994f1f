"""Sets of others: BEIR and TREC."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.app.evaluation.imports import read_beir, read_trec, write_beir
from kb.domain.errors import InvalidInput


def test_a_beir_folder_becomes_a_suite(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "猫？"}\n{"_id": "2", "text": "unjudged"}\n', "utf-8")
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td7\t2\n1\td8\t0\n", "utf-8")
    suite, left_out = read_beir(tmp_path, "test", "corpus/{id}.txt", "beir")
    (one,) = suite.queries
    assert (one.query_id, one.query, one.expected_docs, left_out) == ("1", "猫？", ("corpus/d7.txt",), 1)
    out = tmp_path / "out"
    assert write_beir(suite, out) == 1
    again, _ = read_beir(out, "test", "{id}", "beir")
    assert again.queries == suite.queries
    with pytest.raises(InvalidInput, match="not empty"):
        write_beir(suite, out)


@pytest.mark.parametrize(
    "topics",
    ["<top>\n<num> Number: 301\n<title> Topic: red\n cats\n<desc>\nx\n</top>\n", "301\tred cats\n"],
)
def test_topics_and_qrels_of_trec_become_a_suite(tmp_path: Path, topics: str) -> None:
    (tmp_path / "topics").write_text(topics, "utf-8")
    (tmp_path / "qrels").write_text("301 0 FT1 1\n301 0 FT2 0\n", "utf-8")
    suite, _ = read_trec(tmp_path / "topics", tmp_path / "qrels", "{id}.txt", "trec")
    (one,) = suite.queries
    assert (one.query_id, one.query, one.expected_docs) == ("301", "red cats", ("FT1.txt",))


@pytest.mark.parametrize(
    ("qrels", "path", "said"),
    [
        ("301 FT1 1\n", "{id}", "qrels, line 1: it has not 4 columns"),
        ("301 0 FT1 much\n", "{id}", "qrels, line 1:"),
        ("999 0 FT1 1\n", "{id}", "no question of it has a judgement"),
        ("301 0 FT1 1\n", "x", "has no {id}"),
        ("301 0 ../FT1 1\n", "{id}", "is no path"),
    ],
)
def test_what_is_wrong_with_a_set_is_named(tmp_path: Path, qrels: str, path: str, said: str) -> None:
    (tmp_path / "topics").write_text("301\tcats\n", "utf-8")
    (tmp_path / "qrels").write_text(qrels, "utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_trec(tmp_path / "topics", tmp_path / "qrels", path, "trec")
    assert said in caught.value.message
