"""What every search for names promises."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

import pytest

from kb.app.facade.naming import NameSearch

Make = Callable[[Sequence[str]], NameSearch]

PATHS = (
    "a/김밥.md",
    "a/김밥 만들기.md",
    "b/Annual Report 2024.pdf",
    "deportation.txt",
    "getReport.py",
    "my-report.txt",
    "report.md",
    "x/보고서2024.hwp",
    "x/mail.eml!/Invoice.pdf",
    f"y/{unicodedata.normalize('NFD', '여행 계획')}.md",
    "z/資料庫 設計.md",
)


class NameSearchContract:
    """Subclasses give the fixture `make`, which gives the search over a library with such paths."""

    @pytest.mark.parametrize(
        ("query", "right"),
        [
            ("report.md", ["report.md"]),
            ("ＲＥＰＯＲＴ", ["report.md", "b/Annual Report 2024.pdf", "my-report.txt", "getReport.py"]),
            ("rep", ["report.md", "b/Annual Report 2024.pdf", "my-report.txt", "getReport.py"]),
            ("port", ["b/Annual Report 2024.pdf", "deportation.txt", "getReport.py", "my-report.txt", "report.md"]),
            ("report annual", ["b/Annual Report 2024.pdf"]),
            ("2024", ["b/Annual Report 2024.pdf", "x/보고서2024.hwp"]),
            ("서2024", ["x/보고서2024.hwp"]),
            ("invoice", ["x/mail.eml!/Invoice.pdf"]),
            ("김밥", ["a/김밥.md", "a/김밥 만들기.md"]),
            ("ㄱㅂ", ["a/김밥 만들기.md", "a/김밥.md"]),
            ("김ㅂ", ["a/김밥 만들기.md", "a/김밥.md"]),
            ("ㄱㅂ ㅁㄷ", ["a/김밥 만들기.md"]),
            ("ㅂㄱㅅ2024", ["x/보고서2024.hwp"]),
            ("ㅋㅋ", []),
            ("여행", [PATHS[9]]),
            (unicodedata.normalize("NFD", "계획"), [PATHS[9]]),
            ("资料库", ["z/資料庫 設計.md"]),
            ("设计", ["z/資料庫 設計.md"]),
            ("annaul 2024", ["b/Annual Report 2024.pdf"]),
            ("invocie", ["x/mail.eml!/Invoice.pdf"]),
            ("deprotatino", ["deportation.txt"]),
            ("rpt", []),
            ("?!", []),
            ("\x01\n", []),
        ],
    )
    def test_names_are_found_in_their_order(self, make: Make, query: str, right: list[str]) -> None:
        assert [hit.path for hit in make(PATHS).named(query, 10)] == right

    def test_exact_comes_before_starts_words_insides_and_slips(self, make: Make) -> None:
        paths = ["9/plan.md", "plan", "planet.md", "a plan.md", "airplane.md", "paln.md"]
        hits = make(paths).named("plan", 10)
        assert [(hit.path, hit.match.word) for hit in hits] == [
            ("9/plan.md", "exact"),
            ("plan", "exact"),
            ("planet.md", "start"),
            ("a plan.md", "word_start"),
            ("airplane.md", "inside"),
            ("paln.md", "typo"),
        ]
        assert [hit.path for hit in make(paths).named("plan", 3)] == ["9/plan.md", "plan", "planet.md"]

    @pytest.mark.parametrize(
        ("query", "path", "marked"),
        [
            ("report", "b/Annual Report 2024.pdf", ["Report"]),
            ("repotr", "report.md", ["report"]),
            ("ㄱㅂ", "a/김밥.md", ["김밥"]),
            ("여행", PATHS[9], [unicodedata.normalize("NFD", "여행")]),
            ("资料", "z/資料庫 設計.md", ["資料"]),
            ("report annual", "b/Annual Report 2024.pdf", ["Annual", "Report"]),
        ],
    )
    def test_highlights_are_places_in_the_path(self, make: Make, query: str, path: str, marked: list[str]) -> None:
        hit = next(hit for hit in make(PATHS).named(query, 10) if hit.path == path)
        assert [path[start:end] for start, end in hit.highlights] == marked
