"""Parse, mask, normalise, chunk: the steps put together, and the fingerprint of all that shapes them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from kb.domain.blocks import BlockKind, Heading, Prose
from kb.domain.chunks import Chunk, ChunkPolicy
from kb.domain.documents import Block, CanonicalDocument, Member, ParsedBlock, ParsedDocument, ParseWarning
from kb.domain.errors import CannotRun
from kb.domain.failures import Cancelled
from kb.domain.files import FileBytes
from kb.domain.ids import content_hash
from kb.domain.items import MediaType
from kb.domain.masking import MaskedSecret
from kb.domain.metadata import ProvenanceKind
from kb.domain.pages import PageText
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import asset_id
from kb.domain.spans import CaptionSpan, Segment
from kb.domain.transcripts import Transcript
from kb.ingest.chunking import chunker_version, chunks_of
from kb.ingest.normalise import NORMALISER_VERSION, SourceFacts, normalise, with_step
from kb.ingest.ports import Captioner, LanguageDetector, Masker, Parser, Tokenizer
from kb.ingest.reading_ports import FormatReader, Reading

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONG = 1 << 20
"""Bytes of text from which on reading it takes so long that somebody may want to stop meanwhile."""
_UNREAD = "unsupported-2"
"""Changes whenever files are told apart otherwise: what nothing read is then looked at again."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class MadeDocument:
    """What parsing, masking, normalising and chunking make of a file; no chunks when it holds no text.

    Attributes:
        document: its blocks without their text, which stands in the chunks, and without segments.
        members: files inside the file.
        waits_for: what is missing to read more of it; empty when nothing is.
        pages: words with boxes, secrets masked.
        transcript: what was said, secrets masked.
    """

    document: CanonicalDocument
    chunks: tuple[Chunk, ...]
    members: tuple[Member, ...] = ()
    waits_for: str = ""
    pages: tuple[PageText, ...] = ()
    transcript: Transcript | None = None


class Making(Protocol):
    """A document on its way; one that is parsed in a child goes on while others are dealt with."""

    @property
    def is_elsewhere(self) -> bool:
        """Return whether a child does the work."""

    def wait(self, seconds: float) -> bool:
        """Wait for the parser; return whether it is done."""

    def progress(self) -> tuple[int, int, str]:
        """Return units done, units in all and their kind; (0, 0, "") when unknown."""

    def finish(self) -> MadeDocument:
        """Return the document.

        Raises:
            Unreadable: nothing can be made of the bytes.
        """

    def cancel(self) -> None:
        """Give up."""


class NothingMasked:
    """Stands in where no masker is given, as in tests of other things."""

    version = "unmasked"

    def mask(self, parsed: ParsedDocument) -> tuple[ParsedDocument, tuple[MaskedSecret, ...]]:
        """Return the document as it is."""
        return parsed, ()


