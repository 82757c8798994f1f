"""PDF files: what each page says and where, and what became of every page."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from kb.adapters.parsers.pdf import mupdf
from kb.adapters.parsers.pdf.blocks import build
from kb.adapters.parsers.pdf.extras import attachments, front_matter, outline
from kb.adapters.parsers.pdf.pages import PageContent, PageReader
from kb.adapters.parsers.pdf.pdfium import PdfiumReader
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import Member, ParsedDocument, ParseWarning
from kb.domain.errors import Unreadable
from kb.domain.ids import Json
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.metadata import ProvenanceKind
from kb.ingest.reading_ports import PictureTextReader, SourceFile, Tell

_RULES = "pdf-v2"
_FORGET_EVERY = 20


class PyMuPdfParser:
    """Reads PDFs with PyMuPDF, with pypdfium2 and recognition where that is not enough.

    Args:
        ocr: reads pictures of pages; without it pages that need it wait.
    """

    def __init__(self, ocr: PictureTextReader | None = None) -> None:
        self._ocr = ocr

    @property
    def media_types(self) -> frozenset[MediaType]:
        """PDF."""
        return frozenset({MediaType.PDF})

    @property
    def version(self) -> str:
        """Rules, readers and recognition engine."""
        readers = "+".join(f"{name}-{_version(name)}" for name in ("pymupdf", "pypdfium2"))
        return f"{_RULES}+{readers}+{self._ocr.version if self._ocr is not None else 'no-ocr'}"

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return blocks with places, pages with word boxes, and the state of every page.

        Raises:
            Unreadable: `damaged`, `locked`, `wrong_type`, `too_many_pages`, `expands_too_much`, `too_complex`,
                `too_many_entries`.
        """
        second = PdfiumReader(source.data, source.password)
        document = None
        try:
            document = _opened(source, second)
            if document is None:
                return self._read(_NoPages(), second, second.page_count, limits, tell)
            return self._read(document, second, document.page_count, limits, tell)
        finally:
            second.close()
            if document is not None:
                document.close()
            mupdf.forget()

    def _read(
        self, document: mupdf.Document, second: PdfiumReader, count: int, limits: ReadingLimits, tell: Tell
    ) -> ParsedDocument:
        if count == 0:
            raise Unreadable(
                "no page of the PDF can be found; it is cut short or broken",
                hint="save it again with the program that made it, or get it anew",
                reason="damaged",
            )
        if count > limits.pages:
            raise Unreadable(
                f"the PDF has {count} pages, more than {limits.pages}",
                hint="divide it, or raise limits.pages",
                reason="too_many_pages",
            )
        reader = PageReader(document, second, self._ocr, limits)
        contents: list[PageContent] = []
        letters = 0
        for number in range(1, count + 1):
            content = reader.read(number)
            contents.append(content)
            letters += sum(len(line.text) for line in content.lines)
            if letters > limits.characters:
                raise Unreadable("the PDF holds too much text", hint="divide it", reason="expands_too_much")
            if number % _FORGET_EVERY == 0:
                mupdf.forget()
            tell(number, count, "page")
        coverage = _coverage(contents)
        recognised = any(unit.state == "ocr" for unit in coverage)
        matter, titles, members = _about(document, count, limits, tell)
        blocks, pages = build(contents, titles)
        return ParsedDocument(
            tuple(blocks),
            front_matter=matter,
            warnings=_warnings(coverage),
            coverage=coverage,
            pages=tuple(pages),
            members=tuple(members),
            waits_for="ocr_model" if any(unit.state == "waiting" for unit in coverage) else "",
            steps=((ProvenanceKind.OCR_APPLIED, self._ocr.version),) if recognised and self._ocr is not None else (),
        )


def _opened(source: SourceFile, second: PdfiumReader) -> mupdf.Document:
    """Return the document, None when the second reader is to read it alone."""
    try:
        return mupdf.open_pdf(source.data, source.password)
    except Unreadable as error:
        # A password for the attachments alone keeps MuPDF out, and pdfium not.
        if error.reason == "locked" and second.page_count > 0:
            return None
        raise


class _NoPages:
    """Stands for a document PyMuPDF finds no page in, so that each is read by the second reader."""

    metadata: dict[str, str] = {}  # noqa: RUF012 - empty for ever

    def __getitem__(self, number: int) -> mupdf.Page:
        raise ValueError(number)

    def get_toc(self, *, simple: bool) -> list[Any]:  # noqa: ARG002
        return []

    def embfile_names(self) -> list[str]:
        return []


def _about(
    document: mupdf.Document, count: int, limits: ReadingLimits, tell: Tell
) -> tuple[dict[str, Json], dict[int, list[tuple[str, int]]], list[Member]]:
    matter: dict[str, Json] = {}
    with suppress(Exception):
        matter = front_matter(document)
    return matter, outline(document, count), attachments(document, limits, tell)


def _coverage(contents: Sequence[PageContent]) -> tuple[CoverageUnit, ...]:
    """Return the states of all pages; neighbours of one state are one unit, with the mean of their confidence."""
    units: list[CoverageUnit] = []
    sums: list[float] = []
    for content in contents:
        last = units[-1] if units else None
        confidence = content.confidence if content.state == "ocr" else None
        alike = (
            last is not None
            and (last.state, last.reason) == (content.state, content.reason)
            and (last.confidence is None) == (confidence is None)
        )
        if alike and last is not None:
            sums[-1] += confidence or 0.0
            mean = round(sums[-1] / (content.number - last.start + 1), 4) if confidence is not None else None
            units[-1] = CoverageUnit("page", last.start, content.number, content.state, mean, content.reason)
        else:
            sums.append(confidence or 0.0)
            units.append(
                CoverageUnit("page", content.number, content.number, content.state, confidence, content.reason)
            )
    return tuple(units)


def _warnings(coverage: Sequence[CoverageUnit]) -> tuple[ParseWarning, ...]:
    failed = sum(unit.end - unit.start + 1 for unit in coverage if unit.state == "failed")
    return (ParseWarning("extract_failed", f"{failed} pages could not be read"),) if failed else ()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
