"""docs/architecture.md knows every folder of the backend."""

from __future__ import annotations

import re

from tests.architecture.tree import BACKEND, ROOT


def folders() -> list[str]:
    """Every folder with modules in it, from kb/ down."""
    packages = (path.parent.relative_to(BACKEND / "kb") for path in (BACKEND / "kb").rglob("__init__.py"))
    return sorted(folder.as_posix() for folder in packages if folder.parts)


def test_every_folder_of_the_backend_has_a_heading() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith("#")]
    missing = [
        folder
        for folder in folders()
        if not any(re.search(rf"(?<![\w/]){re.escape(folder)}/?(?![\w/])", heading) for heading in headings)
    ]
    assert missing == []
