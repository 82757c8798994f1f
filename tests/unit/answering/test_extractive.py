from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.answering.extractive import MAX_CHARACTERS, MAX_SENTENCES, best_sentences, best_unit
from kb.answering.terms import overlap, rarity, terms
from kb.retrieval.values import Hit
from tests.fakes.evidence import hit

BACKUP = (
    "Our backup plan has three parts. The backup runs every Sunday at 03:00. "
    "It is stored on the disk in the cellar. The cat is called Miso."
)


def quoted(question: str, *hits: Hit) -> list[str]:
    return [hits[e.hit].stored.chunk.text[e.unit.start : e.unit.end] for e in best_sentences(question, hits)]


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("When does the backup run?", BACKUP, "The backup runs every Sunday at 03:00."),
        ("고양이의 이름은?", "백업은 일요일에 한다. 고양이의 이름은 미소이다.", "고양이의 이름은 미소이다."),
        ("备份什么时候运行？", "猫叫味噌。备份每周日三点运行。天气很好。", "备份每周日三点运行。"),
        ("Which port does the server use?", "| key | value |\n|---|---|\n| server port | 80 |", "| server port | 80 |"),
        ("How many apples?", "Rules for shopping:\n- apples: 3 kg\n- pears: none", "apples: 3 kg"),
        ("Why SQLite?", "We use SQLite. The reason is simple backups. Snow is white.", "The reason is simple backups."),
        ("Who owns the sign stage?", "stage | owner\nbuild | Mirae\nsign | Otto", "sign | Otto"),
        ("Who owns the decision?", "The decision was made in May. Owner: Kim. It rains.", "Owner: Kim."),
    ],
)  # fmt: skip
def test_the_sentence_that_answers_is_quoted_verbatim(question: str, text: str, answer: str) -> None:
    assert answer in quoted(question, hit(1, text))


def test_the_passage_that_answers_wins_over_a_better_ranked_one() -> None:
    other = hit(1, "Servers need care. Care is important for servers.", relevance=0.8)
    assert quoted("When does the backup run?", other, hit(2, BACKUP, relevance=0.7))[0].startswith(
        ("The backup", "Our")
    )


def test_extracts_stand_in_the_order_of_the_evidence() -> None:
    found = best_sentences(
        "When does the backup run and where is it stored?", [hit(1, BACKUP), hit(2, BACKUP + " More.")]
    )
    assert [(e.hit, e.unit.start) for e in found] == sorted((e.hit, e.unit.start) for e in found)


def test_a_sentence_that_two_overlapping_chunks_hold_is_quoted_once() -> None:
    found = quoted("When does the backup run?", hit(1, BACKUP), hit(2, BACKUP))
    assert len(found) == len(set(found))


def test_repeating_the_question_is_not_an_answer() -> None:
    text = "When does the backup run?\nThe backup runs on Sunday at three."
    found = best_sentences("When does the backup run?", [hit(1, text)])
    assert max(found, key=lambda e: e.score).unit.start > 0


@pytest.mark.parametrize(
    ("question", "noise", "answer"),
    [
        ("Reading a ref", "const value = ref.current; // reading a ref", "Reading a ref while rendering breaks React."),
        ("Reading a ref", "### Reading a ref while rendering", "Reading a ref while rendering breaks React."),
        ("区别是什么", "插件和组件的区别有哪些？", "插件和组件的区别在于插件没有模板。"),
        ("What is a render function?", "import render from './render.function'", "A render function makes the tree."),
    ],
)
def test_code_headings_and_questions_stand_behind_what_is_told(question: str, noise: str, answer: str) -> None:
    found = best_sentences(question, [hit(1, f"{noise}\n\n{answer}")])
    best = max(found, key=lambda e: e.score)
    assert best.unit.start > len(noise)


def test_a_heading_above_its_text_stands_behind_it() -> None:
    text = "The cellar is dry.\n\nWhere backups are kept\nThe disk in the cellar is where backups are kept."
    best = max(best_sentences("Where are backups kept?", [hit(1, text)]), key=lambda e: e.score)
    assert text[best.unit.start :].startswith("The disk")


