"""The fields of the index, and a chunk as a Tantivy document."""

from __future__ import annotations

import unicodedata
from typing import Any

import tantivy

from kb.adapters.tantivy.analysis import index_text
from kb.domain.index import TextEntry

SCHEMA_VERSION = "2"

TERM_FIELDS = ("words", "stem", "gram", "cjk", "cjk1", "head")
EXACT_FIELDS = ("doc", "path", "lang", "tags", "kinds")
_SPACES = "spaces"


def schema() -> Any:  # noqa: ANN401 - tantivy ships no types mypy can follow
    """Return the schema. Term fields have counts, no positions; `order` has them, for phrases, and gives no score."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("key", indexed=True, fast=True)
    builder.add_unsigned_field("trust", indexed=True)
    for name in EXACT_FIELDS:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in TERM_FIELDS:
        builder.add_text_field(name, tokenizer_name=_SPACES, index_option="freq")
    builder.add_text_field("order", tokenizer_name=_SPACES, index_option="position")
    return builder.build()


def prepare(index: Any) -> None:  # noqa: ANN401
    """Teach an opened index its analyzer, which Tantivy forgets at every open, and to reload only when told."""
    # No watcher thread: nothing may touch mapped files behind our back.
    index.config_reader("manual")
    spaces = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_SPACES, spaces)


def document(entry: TextEntry) -> Any:  # noqa: ANN401
    """Return the document of a chunk."""
    made = tantivy.Document()
    made.add_unsigned("key", entry.key)
    made.add_unsigned("trust", entry.trust_rank)
    made.add_text("doc", entry.doc_id)
    made.add_text("path", encodable(unicodedata.normalize("NFC", entry.path)))
    for lang in language_ranges(entry.lang):
        made.add_text("lang", encodable(lang))
    for tag in entry.tags:
        made.add_text("tags", encodable(tag))
    for kind in entry.kinds:
        made.add_text("kinds", encodable(kind))
    for field, terms in index_text(entry.text, entry.heading):
        made.add_text(field, terms)
    return made


def language_ranges(lang: str) -> list[str]:
    """Return every range that holds a language: `zh-Hant-TW` is in `zh-Hant` and in `zh` (RFC 4647, 3.3.1)."""
    parts = lang.split("-")
    return ["-".join(parts[:count]) for count in range(1, len(parts) + 1)]


def encodable(text: str) -> str:
    """Return `text` with lone surrogates replaced: Tantivy takes UTF-8 only."""
    return text.encode("utf-8", "replace").decode()
