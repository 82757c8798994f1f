"""The bare steps of an ingest in a plain loop: what no program that does the same can do without."""

from __future__ import annotations

import os
import shutil
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_CHARACTERS = 1600


@dataclass(slots=True)
class BareIngest:
    """Read, hash, parse, chunk, one SQLite transaction a document, Tantivy with our analysis, one commit.

    Attributes:
        size: characters after which a chunk ends; fitted so that there are as many chunks as ours.
    """

    workspace: Path
    scratch: Path
    size: int = _CHARACTERS
    markdown: Any = field(default=None)

    def __post_init__(self) -> None:
        from markdown_it import MarkdownIt

        self.markdown = MarkdownIt("commonmark").enable("table")

    def fit(self, chunks: int) -> int:
        """Choose `size` so that about `chunks` chunks come out; return how many do."""
        texts = [(text, self.markdown.parse(text)) for text in map(_read_text, sorted(self.workspace.rglob("*.md")))]

        def count(size: int) -> int:
            return sum(len(chunked(text, tokens, size)) for text, tokens in texts)

        low, high = 64, 64_000
        while high - low > low // 64:
            middle = (low + high) // 2
            low, high = (middle, high) if count(middle) > chunks else (low, middle)
        self.size = high
        return count(high)

    def run(self) -> int:
        """Do it all in a fresh folder; return the number of chunks."""
        import tantivy
        from blake3 import blake3

        from kb.adapters.tantivy.schema import document, prepare, schema

        shutil.rmtree(self.scratch, ignore_errors=True)
        folder = self.scratch / "tantivy"
        folder.mkdir(parents=True)
        store = sqlite3.connect(self.scratch / "bare.sqlite", isolation_level=None)
        store.execute("PRAGMA journal_mode = WAL")
        store.execute("PRAGMA synchronous = FULL")
        store.execute("CREATE TABLE documents (id INTEGER PRIMARY KEY, path TEXT UNIQUE, hash TEXT)")
        store.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, document INTEGER, ordinal INTEGER, text TEXT)")
        index = tantivy.Index(schema(), path=str(folder))
        prepare(index)
        writer = index.writer(64_000_000, 1)
        key = 0
        for path in files_below(self.workspace):
            data = Path(path).read_bytes()
            name = blake3(data).hexdigest()
            text = data.decode()
            chunks = chunked(text, self.markdown.parse(text), self.size)
            first = key + 1
            key += len(chunks)
            store.execute("BEGIN IMMEDIATE")
            number = store.execute("INSERT INTO documents (path, hash) VALUES (?, ?)", (path, name)).lastrowid
            rows = ((first + n, number, n, chunk) for n, chunk in enumerate(chunks))
            store.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?)", rows)
            store.execute("COMMIT")
            for n, chunk in enumerate(chunks):
                writer.add_document(document(_entry(first + n, name, path, chunk)))
        writer.commit()
        writer.wait_merging_threads()
        store.close()
        return key


def files_below(folder: Path) -> list[str]:
    """Return the paths of all files, found as a bare walk does: names and one `stat` each."""
    found: list[str] = []
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    found.append(entry.path)
    return found


def chunked(text: str, tokens: list[Any], size: int) -> list[str]:
    """Join neighbouring blocks of the outermost level until a chunk has `size` characters."""
    lines = text.split("\n")
    chunks: list[str] = []
    begin, length = 0, 0
    for token in tokens:
        if token.level == 0 and token.map and token.nesting >= 0:
            end = token.map[1]
            length += sum(map(len, lines[token.map[0] : end]))
            if length >= size:
                chunks.append("\n".join(lines[begin:end]))
                begin, length = end, 0
    rest = "\n".join(lines[begin:])
    if rest.strip():
        chunks.append(rest)
    return chunks


def _read_text(path: Path) -> str:
    return path.read_bytes().decode()


def _entry(key: int, doc: str, path: str, text: str) -> Any:
    from kb.domain.embeddings import ChunkKey
    from kb.domain.index import TextEntry
    from kb.domain.paths import WorkspacePath
    from kb.domain.recipes import DocumentId

    kinds = ("markdown", "note")
    return TextEntry(ChunkKey(key), DocumentId(doc[:32]), WorkspacePath(path), text, "", "en", (), 1, kinds)