def test_a_heading_of_the_passage_is_no_answer_however_it_is_marked_up() -> None:
    text = "Backups and `restores`\nThey run on Sunday."
    assert quoted("backups and restores", hit(1, text, heading=["Backups and restores"])) == ["They run on Sunday."]


def test_one_overlong_sentence_is_quoted_rather_than_nothing() -> None:
    assert quoted("alpha?", hit(1, "alpha " * 400)) != []


def test_hits_without_words_give_nothing() -> None:
    assert best_sentences("What?", [hit(1, "---\n***")]) == []


def test_a_claim_finds_the_sentence_it_shares_most_with() -> None:
    unit = best_unit("Backups happen on Sunday at 03:00", BACKUP)
    assert unit is not None
    assert BACKUP[unit.start : unit.end] == "The backup runs every Sunday at 03:00."
    assert best_unit("Zebras", BACKUP) is None


def test_words_without_spaces_are_compared_by_pairs_of_letters() -> None:
    assert terms("한국어") == {"한국", "국어"}
    assert terms("Backups") & terms("backup")
    assert terms("ＦＵＬＬ width") == terms("full width")
    assert overlap(terms("the backup"), terms("a backup"), rarity([terms("a backup")])) == 1.0


@given(st.text(max_size=60), st.lists(st.text(alphabet="abc 가나中文.。\n|-1", max_size=400), min_size=1, max_size=4))
def test_an_extract_is_short_verbatim_and_deterministic(question: str, passages: list[str]) -> None:
    hits = [hit(n, text) for n, text in enumerate(passages, start=1)]
    found = best_sentences(question, hits)
    assert len(found) <= MAX_SENTENCES
    assert len(found) <= 1 or sum(e.unit.end - e.unit.start for e in found) <= MAX_CHARACTERS
    assert found == best_sentences(question, hits)


def shared(name: str) -> Path:
    root = Path(os.environ.get("KEBAB_SHARED", Path(__file__).resolve().parents[4] / "shared"))
    path = root / "data" / name
    if not path.is_dir():
        pytest.skip(f"the data set {name} is not here (KEBAB_SHARED)")
    return path


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_extract_holds_the_answer_of_nine_questions_in_ten(language: str) -> None:
    folder = shared(f"xquad-{language}")
    passages = {
        row["id"]: row["text"] for row in map(json.loads, (folder / "passages.jsonl").read_text("utf-8").splitlines())
    }
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()][::6]
    bags = {name: terms(text) for name, text in passages.items()}
    weights = rarity(bags.values())
    held = 0
    for row in questions:
        wanted = terms(row["question"])
        near = sorted(passages, key=lambda name: -overlap(wanted, bags[name], weights))[:5]
        names = near if row["passage"] in near else [*near[:4], row["passage"]]
        hits = [hit(n, passages[name], relevance=1 - n / 10) for n, name in enumerate(names, start=1)]
        extract = "\n".join(quoted(row["question"], *hits))
        held += any(answer in extract for answer in row["answers"])
    assert held / len(questions) >= 0.88


def test_prose_is_quoted_before_code_and_never_beside_it() -> None:
    code = hit(1, "def needs_new_pack(resting_voltage):\n    return resting_voltage < 3.35", media="code")
    note = hit(2, "Replace the pack when the resting voltage is below 3.35 V. It rains.")
    assert quoted("At what resting voltage is the pack replaced?", code, note) == [
        "Replace the pack when the resting voltage is below 3.35 V."
    ]


def test_the_best_passage_comes_first_whatever_its_rank() -> None:
    weak = hit(1, "A backup runs away. It rains.")
    strong = hit(2, "The backup runs every Sunday at 03:00. It rains.")
    assert quoted("When does the backup run?", weak, strong)[0] == "The backup runs every Sunday at 03:00."
