"""Questions and judgements of others: the folder of BEIR, topics and qrels of TREC; and out again as BEIR."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kb.domain.errors import InvalidInput, KebabError
from kb.domain.paths import workspace_path
from kb.evaluation.suites import GoldenQuery, Suite

_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*(\S+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*(.*?)\s*(?=<|$)", re.DOTALL | re.IGNORECASE)
_COLUMNS = 4
_BEIR_COLUMNS = 3
_LARGEST = 1 << 30


def read_beir(folder: Path, split: str, path: str, name: str) -> tuple[Suite, int]:
    """Return the suite of a BEIR folder, and how many questions are left out since nothing is judged for them.

    Args:
        folder: has `queries.jsonl` and `qrels/<split>.tsv` (query-id, corpus-id, score; a score above 0 is right).
        split: which judgements.
        path: of a document in the workspace; `{id}` stands for its id.
        name: of the suite.

    Raises:
        InvalidInput: a file is missing or a line is not as described; the message names it.
    """
    queries: dict[str, str] = {}
    for number, line in _lines(folder / "queries.jsonl"):
        try:
            entry = json.loads(line)
            queries[str(entry["_id"])] = str(entry["text"])
        except (ValueError, KeyError, TypeError) as error:
            raise _wrong("queries.jsonl", number, "it has no `_id` and `text`") from error
    qrels = _judged(folder / "qrels" / f"{split}.tsv", _BEIR_COLUMNS, (0, 1, 2), "\t", skips_head=True)
    return _suite(queries, qrels, path, name)


def read_trec(topics: Path, qrels: Path, path: str, name: str) -> tuple[Suite, int]:
    """Return the suite of TREC topics (`<top>` with `<num>` and `<title>`, or `id<TAB>query`) and qrels.

    Raises:
        InvalidInput: a file is missing or a line is not as described; the message names it.
    """
    text = "\n".join(line for _, line in _lines(topics))
    queries: dict[str, str] = {}
    for topic in _TOPIC.findall(text):
        number, title = _NUMBER.search(topic), _TITLE.search(topic)
        if number is None or title is None:
            raise InvalidInput(f"a topic of {topics.name!r} has no <num> or <title>", hint="mend it there")
        queries[number[1]] = " ".join(title[1].split())
    if not queries:
        for number_of_line, line in _lines(topics):
            key, tab, query = line.partition("\t")
            if not tab or not query.strip():
                raise _wrong(topics.name, number_of_line, "it is neither a <top> nor `id<TAB>query`")
            queries[key.strip()] = query.strip()
    return _suite(queries, _judged(qrels, _COLUMNS, (0, 2, 3), None, skips_head=False), path, name)


def write_beir(suite: Suite, folder: Path) -> int:
    """Write a suite as a BEIR folder, split `test`; return how many judgements it has.

    Documents are written as the suite names them, places and chunks by their URI or id.

    Raises:
        InvalidInput: the folder cannot be written, or is there and not empty.
    """
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise InvalidInput(f"the folder {folder.name!r} is not empty", hint="name one that is, or a new one")
        (folder / "qrels").mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"_id": one.query_id, "text": one.query}, ensure_ascii=False) for one in suite.queries]
        (folder / "queries.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
        judged = [f"{one.query_id}\t{target.key}\t1" for one in suite.queries for target in one.targets]
        text = "query-id\tcorpus-id\tscore\n" + "".join(f"{line}\n" for line in judged)
        (folder / "qrels" / "test.tsv").write_text(text, "utf-8")
    except OSError as error:
        raise InvalidInput(
            f"the folder {folder.name!r} cannot be written", hint="is there room, and may you?"
        ) from error
    return len(judged)


def _suite(
    queries: Mapping[str, str], qrels: Mapping[str, list[tuple[str, float]]], path: str, name: str
) -> tuple[Suite, int]:
    if "{id}" not in path:
        raise InvalidInput("the path of documents has no {id}", hint="such as --path 'corpus/{id}.txt'")
    golden = []
    for query_id, query in queries.items():
        right = [doc for doc, score in qrels.get(query_id, ()) if score > 0]
        if not right or not query.strip():
            continue
        try:
            docs = tuple(str(workspace_path(path.replace("{id}", doc))) for doc in dict.fromkeys(right))
        except KebabError as error:
            raise InvalidInput(f"the question {query_id!r} has a document that is no path", hint=error.hint) from error
        golden.append(GoldenQuery(query_id, query, expected_docs=docs))
    if not golden:
        raise InvalidInput("no question of it has a judgement", hint="do the ids of questions and qrels agree?")
    return Suite(name, tuple(golden)), len(queries) - len(golden)


def _judged(
    file: Path, columns: int, used: tuple[int, int, int], separator: str | None, *, skips_head: bool
) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    for number, line in _lines(file):
        cells = line.rstrip("\r\n").split(separator)
        if skips_head and number == 1:
            continue
        try:
            if len(cells) != columns:
                raise ValueError(line)  # noqa: TRY301 - one way out for all that is wrong with a line
            query, doc, score = (cells[place] for place in used)
            found.setdefault(query, []).append((doc, float(score)))
        except ValueError as error:
            raise _wrong(file.name, number, f"it has not {columns} columns with a number last") from error
    return found


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        if file.stat().st_size > _LARGEST:
            raise InvalidInput(f"{file.name!r} is larger than 1 GB", hint="split it")
        lines: Iterable[str] = file.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file.name!r} cannot be read", hint="is it there, and UTF-8?") from error
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def _wrong(file: str, line: int, what: str) -> InvalidInput:
    return InvalidInput(f"{file}, line {line}: {what}", hint="mend the file there")
