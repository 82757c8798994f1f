"""The one list of format parsers: the program asks their versions, its children read with them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.domain.chunks import ChunkPolicy
from kb.domain.limits import ReadingLimits
from kb.ingest.ports import Captioner, Parser, TextDecoder, Tokenizer
from kb.ingest.reading_ports import FormatParser, FormatReader

if TYPE_CHECKING:
    from kb.adapters.workers.reader import ChildReader
    from kb.ingest.making import ParsedAndChunked


def format_parsers(decoder: TextDecoder, model_places: Sequence[Path]) -> list[FormatParser]:
    """Return a parser for every kind of file that is read in a child process; making them loads no library.

    Args:
        decoder: for formats that are text.
        model_places: folders in which models for pictures and speech may lie, the first that has one wins.
    """
    places = list(model_places)
    made = [
        ("pdf.parser", "PyMuPdfParser", (_ocr(places),)),
        ("picture.parser", "PillowPictureParser", (_ocr(places),)),
        ("sound.parser", "RecordingParser", _sound(places)),
        ("office.docx", "DocxParser", ()),
        ("office.pptx", "PptxParser", ()),
        ("office.xlsx", "WorkbookParser", ()),
        ("office.xls", "LegacyWorkbookParser", ()),
        ("office.csv", "CsvParser", (decoder,)),
        ("office.opendocument", "OpenDocumentParser", ()),
        ("office.rtf", "RtfParser", ()),
        ("web.html", "HtmlParser", (decoder,)),
        ("web.feed", "FeedParser", ()),
        ("book.epub", "EpubParser", ()),
        ("mail.eml", "EmlParser", ()),
        ("mail.mbox", "MboxParser", ()),
        ("mail.msg", "MsgParser", ()),
        ("notebook.parser", "NotebookParser", ()),
        ("archive.parser", "ArchiveParser", ()),
    ]
    parsers = [_made(f"parsers.{module}", name, arguments) for module, name, arguments in made if arguments is not None]
    return [parser for parser in parsers if parser is not None]


def child_reader(
    decoder: TextDecoder, model_places: Sequence[Path], limits: ReadingLimits, folder: Path, width: int
) -> ChildReader:
    """Return what runs these parsers in child processes; none is started yet.

    Args:
        decoder: as for `format_parsers`.
        model_places: likewise.
        limits: for each file.
        folder: for unfinished work and what children write aside; this library's own.
        width: files at once; 0 means one for each core.
    """
    from kb.adapters.workers.process import ChildSetup
    from kb.adapters.workers.reader import COMMAND, ChildReader

    parsers = format_parsers(decoder, model_places)
    versions = {media_type: parser.version for parser in parsers for media_type in parser.media_types}
    return ChildReader(versions, ChildSetup(COMMAND, limits, tuple(model_places), folder), width=width)


def document_maker(
    decoder: TextDecoder,
    reader: FormatReader,
    policy: ChunkPolicy,
    tokenizer: Tokenizer | None,
    captioner: Captioner | None,
) -> ParsedAndChunked:
    """Return what makes documents: text parsed here, all else by `reader`, secrets masked before anything is kept."""
    from kb.adapters.langid.detector import ScriptLanguageDetector
    from kb.adapters.parsers.markdown.parser import MarkdownItParser
    from kb.adapters.parsers.text.code import SourceCodeParser
    from kb.adapters.parsers.text.plain import PlainTextParser
    from kb.governance.masking import SecretMasker
    from kb.ingest.making import ParsedAndChunked

    parsers: list[Parser] = [MarkdownItParser(decoder), PlainTextParser(decoder), SourceCodeParser(decoder)]
    return ParsedAndChunked(
        parsers,
        ScriptLanguageDetector(),
        policy,
        tokenizer,
        reader=reader,
        masker=SecretMasker(),
        captioner=captioner,
    )


def _ocr(places: list[Path]) -> Any:  # noqa: ANN401
    return _made("ocr.reader", "find_reader", (places,))


def _sound(places: list[Path]) -> tuple[Any, ...] | None:
    decoder = _made("speech.decoding", "AvSoundDecoder", ())
    return None if decoder is None else (decoder, _made("speech.whisper", "find_speech", (places,)))


def _made(module: str, name: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
    try:
        return getattr(importlib.import_module(f"kb.adapters.{module}"), name)(*arguments)
    except (ImportError, AttributeError):
        return None
