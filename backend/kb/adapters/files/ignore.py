"""Which entries of a folder are left out: fixed names, `.kbignore`, include and exclude globs.

Patterns are gitignore's. An entry is matched by itself, never through its parents, because the
walk does not enter an ignored folder; this is git's own rule, so `!` cannot reach into one either.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from kb.domain.errors import InvalidSettings

IGNORE_FILE = ".kbignore"

_JUNK = frozenset(
    {
        *(".git", ".hg", ".svn", "node_modules", ".obsidian", "__pycache__", "__MACOSX"),
        *(".DS_Store", ".AppleDouble", ".Spotlight-V100", ".fseventsd", ".Trash", ".Trashes"),
        *("Thumbs.db", "desktop.ini", "$RECYCLE.BIN", "System Volume Information", "@eaDir"),
        *(IGNORE_FILE, "4913"),  # 4913 is what Vim writes to try whether it may
    }
)
_TEMPORARY_STARTS = ("~$", ".#", ".~lock.", "._")
_TEMPORARY_ENDS = ("~", ".swp", ".swo", ".swx", ".tmp", ".part", ".crdownload")

_SUFFIX = re.compile(r"(?:\*\*/)?\*(\.[^/*?\[\]\\.\s]+)\Z")
_NAME = re.compile(r"(?:\*\*/)?([^/*?\[\]\\!#\s][^/*?\[\]\\\s]*)(/?)\Z")
_WHOLE_FOLDER = re.compile(r"/?([^*?\[\]\\!#\s][^*?\[\]\\]*)/\*\*\Z")


@dataclass(frozen=True, slots=True)
class PatternRun:
    """Neighbouring patterns of one sign. Most are plain names and suffixes: sets, no regex."""

    ignores: bool
    names: frozenset[str]
    folder_names: frozenset[str]
    folder_paths: frozenset[str]
    suffixes: frozenset[str]
    rest: re.Pattern[str] | None

    def matches_file(self, name: str, path: str) -> bool:
        """Return whether the file called `name`, at `path`, is meant."""
        if name in self.names or name[name.rfind(".") :] in self.suffixes:
            return True
        return self.rest is not None and self.rest.match(path) is not None

    def matches_folder(self, name: str, path: str) -> bool:
        """Return whether the folder called `name`, at `path` without a final `/`, is meant."""
        named = name in self.folder_names or path in self.folder_paths
        return named or self.matches_file(name, path + "/")


class EntryFilter:
    """Decides about one entry at a time; compiled once for a scan."""

    def __init__(self, ignore_text: str, include: Sequence[str], exclude: Sequence[str]) -> None:
        """Compile.

        Args:
            ignore_text: the text of `.kbignore`.
            include: globs, one of which every file meets; none means every file.
            exclude: globs of what is left out beside `.kbignore`, which cannot bring it back.

        Raises:
            InvalidSettings: a glob of the settings is not a pattern.
        """
        self._ignored = compile_runs(ignore_text.splitlines())
        self._excluded = compile_runs(exclude, setting="workspace.exclude")
        excludes_files = any(run.names or run.suffixes or run.rest for run in self._excluded)
        self._excluded_files = self._excluded if excludes_files else ()
        self._included = compile_runs(include, setting="workspace.include")
        only = self._included[0] if len(self._included) == 1 else None
        plain = only is not None and only.ignores and only.rest is None and not only.names
        self._wanted_suffixes = frozenset(s.lower() for s in only.suffixes) if only and plain else None

    def keeps_folder(self, name: str, path: str) -> bool:
        """Return whether the walk enters the folder."""
        if name in _JUNK or _folder_verdict(self._ignored, name, path):
            return False
        return not _folder_verdict(self._excluded, name, path)

    def keeps_file(self, name: str, path: str) -> bool:
        """Return whether the file is part of the workspace."""
        if name in _JUNK or name.endswith(_TEMPORARY_ENDS) or name.startswith(_TEMPORARY_STARTS):
            return False
        if self._wanted_suffixes is not None:
            if name[name.rfind(".") :].lower() not in self._wanted_suffixes:
                return False
        elif self._included and not _file_verdict(self._included, name, path):
            return False
        if self._excluded_files and _file_verdict(self._excluded_files, name, path):
            return False
        return not (self._ignored and _file_verdict(self._ignored, name, path))

    def keeps_path(self, path: str) -> bool:
        """Return whether a walk from the root would reach the file at `path`."""
        parts = path.split("/")
        folders = ("/".join(parts[: end + 1]) for end in range(len(parts) - 1))
        reached = all(self.keeps_folder(name, folder) for name, folder in zip(parts[:-1], folders, strict=True))
        return reached and self.keeps_file(parts[-1], path)

    def enters(self, path: str) -> bool:
        """Return whether a walk from the root would enter the folder at `path`; the root is ``."""
        parts = path.split("/") if path else []
        return all(self.keeps_folder(name, "/".join(parts[: at + 1])) for at, name in enumerate(parts))


def compile_runs(lines: Iterable[str], *, setting: str | None = None) -> tuple[PatternRun, ...]:
    """Compile patterns, last run first, since the last match decides.

    A line of `.kbignore` that is no pattern is passed over, as git does; in a setting it is an error.
    """
    runs: list[tuple[bool, list[str]]] = []
    for line in lines:
        pattern = line.rstrip("\r\n")
        if setting is None and (not pattern.strip() or pattern.startswith("#")):
            continue
        ignores = not pattern.startswith("!")
        if not runs or runs[-1][0] != ignores:
            runs.append((ignores, []))
        runs[-1][1].append(pattern if ignores else pattern[1:])
    return tuple(_compile(ignores, patterns, setting) for ignores, patterns in reversed(runs))


def _file_verdict(runs: tuple[PatternRun, ...], name: str, path: str) -> bool:
    for run in runs:  # a loop, not next(): this runs for every file of every scan
        if run.matches_file(name, path):
            return run.ignores
    return False


def _folder_verdict(runs: tuple[PatternRun, ...], name: str, path: str) -> bool:
    return next((run.ignores for run in runs if run.matches_folder(name, path)), False)


def _compile(ignores: bool, patterns: Iterable[str], setting: str | None) -> PatternRun:  # noqa: FBT001 - the sign
    names: set[str] = set()
    folder_names: set[str] = set()
    folder_paths: set[str] = set()
    suffixes: set[str] = set()
    rest: list[str] = []
    for pattern in patterns:
        text = pattern.rstrip(" ") if not pattern.endswith("\\ ") else pattern
        if suffix := _SUFFIX.match(text):
            suffixes.add(suffix[1])
        elif plain := _NAME.match(text):
            (folder_names if plain[2] else names).add(plain[1])
        elif setting and (whole := _WHOLE_FOLDER.match(text)):
            # Nothing in it comes back by `!` in a setting, so not entering it is the same, and cheaper.
            folder_paths.add(whole[1])
        else:
            regex = _regex(pattern, setting)
            if regex is not None:
                rest.append(regex)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        combined = re.compile("|".join(f"(?:{regex})" for regex in rest), re.DOTALL) if rest else None
    return PatternRun(
        ignores, frozenset(names), frozenset(folder_names), frozenset(folder_paths), frozenset(suffixes), combined
    )


def _regex(pattern: str, setting: str | None) -> str | None:
    made: re.Pattern[str] | None = None
    cause: Exception | None = None
    try:
        with warnings.catch_warnings():
            # `[[` in a pattern makes `re` warn of what it may mean some day.
            warnings.simplefilter("ignore", FutureWarning)
            made = GitIgnoreSpecPattern(pattern).regex
    except (ValueError, re.error) as error:
        cause = error
    if made is None:
        if setting is None:
            return None
        raise InvalidSettings(
            f"{setting}: {pattern[:80]!r} is not a pattern", hint="patterns are those of .gitignore: **/*.md, drafts/"
        ) from cause
    text: str = made.pattern
    # pathspec also matches what lies below a match; the walk asks about the entry alone.
    text = text.replace("(?:(?P<ps_d>/)|$)", r"/?\Z").replace("(?P<ps_d>/)", r"/\Z")
    if text.endswith("/"):
        text += "."  # `a/**` means what is in `a`, not `a`
    return text if text.startswith("^") else ".*" + text
