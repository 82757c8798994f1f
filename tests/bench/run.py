"""The bench: `python3 dev.py bench [SECTION ...] [--rounds N] [--write]`.

Every figure is a ratio of two things done in turn in the same run, or a count: the machine may be busy.
`--write` puts the table between the marks in docs/performance.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from tests.bench.measure import Row

_BEGIN, _END = "<!-- bench: begin -->", "<!-- bench: end -->"


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    sections = _sections()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"among {', '.join(sections)}; all without any")
    parser.add_argument("--rounds", type=int, default=5, help="how often both sides are run (default 5)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    chosen = parser.parse_args()
    if hasattr(os, "nice"):
        os.nice(5)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="kebab-bench-") as folder:
        for name in chosen.sections or sections:
            print(f"{name} ...", file=sys.stderr, flush=True)
            scratch = Path(folder, name)
            scratch.mkdir()
            rows += sections[name](scratch, chosen.rounds)
    from tests.bench.measure import table

    print(table(rows))
    if chosen.write:
        _write(table(rows))
    return int(any(row.missed for row in rows))


def _sections() -> dict[str, Callable[[Path, int], list[Row]]]:
    from tests.bench import (
        children,
        comparing,
        following,
        ingesting,
        large,
        masking,
        ocr_errors,
        pdf_speed,
        scale,
        scanning,
        searching,
        sound,
        starting,
    )

    return {
        "ingest": ingesting.without_vectors,
        "vectors": ingesting.with_vectors,
        "clean": masking.clean_pages,
        "masking": masking.cost,
        "keywords": searching.keywords,
        "hybrid": searching.hybrid,
        "comparing": comparing.comparing,
        "unchanged": scanning.unchanged,
        "start": starting.help_page,
        "memory": starting.memory,
        "reading": children.reading,
        "pdf": pdf_speed.reading,
        "ocr": ocr_errors.recognition,
        "sound": sound.recognition,
        "large": large.large,
        "scale": scale.scale,
        "following": following.following,
    }


def _write(text: str) -> None:
    page = ROOT / "docs" / "performance.md"
    before, rest = page.read_text(encoding="utf-8").split(_BEGIN)
    _, after = rest.split(_END)
    page.write_text(f"{before}{_BEGIN}\n{text}\n{_END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
