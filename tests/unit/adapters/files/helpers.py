"""A workspace on the disk, in few words."""

from __future__ import annotations

from pathlib import Path

from kb.adapters.files.workspace import WorkspaceFiles
from kb.domain.files import ScannedFile, ScanProblem, Scope


def lay_out(root: Path, **files: str) -> None:
    """Write files; `__` in a name is a folder's end and the suffix is `.md`."""
    for name, text in files.items():
        put(root, f"{name.replace('__', '/')}.md", text)


def put(root: Path, path: str, text: str | bytes = "x") -> Path:
    """Write one file."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode() if isinstance(text, str) else text)
    return target


def scan(files: WorkspaceFiles, scope: Scope | None = None) -> tuple[list[str], dict[str, str]]:
    """Return the paths of files in the order met, and the reasons of problems by path."""
    met = list(files.scan(scope or Scope()))
    paths: list[str] = [entry.path for entry in met if isinstance(entry, ScannedFile)]
    return paths, {entry.path: entry.reason for entry in met if isinstance(entry, ScanProblem)}


def only_file(files: WorkspaceFiles) -> ScannedFile:
    """Return the one file of a workspace."""
    (entry,) = files.scan(Scope())
    assert isinstance(entry, ScannedFile)
    return entry
