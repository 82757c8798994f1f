"""Files by their names among many: milliseconds a query, after the table is made.

python -m tests.bench.naming [FILES]
"""

from __future__ import annotations

import random
import sys
import time

from kb.adapters.sqlite.name_table import NameTable
from kb.adapters.tantivy.scripts import simplified

_WORDS = (
    "budget", "report", "meeting", "notes", "project", "kebab", "draft", "final", "invoice", "letter", "schedule",
    "보고서", "회의록", "김밥", "여행", "資料", "预算", "会议", "报告", "übersicht", "отчёт",
)  # fmt: skip
_QUERIES = (
    "report", "a", "x", "12345", "김밥", "资料", "ㄱㅂ", "ㅎㅇㄹ", "ㅇ", "회ㅇ", "repotr", "zzzzzz", "budgte mettings",
    "invoiec 3", "shcedule lettre drfat", "report budget notes",
)  # fmt: skip
_ROUNDS = 5


def main(arguments: list[str]) -> None:
    """Print a line for each query."""
    count = int(arguments[0]) if arguments else 100_000
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    paths = sorted(
        f"{chance.choice(_WORDS)}/{chance.choice(_WORDS)} {chance.choice(_WORDS)}-{chance.randrange(10**6)}"
        f" {''.join(chance.choices(letters, k=7))}.md"
        for _ in range(count)
    )
    table = simplified()
    begun = time.perf_counter()
    names = NameTable(paths, lambda text: text.translate(table))
    print(f"{count:,} names; the table takes {time.perf_counter() - begun:.2f} s to make")
    for query in _QUERIES:
        spent: list[float] = []
        found = 0
        for _ in range(_ROUNDS):
            begun = time.perf_counter()
            found = len(names.find(query, 20))
            spent.append((time.perf_counter() - begun) * 1000)
        print(f"{query}: {found} found, median {sorted(spent)[_ROUNDS // 2]:.1f}, worst {max(spent):.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
