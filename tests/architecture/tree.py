"""Where things are, and which Python files the laws of size are about."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BACKEND = ROOT / "backend"
SOURCES = ("backend/kb", "desktop/kb_desktop", "packaging", "tests")


def python_files() -> list[Path]:
    """Every Python file of ours."""
    found = [ROOT / "dev.py"]
    for source in SOURCES:
        found += sorted((ROOT / source).rglob("*.py"))
    return found


def relative(path: Path) -> str:
    """A path as it stands in messages."""
    return path.relative_to(ROOT).as_posix()


def tracked_files() -> list[Path]:
    """Every file git knows, and those it would take."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    return [path for name in names if name and (path := ROOT / name).is_file()]
