"""Parse, normalise, chunk: the steps put together, and the fingerprint of all that shapes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from kb.domain.chunks import ChunkPolicy
from kb.domain.files import FileBytes
from kb.domain.items import MediaType
from kb.domain.metadata import ProvenanceKind
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import asset_id
from kb.ingest.chunking import CHUNKER_VERSION, chunk_document
from kb.ingest.intake import MadeDocument, unsupported_fingerprint
from kb.ingest.normalise import NORMALISER_VERSION, SourceFacts, normalise, with_step
from kb.ingest.ports import LanguageDetector, Parser, Tokenizer

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _now() -> datetime:
    return datetime.now(UTC)


class ParsedAndChunked:
    """Makes documents with one parser for each family of files.

    Args:
        parsers: which read files; of two for one family the first is taken.
        detector: tells the language of a text.
        policy: how documents are cut.
        tokenizer: the embedder's; None without an embedder, then sizes are estimated.
        clock: the time, with a zone.
    """

    def __init__(
        self,
        parsers: Iterable[Parser],
        detector: LanguageDetector,
        policy: ChunkPolicy,
        tokenizer: Tokenizer | None,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._parsers: dict[MediaType, Parser] = {}
        for parser in parsers:
            for media_type in parser.media_types:
                self._parsers.setdefault(media_type, parser)
        self._detector = detector
        self._policy = policy
        self._tokenizer = tokenizer
        self._clock = clock
        cut = f"{CHUNKER_VERSION}|{policy.hash()}"
        self._fingerprints = {media: f"{_version(parser)}|{cut}" for media, parser in self._parsers.items()}
        unread = {unsupported_fingerprint(media) for media in MediaType if media not in self._parsers}
        self._current = unread | set(self._fingerprints.values())

    def fingerprint(self, media_type: MediaType) -> str | None:
        """Return parser, chunker and policy for such files; None when nothing reads them."""
        return self._fingerprints.get(media_type)

    def is_current(self, fingerprint: str | None) -> bool:
        """Return whether a file with this fingerprint would be treated the same way now."""
        return fingerprint in self._current

    def make(self, path: WorkspacePath, content: FileBytes, media_type: MediaType) -> MadeDocument:
        """Make the document.

        Raises:
            Unreadable: nothing can be made of the bytes.
        """
        parser = self._parsers[media_type]
        now = self._clock()
        facts = SourceFacts(
            path=path,
            asset_id=asset_id(content.checksum),
            parser_version=_version(parser),
            modified_at=_modified(content, now),
            discovered_at=now,
        )
        document = normalise(parser.parse(content.data, path), facts, self._detector, self._clock)
        chunks = tuple(chunk_document(document, self._policy, self._tokenizer))
        return MadeDocument(with_step(document, ProvenanceKind.CHUNKED, CHUNKER_VERSION, self._clock()), chunks)


def _version(parser: Parser) -> str:
    return f"{parser.version}+{NORMALISER_VERSION}"


def _modified(content: FileBytes, now: datetime) -> datetime:
    """Return the time of the file; file systems hold times that no calendar does."""
    try:
        return _EPOCH + timedelta(microseconds=content.identity.mtime_ns // 1000)
    except OverflowError:
        return now