class ParsedAndChunked:
    """Makes documents with one parser for each family of files.

    Args:
        parsers: which read files in this process; of two for one kind the first is taken.
        detector: tells the language of a text.
        policy: how documents are cut.
        tokenizer: the embedder's; None without an embedder, then sizes are estimated.
        clock: the time, with a zone.
        reader: reads all other kinds in child processes; None in tests of text alone.
        masker: takes secrets out before anything is kept.
        captioner: describes pictures; None unless a person turned it on.
        accepts: which other fingerprints than today's are left as they are.
        knows: by the hash of a policy, whether files are meant to be cut by it too: each has its own then.
    """

    def __init__(  # noqa: PLR0913 - the parts of one pipeline
        self,
        parsers: Iterable[Parser],
        detector: LanguageDetector,
        policy: ChunkPolicy,
        tokenizer: Tokenizer | None,
        clock: Callable[[], datetime] = _now,
        *,
        reader: FormatReader | None = None,
        masker: Masker | None = None,
        captioner: Captioner | None = None,
        accepts: Callable[[str], bool] = lambda _fingerprint: False,
        knows: Callable[[str], bool] = lambda _policy: False,
    ) -> None:
        self._given_parsers = tuple(parsers)
        self._accepts = accepts
        self._knows = knows
        self._reader = reader
        self._masker = masker or NothingMasked()
        self._captioner = captioner
        self._parsers: dict[MediaType, Parser] = {}
        for parser in self._given_parsers:
            for media_type in parser.media_types:
                self._parsers.setdefault(media_type, parser)
        self._detector = detector
        self._policy = policy
        self._tokenizer = tokenizer
        self._clock = clock
        self._cut = cut = f"{chunker_version(policy)}|{policy.hash()}"
        versions = {media: parser.version for media, parser in self._parsers.items()}
        for media in reader.media_types - versions.keys() if reader else ():
            versions[media] = reader.version(media) if reader else ""
        if captioner is not None and MediaType.IMAGE in versions:
            versions[MediaType.IMAGE] += f"+caption:{captioner.model}"
        made_by = f"{NORMALISER_VERSION}+{self._masker.version}"
        self._versions = {media: f"{version}+{made_by}" for media, version in versions.items()}
        self._fingerprints = {media: f"{version}|{cut}" for media, version in self._versions.items()}
        unread = {unsupported_fingerprint(media) for media in MediaType if media not in self._versions}
        self._current = unread | set(self._fingerprints.values())

    def fingerprint(self, media_type: MediaType) -> str | None:
        """Return parser, chunker and policy for such files; None when nothing reads them."""
        return self._fingerprints.get(media_type)

    def is_current(self, fingerprint: str | None) -> bool:
        """Return whether a file with this fingerprint would be treated the same way now, or may stay as it is."""
        if fingerprint is None:
            return False
        fingerprint = self._as_cut_here(fingerprint)
        return fingerprint in self._current or self._accepts(fingerprint)

    def is_latest(self, fingerprint: str | None) -> bool:
        """Return whether a file with this fingerprint would be treated the same way now."""
        return fingerprint is not None and self._as_cut_here(fingerprint) in self._current

    def _as_cut_here(self, fingerprint: str) -> str:
        """Return the fingerprint a file would have if it were cut as most are."""
        version, _, cut = fingerprint.partition("|")
        return f"{version}|{self._cut}" if cut and self._knows(cut.rpartition("|")[2]) else fingerprint

    @property
    def versions(self) -> Mapping[str, str]:
        """Return by media type what reads such files, with the rules of masking and normalising."""
        return {media.value: version for media, version in self._versions.items()}

    def cutting(
        self,
        policy: ChunkPolicy,
        tokenizer: Tokenizer | None,
        accepts: Callable[[str], bool],
        knows: Callable[[str], bool] = lambda _policy: False,
    ) -> ParsedAndChunked:
        """Return the same with another way to cut, and to tell what may stay as it is."""
        return ParsedAndChunked(
            self._given_parsers,
            self._detector,
            policy,
            tokenizer,
            self._clock,
            reader=self._reader,
            masker=self._masker,
            captioner=self._captioner,
            accepts=accepts,
            knows=knows,
        )

    def begin(
        self, path: WorkspacePath, content: FileBytes, media_type: MediaType, password: str | None = None
    ) -> Making:
        """Start making the document; text is parsed when it is finished, all else in a child from now on."""
        bare = content if media_type is MediaType.IMAGE and self._captioner is not None else content.without_data()
        if media_type in self._parsers or self._reader is None:
            read = _Once(self._parsers[media_type], content.data, path)
            if len(content.data) < _LONG:
                return _MadeHere(lambda: self._made(read, path, bare, media_type))
            return _MadeAside(lambda heed: self._made(read, path, bare, media_type, heed))
        reading = self._reader.begin(content, path, media_type, password)
        return _MadeInChild(reading, lambda: self._made(reading.result, path, bare, media_type))

    def _made(
        self,
        read: Callable[[], ParsedDocument],
        path: WorkspacePath,
        content: FileBytes,
        media_type: MediaType,
        heed: Callable[[], None] = lambda: None,
    ) -> MadeDocument:
        # Called here, so that nobody else holds the document: it is let go piece by piece.
        parsed = read()
        if media_type is MediaType.IMAGE and self._captioner is not None:
            parsed = _captioned(parsed, self._captioner, content.data)
        now = self._clock()
        facts = SourceFacts(
            path=path,
            asset_id=asset_id(content.checksum),
            parser_version=f"{self._versions[media_type]}{_lacking(parsed)}",
            modified_at=_modified(content, now),
            discovered_at=now,
        )
        heed()
        parsed, masked = self._masker.mask(parsed)
        heed()
        document = replace(normalise(parsed, facts, self._detector, self._clock), masked=masked)
        parsed = replace(parsed, blocks=())
        blocks = deque(document.blocks)
        document = replace(document, blocks=tuple(map(_without_text, blocks)))
        heed()
        chunks = tuple(chunks_of(document, blocks, self._policy, self._tokenizer))
        return MadeDocument(
            with_step(document, ProvenanceKind.CHUNKED, chunker_version(self._policy), self._clock()),
            chunks,
            parsed.members,
            parsed.waits_for,
            parsed.pages,
            parsed.transcript,
        )


