"""What ingest needs from outside: files, parsers and models here, stores in `library_ports`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.domain.documents import ParsedDocument
from kb.domain.embeddings import EmbeddingModel, Vector
from kb.domain.files import FileBytes, ScannedFile, ScanProblem, Scope
from kb.domain.items import MediaType, RawAsset
from kb.domain.masking import MaskedSecret
from kb.domain.pages import PageText
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId
from kb.domain.transcripts import Transcript


class FileSource(Protocol):
    """The workspace, read only."""

    def scan(self, scope: Scope) -> Iterator[ScannedFile | ScanProblem]:
        """Yield every included file once, folder by folder in name order, without opening any.

        Raises:
            NotFound: the root or a path of the scope does not exist.
        """

    def read(self, file: ScannedFile) -> FileBytes:
        """Read a whole file, hashing while reading.

        Raises:
            Unreadable: it vanished, changed while read, is too big or may not be read.
        """

    def media_type(self, path: WorkspacePath, data: bytes) -> MediaType:
        """Say what a file is, by content first, then by name."""


class AssetStore(Protocol):
    """Content-addressed copies of originals."""

    def keep(self, file: ScannedFile, content: FileBytes, media_type: MediaType) -> RawAsset:
        """Copy the bytes (or only reference them when too big); the same bytes twice are one."""

    def needs_bytes(self, file: ScannedFile, content: FileBytes) -> bool:
        """Return whether `keep` would copy them."""

    def settle(self) -> None:
        """Make the copies durable; to be called before anything that refers to them is committed."""

    def discard(self, storage_paths: Iterable[str]) -> None:
        """Remove copies that nothing refers to any more."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Bytes as text.

    Attributes:
        encoding: the name of the encoding, `utf-8` with or without a mark.
        note: what had to be guessed or replaced; empty when the bytes are plain UTF-8.
    """

    text: str
    encoding: str = "utf-8"
    note: str = ""


@dataclass(frozen=True, slots=True)
class TextPieces:
    """As `DecodedText`, in pieces to be read once, each but the last ending with a line feed."""

    pieces: Iterator[str]
    encoding: str = "utf-8"
    note: str = ""


class TextDecoder(Protocol):
    """Turns the bytes of a text file into text."""

    def decode(self, data: bytes) -> DecodedText:
        """Return the text, every character kept, line ends as they are.

        Raises:
            Unreadable: the bytes are not text (reason `binary`).
        """

    def pieces(self, data: bytes) -> TextPieces:
        """Return the same text in pieces, since that of a large file takes up to four times its bytes.

        Raises:
            Unreadable: the bytes are not text (reason `binary`).
        """


class Parser(Protocol):
    """Reads one family of files into blocks with source spans."""

    @property
    def media_types(self) -> frozenset[MediaType]:
        """What this parser reads."""

    @property
    def version(self) -> str:
        """Changes whenever the same bytes would give other blocks."""

    def parse(self, data: bytes, path: WorkspacePath) -> ParsedDocument:
        """Return the blocks of `data`.

        Raises:
            Unreadable: nothing can be made of the bytes.
        """


class Masker(Protocol):
    """Takes secrets out of everything a parser gave, before any of it is kept."""

    @property
    def version(self) -> str:
        """Changes whenever other secrets would be found; part of every parser version."""

    def mask(self, parsed: ParsedDocument) -> tuple[ParsedDocument, tuple[MaskedSecret, ...]]:
        """Return the document with placeholders in place of secrets, spans kept, and what was masked.

        Blocks, payloads, heading paths, front matter, warnings, pages and transcript are masked; members are not:
        each is read, and masked, as a file of its own.
        """


class ArtifactStore(Protocol):
    """What was derived from a document beside its chunks: words with boxes, transcripts. Keyed by document."""

    def keep(self, doc_id: DocumentId, pages: Sequence[PageText], transcript: Transcript | None) -> None:
        """Write what there is, durable after `settle`; nothing is written when there is nothing."""

    def page(self, doc_id: DocumentId, page: int) -> PageText | None:
        """Return one page with its words."""

    def transcript(self, doc_id: DocumentId) -> Transcript | None:
        """Return what was said."""

    def settle(self) -> None:
        """Make what was kept durable; called before the documents are committed."""

    def discard(self, doc_ids: Iterable[DocumentId]) -> None:
        """Remove the artifacts of documents that are gone."""


class Captioner(Protocol):
    """Describes a picture in words; off unless a person turned it on, since the picture may leave the computer."""

    @property
    def model(self) -> str:
        """The model's name, shown with every caption."""

    def caption(self, data: bytes, media_type: MediaType) -> str:
        """Return a description.

        Raises:
            Unreachable: the server does not answer.
            ModelUnavailable: it refuses or answers nonsense.
        """


class LanguageDetector(Protocol):
    """Tells the language of a text."""

    def detect(self, text: str) -> str:
        """Return an ISO 639-1 code, `zh-Hans`/`zh-Hant` for Chinese, `und` when unsure."""


class Tokenizer(Protocol):
    """The embedder's own tokenizer."""

    def count(self, text: str) -> int:
        """Return the tokens of `text`, without special tokens."""

    def fitting_prefix(self, text: str, max_tokens: int) -> int:
        """Return how many characters of `text` fit into `max_tokens`, at least 1."""


class PassageEmbedder(Protocol):
    """Turns passages into vectors. May be called from several threads."""

    @property
    def model(self) -> EmbeddingModel:
        """The model, known without loading it."""

    def embed_passage(self, text: str) -> Vector:
        """Return the vector of one passage.

        Raises:
            ModelUnavailable: the model cannot be loaded or run.
            Unreadable: this text cannot be embedded; others can.
        """
