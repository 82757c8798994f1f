"""The one list of format parsers: the program asks their versions, its children read with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kb.app.settings import CaptionSettings
from kb.domain.chunks import ChunkPolicy
from kb.domain.limits import ReadingLimits
from kb.ingest.ports import Captioner, Parser, TextDecoder, Tokenizer
from kb.ingest.reading_ports import FormatParser, FormatReader

if TYPE_CHECKING:
    from kb.adapters.workers.reader import ChildReader
    from kb.app.renditions import CachedRenditions
    from kb.ingest.making import ParsedAndChunked


def format_parsers(decoder: TextDecoder, model_places: Sequence[Path]) -> list[FormatParser]:
    """Return a parser for every kind of file that is read in a child process; making them loads no library.

    Args:
        decoder: for formats that are text.
        model_places: folders in which models for pictures and speech may lie, the first that has one wins.
    """
    from kb.adapters.ocr.reader import find_reader
    from kb.adapters.parsers.archive.parser import ArchiveParser
    from kb.adapters.parsers.book.epub import EpubParser
    from kb.adapters.parsers.mail.eml import EmlParser
    from kb.adapters.parsers.mail.mbox import MboxParser
    from kb.adapters.parsers.mail.msg import MsgParser
    from kb.adapters.parsers.notebook.parser import NotebookParser
    from kb.adapters.parsers.office.csv import CsvParser
    from kb.adapters.parsers.office.docx import DocxParser
    from kb.adapters.parsers.office.opendocument import OpenDocumentParser
    from kb.adapters.parsers.office.pptx import PptxParser
    from kb.adapters.parsers.office.rtf import RtfParser
    from kb.adapters.parsers.office.xls import LegacyWorkbookParser
    from kb.adapters.parsers.office.xlsx import WorkbookParser
    from kb.adapters.parsers.pdf.parser import PyMuPdfParser
    from kb.adapters.parsers.picture.parser import PillowPictureParser
    from kb.adapters.parsers.sound.parser import RecordingParser
    from kb.adapters.parsers.web.feed import FeedParser
    from kb.adapters.parsers.web.html import HtmlParser
    from kb.adapters.speech.decoding import AvSoundDecoder
    from kb.adapters.speech.whisper import find_speech

    ocr = find_reader(model_places)
    return [
        PyMuPdfParser(ocr),
        PillowPictureParser(ocr),
        RecordingParser(AvSoundDecoder(), find_speech(model_places)),
        DocxParser(),
        PptxParser(),
        WorkbookParser(),
        LegacyWorkbookParser(),
        CsvParser(decoder),
        OpenDocumentParser(),
        RtfParser(),
        HtmlParser(decoder),
        FeedParser(),
        EpubParser(),
        EmlParser(decoder),
        MboxParser(decoder),
        MsgParser(decoder),
        NotebookParser(),
        ArchiveParser(),
    ]


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


def renditions(cache_dir: Path) -> CachedRenditions:
    """Return what makes renditions of recordings, in child processes as bare as those that read."""
    from kb.adapters.workers.process import child_environment
    from kb.app.renditions import CachedRenditions

    return CachedRenditions(cache_dir / "renditions", child_environment)


def document_maker(
    decoder: TextDecoder,
    reader: FormatReader,
    policy: ChunkPolicy,
    tokenizer: Tokenizer | None,
    caption: CaptionSettings,
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
        captioner=_captioner(caption),
    )


def _captioner(caption: CaptionSettings) -> Captioner | None:
    if caption.provider == "none":
        return None
    from kb.adapters.captions.openai_compatible import OpenAiCompatibleCaptioner

    return OpenAiCompatibleCaptioner(caption.base_url, caption.model, caption.key_variable, caption.timeout_seconds)