class _Once:
    """Parses a file one time, and lets go of its bytes."""

    def __init__(self, parser: Parser, data: bytes, path: WorkspacePath) -> None:
        self._parser = parser
        self._data = data
        self._path = path

    def __call__(self) -> ParsedDocument:
        data, self._data = self._data, b""
        return self._parser.parse(data, self._path)


@dataclass(frozen=True, slots=True)
class _MadeHere:
    """A document that is made when it is asked for."""

    make: Callable[[], MadeDocument]
    is_elsewhere: bool = False

    def wait(self, seconds: float) -> bool:
        """Return at once."""
        del seconds
        return True

    def progress(self) -> tuple[int, int, str]:
        """Return that nothing is known."""
        return 0, 0, ""

    def finish(self) -> MadeDocument:
        """Make it."""
        return self.make()

    def cancel(self) -> None:
        """Do nothing: nothing has begun."""


class _MadeAside:
    """A document whose long text is dealt with on a thread of its own, from the first wait on: a stop need not wait."""

    is_elsewhere = False

    def __init__(self, make: Callable[[Callable[[], None]], MadeDocument]) -> None:
        self._make = make
        self._made = Future[MadeDocument]()
        self._thread: threading.Thread | None = None
        self._given_up = False

    def wait(self, seconds: float) -> bool:
        """Wait for the document; return whether it is there."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="long-text", daemon=True)
            self._thread.start()
        return bool(wait([self._made], seconds).done)

    def progress(self) -> tuple[int, int, str]:
        """Return that nothing is known."""
        return 0, 0, ""

    def finish(self) -> MadeDocument:
        """Return it, waiting for it."""
        if self._thread is None:
            return self._make(self._heed)
        return self._made.result()

    def cancel(self) -> None:
        """End with the step in work."""
        self._given_up = True

    def _run(self) -> None:
        try:
            self._made.set_result(self._make(self._heed))
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            self._made.set_exception(error)

    def _heed(self) -> None:
        if self._given_up:
            raise Cancelled("reading the file was stopped")


@dataclass(frozen=True, slots=True)
class _MadeInChild:
    """A document whose file a child reads."""

    reading: Reading
    make: Callable[[], MadeDocument]
    is_elsewhere: bool = True

    def wait(self, seconds: float) -> bool:
        """Wait for the child."""
        return self.reading.wait(seconds)

    def progress(self) -> tuple[int, int, str]:
        """Return what the child told."""
        return self.reading.progress()

    def finish(self) -> MadeDocument:
        """Take what the child read and make the document of it."""
        return self.make()

    def cancel(self) -> None:
        """Stop the child."""
        self.reading.cancel()


def _lacking(parsed: ParsedDocument) -> str:
    """Return what tells a document read in part from the same one read better: else both would have one id."""
    lacking = [(unit.kind, unit.start, unit.end) for unit in parsed.coverage if unit.state == "failed"]
    return f"+lacking-{content_hash(repr(lacking).encode())[:12]}" if lacking else ""


def unsupported_fingerprint(media_type: MediaType) -> str:
    """Return the fingerprint of a file that nothing reads: it changes as soon as something does."""
    return f"{_UNREAD}:{media_type}"


def _without_text(block: Block) -> Block:
    parsed = block.parsed
    bare = ParsedBlock(parsed.kind, "", parsed.span, parsed.heading_path, parsed.payload, ())
    return Block(block.block_id, block.ordinal, bare)


def _captioned(parsed: ParsedDocument, captioner: Captioner, data: bytes) -> ParsedDocument:
    """Add what a model says of a picture, marked as its words; a model that fails costs the caption only."""
    try:
        words = captioner.caption(data, MediaType.IMAGE).strip()
    except CannotRun as error:
        return replace(
            parsed, warnings=(*parsed.warnings, ParseWarning("extract_failed", f"no caption: {error.message}"))
        )
    if not words:
        return parsed
    span = CaptionSpan(captioner.model)
    title = f"Caption generated by {captioner.model}"
    # A heading of its own keeps a model's words in a passage apart from what stands in the picture.
    heading = ParsedBlock(BlockKind.HEADING, title, span, (title,), Heading(2), (Segment(0, len(title), span),))
    block = ParsedBlock(BlockKind.PARAGRAPH, words, span, (title,), Prose(), (Segment(0, len(words), span),))
    step = (ProvenanceKind.CAPTION_APPLIED, captioner.model)
    return replace(parsed, blocks=(*parsed.blocks, heading, block), steps=(*parsed.steps, step))


def _modified(content: FileBytes, now: datetime) -> datetime:
    """Return the time of the file; file systems hold times that no calendar does."""
    try:
        return _EPOCH + timedelta(microseconds=content.identity.mtime_ns // 1000)
    except OverflowError:
        return now
