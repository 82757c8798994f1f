"""A small library before an ingest, its workspace after many kinds of change, and the state the ingest leads to."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.homes import Home
from tests.robustness.fork_server import EMBEDS_VARIABLE, Ended, ForkServer

_MOVES = (("kept/renamed.md", "kept/renamed 2.md"), ("moved.md", "elsewhere/moved.md"))


@dataclass
class Point:
    """A copy of the library as it was before, to be spoilt."""

    folder: Path
    home: Home

    @property
    def embedded(self) -> int:
        """Passages that were embedded here."""
        file = Path(self.home.extra[EMBEDS_VARIABLE])
        return file.stat().st_size if file.exists() else 0

    def remove(self) -> None:
        shutil.rmtree(self.folder)


@dataclass
class SmallCourse:
    """New, changed, renamed and deleted notes, a PDF with two pages, tags, equal texts, an edit back to old words."""

    folder: Path
    server: ForkServer
    extra: dict[str, str] = field(default_factory=dict)
    before: dict[str, Any] = field(default_factory=dict, repr=False)
    after: dict[str, Any] = field(default_factory=dict, repr=False)
    compacted: list[Any] = field(default_factory=list, repr=False)
    embedded: int = 0

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.workspace = self.folder / "notes"
        self._first()
        start = self.at("start", whole=True)
        self.ok(start, "init")
        self.ok(start, "ingest")
        self.before = self.observed(start)
        self._then()
        calm = self.at("calm")
        self.ok(calm, "ingest")
        self.embedded = calm.embedded
        self.after = self.observed(calm)
        self.ok(calm, "index", "rebuild", "--text")
        self.compacted = self.observed(calm)["searches"]
        assert self.after["problems"] == [], self.after["problems"]
        assert self.before["documents"] != self.after["documents"]

    def at(self, name: str, *, whole: bool = False) -> Point:
        """Return a library as it was before; an empty one if `whole`."""
        folder = self.folder / name
        folder.mkdir()
        if not whole:
            shutil.copytree(self.folder / "start" / "home", folder / "home")
        return self.point(folder)

    def point(self, folder: Path) -> Point:
        """Return the library that lies in a folder."""
        settings = {
            "KB_MODELS_EMBEDDING_PROVIDER": "fastembed",
            "KB_MODELS_EMBEDDING_MODEL": str(self.folder),
            "KB_WORKSPACE_ROOT": str(self.workspace),
            # Disks that run full are the point: here nothing may refuse to begin before.
            "KB_STORAGE_MIN_FREE_MB": "0",
            EMBEDS_VARIABLE: str(self.folder / f"{folder.name}.embeds"),
        }
        return Point(folder, Home(folder, {**settings, **self.extra}))

    def ok(self, point: Point, *arguments: str) -> Ended:
        """Run `kb`, which must end well."""
        ended = self.server.kb(*arguments, environment=point.home.environment)
        assert ended.code == 0, (arguments, ended)
        return ended

    def observed(self, point: Point, *, whole: bool = True) -> dict[str, Any]:
        return self.server.observe(point.home.environment, whole=whole)

    def is_between(self, seen: dict[str, Any]) -> str:
        """Return what is wrong with a library in the middle: nothing if each file is as before or as after."""
        old, new = self.before["documents"], self.after["documents"]
        shown = seen["documents"]
        moved = {now: was for was, now in _MOVES}
        for path in {*old, *new, *shown}:
            # A file that moved keeps its document until it is read under its new name.
            if shown.get(path) not in (old.get(path), new.get(path), old.get(moved.get(path, ""))):
                return f"{path} is neither as before nor as after"
        for was, now in _MOVES:
            if was not in shown and now not in shown:
                return f"{was} is lost"
        known = {chunk for chunks in shown.values() for chunk in chunks}
        for (query, mode, hits), earlier in zip(seen["searches"], self.before["searches"], strict=True):
            if not {hit[1] for hit in hits} <= known:
                return f"a hit of {query!r} ({mode}) is of no document shown"
            if mode == "lexical" and earlier[2] and not hits:
                return f"{query!r} finds nothing"
        return ""

    def finish(self, point: Point) -> bool:
        """Let another ingest finish, which must lead to the same library.

        Return whether the text index has the same dead entries too. Tantivy counts those in its scores until they are
        merged away: where they differ, searches are compared once the index has none.
        """
        self.ok(point, "ingest")
        seen = self.observed(point)
        for part in ("problems", "documents", "rows"):
            assert seen[part] == self.after[part], (part, _difference(seen[part], self.after[part]))
        if seen["searches"] == self.after["searches"]:
            return True
        found = seen["searches"]
        if found != self.compacted:
            self.ok(point, "index", "rebuild", "--text")
            found = self.observed(point)["searches"]
        assert found == self.compacted, _difference(found, self.compacted)
        return False

    def _write(self, path: str, text: str) -> None:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def _note(self, path: str, word: str, paragraphs: int = 3) -> None:
        parts = [f"Paragraph {n} of the {word} note {path}: a common word {n}. " * 9 for n in range(paragraphs)]
        self._write(path, f"---\ntags: [{word}]\n---\n# Note {path}\n\nEqual in every note.\n\n" + "\n\n".join(parts))

    def _first(self) -> None:
        for path in ("same.md", "changed.md", "gone.md", "kept/renamed.md", "moved.md"):
            self._note(path, "first")
        self._write("paper.pdf", "%PDF-1.7 first\npages of a paper\ntwo lines\fpage two of the paper, first")

    def _then(self) -> None:
        self._note("changed.md", "second", 5)
        self._note("new.md", "third")
        self._write("plain.txt", "The second third of pages in plain words.\n")
        (self.workspace / "gone.md").unlink()
        (self.workspace / "kept/renamed.md").rename(self.workspace / "kept/renamed 2.md")
        (self.workspace / "elsewhere").mkdir()
        (self.workspace / "moved.md").rename(self.workspace / "elsewhere/moved.md")
        self._write("paper.pdf", "%PDF-1.7 second\npages of a paper\ntwo other lines\fpage two of the paper, again")


def _difference(one: Any, other: Any) -> Any:
    """Return what differs, and nothing else: a library is long to read."""
    if isinstance(one, dict) and isinstance(other, dict):
        every = {**one, **other}
        return {key: _difference(one.get(key), other.get(key)) for key in every if one.get(key) != other.get(key)}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [_difference(mine, yours) for mine, yours in zip(one, other, strict=True) if mine != yours]
    if isinstance(one, list) and isinstance(other, list):
        return [row for row in one if row not in other], [row for row in other if row not in one]
    return one, other
