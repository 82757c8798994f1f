"""Strings that stand in real files, and how many of them our parsers find: `python -m tests.bench.office_recall`.

The strings were written down from looking at the files in other programs (unzipped XML, rendered pages, pictures on a
screen, and the Markdown that lies beside four of them), not from our output. Strings in pictures count only where an
engine that reads pictures is there.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
from kb.adapters.files.media import media_type_of
from kb.adapters.parsers.text.code import SourceCodeParser
from kb.app.readers import format_parsers
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.ingest.reading_ports import FormatParser, SourceFile

ROOT = Path(__file__).resolve().parents[2]
STRINGS = Path(__file__).with_name("office_strings.json")
_LIMITS = ReadingLimits()


@dataclass(frozen=True, slots=True)
class Recall:
    """One file: strings found and looked for, in its text and in its pictures, and the strings that are missing.

    `state` is `read`, `no parser`, or the reason for which the file was refused.
    """

    path: str
    media: MediaType
    state: str
    text: tuple[int, int]
    pictures: tuple[int, int]
    missing: tuple[str, ...]


def office_files() -> Path | None:
    """Return the folder of files to measure on, None where it is not."""
    shared = Path(os.environ.get("KEBAB_SHARED", ROOT.parent / "shared"))
    folder = shared / "data" / "office" / "packages"
    return folder if folder.is_dir() else None


def recalls(folder: Path, *, pictures: bool) -> Iterator[Recall]:
    """Yield the recall of each listed file; with `pictures` those in documents are read too."""
    decoder = CharsetNormalizerDecoder()
    parsers = {media: parser for parser in format_parsers(decoder, []) for media in parser.media_types}
    for path, wanted in json.loads(STRINGS.read_text(encoding="utf-8")).items():
        data = (folder / path).read_bytes()
        media = media_type_of(path, data)
        if media is MediaType.CODE:
            text, state = _joined(SourceCodeParser(decoder).parse(data, WorkspacePath(path))), "read"
        else:
            text, state = _read(path, data, parsers, pictures=pictures)
        yield _recall(path, media, state, text, wanted)


def _recall(path: str, media: MediaType, state: str, text: str, wanted: Mapping[str, list[str]]) -> Recall:
    compared, loose = _compared(text), _loose(text)
    words = [string for string in wanted.get("text", ()) if _compared(string) not in compared]
    shown = [string for string in wanted.get("pictures", ()) if _loose(string) not in loose]
    count, drawn = len(wanted.get("text", ())), len(wanted.get("pictures", ()))
    return Recall(path, media, state, (count - len(words), count), (drawn - len(shown), drawn), (*words, *shown))


def _read(
    path: str, data: bytes, parsers: Mapping[MediaType, FormatParser], *, pictures: bool, depth: int = 0
) -> tuple[str, str]:
    """Return the text of a file and of the files in it, and what became of it."""
    media = media_type_of(path, data)
    parser = parsers.get(media)
    if parser is None or (media is MediaType.IMAGE and not pictures):
        return "", "no parser"
    try:
        document = parser.read(SourceFile(WorkspacePath(path), media, data), _LIMITS, lambda *_: None)
    except Unreadable as error:
        return "", error.reason
    texts = [_joined(document)]
    if depth < _LIMITS.depth:
        texts += [
            _read(f"{path}!/{member.name}", member.data, parsers, pictures=pictures, depth=depth + 1)[0]
            for member in document.members
        ]
    return "\n".join(texts), "read"


def _joined(document: ParsedDocument) -> str:
    return "\n".join(block.text for block in document.blocks)


def _compared(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _loose(text: str) -> str:
    """Return letters and digits alone: what was recognised from a picture has spaces of its own."""
    return "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum())


def table(found: list[Recall]) -> str:
    """Return the recall of each file as a Markdown table."""
    lines = ["| file | kind | state | text | pictures | missing |", "|---|---|---|---|---|---|"]
    for one in found:
        counts = [f"{hits}/{total}" if total else "" for hits, total in (one.text, one.pictures)]
        missing = "; ".join(one.missing)
        lines.append(f"| {Path(one.path).name} | {one.media} | {one.state} | {' | '.join(counts)} | {missing} |")
    hits, total = (sum(one.text[index] for one in found) for index in (0, 1))
    drawn, all_drawn = (sum(one.pictures[index] for one in found) for index in (0, 1))
    lines.append(f"| all {len(found)} | | | {hits}/{total} | {drawn}/{all_drawn} | |")
    return "\n".join(lines)


def main() -> int:
    """Print the table."""
    folder = office_files()
    if folder is None:
        print("no office files here: set KEBAB_SHARED")
        return 1
    print(table(list(recalls(folder, pictures=True))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
